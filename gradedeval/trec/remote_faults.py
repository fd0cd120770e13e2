"""What is wrong with a URL, in one line: the libraries behind fsspec have many words for it, and few classes."""

from __future__ import annotations

from collections.abc import Iterator

from gradedeval.errors import InputError, reason, redacted, url_place

EXTRAS = {"s3": "s3", "gs": "gs", "az": "az", "abfs": "az", "hf": "hf", "http": "remote", "https": "remote"}
"""Protocol -> the extra that installs what opens it."""

_CREDENTIALS = {
    "s3": "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "hf": "HF_TOKEN",
}
"""Extra -> where its library looks for credentials."""

_STATUS = ("status", "status_code", "code")
"""What errors call the status of HTTP."""

_DENIED = ("forbidden", "unauthorized", "authentication")
_UNREACHED = ("connect", "nameresolution", "gaierror")
_CHANGED = ("fileexpired", "preconditionfailed")
_CUT_OFF = ("payload", "contentlength", "incompleteread")
"""Words in the names of errors, small."""


def fault(url: str, error: Exception, purpose: str = "opened") -> InputError:
    """The error of a library as ours. `purpose`: what the URL was to be, `opened` or `written`."""
    place, extra = url_place(url), EXTRAS.get(url.partition("://")[0], "")
    causes = list(_causes(error))
    first = reason(causes[-1]).strip().partition("\n")[0]  # the whole answer of the server may follow
    why = redacted(" ".join(first.split())).rstrip(".!")
    kinds = " ".join(type(cause).__name__ for cause in causes).lower()
    if isinstance(error, InputError):
        return error
    if isinstance(error, ImportError):
        needed = f"pip install 'gradedeval[{extra}]'" if extra else str(error)
        return InputError(place, "needs a package that is not installed", needed)
    if any(word in kinds for word in _CHANGED):
        return changed(place)
    if "redirect" in kinds:
        what = "too often" if "toomany" in kinds else "to what is neither http nor https"
        return InputError(place, f"the server redirects {what}", "name the file itself")
    if any(word in kinds for word in _CUT_OFF):
        return InputError(place, "the connection ended before all of the file had come", "try again")
    if isinstance(error, IsADirectoryError):
        return InputError(place, "is a folder", "add / for the files in it")
    status = next((str(getattr(cause, name)) for cause in causes for name in _STATUS if hasattr(cause, name)), "")
    unset = "credential" in kinds or (isinstance(error, ValueError) and "credential" in why)
    if isinstance(error, PermissionError) or status in ("401", "403") or unset or any(one in kinds for one in _DENIED):
        keys = _CREDENTIALS.get(extra, "the credentials")
        hint = f"set {keys}" if unset else f"check {keys}, and what they allow"
        return InputError(place, f"permission denied ({why})", hint)
    if "timeout" in kinds:
        return InputError(place, f"the server does not answer ({why})", "try again later")
    if any(word in kinds for word in _UNREACHED):
        return InputError(place, f"cannot be reached ({why})", "check the address, and whether the server runs")
    if status.startswith("5"):  # fsspec says of any answer but the file that there is none
        return InputError(place, f"the server fails ({why})", "try again later")
    if isinstance(error, FileNotFoundError):
        what = "bucket" if "bucket does not exist" in str(error) else "file"
        return InputError(place, f"no such {what}", "check the URL")
    return InputError(place, f"cannot be {purpose} ({why})", "check the URL")


def changed(place: str) -> InputError:
    """A file is not the one any more that was opened."""
    return InputError(place, "has changed while it was read", "evaluate it when it is complete")


def timed_out(place: str, seconds: float, variable: str) -> InputError:
    """A storage took too long for one request."""
    return InputError(
        place, f"no complete answer within {seconds:g} seconds", f"try again, or wait longer, as with {variable}=300"
    )


def _causes(error: Exception) -> Iterator[Exception]:
    """An error, and those that libraries say led to it."""
    cause: BaseException | None = error
    while isinstance(cause, Exception):
        yield cause
        cause = cause.__cause__
