"""Where text goes: standard output, or a file that is there whole or not at all. Everything else goes to stderr."""

from __future__ import annotations

import os
import re
import sys

from gradedeval.errors import InputError
from gradedeval.trec.lines import encode

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def write(text: str, target: str | None = None) -> None:
    """Write to standard output, or to a file: first beside it, then renamed, so that no half of it is ever seen.

    A pipe or device is written directly. Raises InputError where the file cannot be written, OSError where stdout
    cannot.
    """
    content = encode(text)
    if target in (None, "-", "/dev/stdout"):
        if sys.stdout is None:
            raise InputError("<stdout>", "is closed", "open it, or name a file: -o FILE")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(content)
        else:
            _replace(target, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(target, f"cannot be written ({error.strerror})", "nothing was written") from None


def _replace(target: str, content: bytes) -> None:
    import tempfile  # only for files
    from pathlib import Path

    path = Path(target).resolve()  # a link keeps pointing at the file that is replaced
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as beside:
            beside.write(content)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def say(text: str) -> None:
    """A message for the user, on stderr; a closed stderr is no reason to fail."""
    # What a file holds may speak to the terminal: it is shown, not done.
    shown = _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
    try:
        sys.stderr.buffer.write(encode(shown) + b"\n")
        sys.stderr.buffer.flush()
    except OSError:
        _silence(2)
    except (ValueError, AttributeError):
        pass  # there is no stderr


def stop_quietly() -> None:
    """Leave a standard output that takes no more."""
    _silence(1)


def _silence(descriptor: int) -> None:
    """What is still buffered for a stream that takes no more must not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
