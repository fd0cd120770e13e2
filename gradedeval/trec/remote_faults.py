"""What is wrong with a URL, in one line: the libraries behind fsspec have many words for it, and few classes."""

from __future__ import annotations

from collections.abc import Iterator

from gradedeval.errors import InputError, reason, redacted, url_place

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az", "hf": "hf",
          "http": "remote", "https": "remote"}  # fmt: skip
"""Protocol -> the extra that installs what opens it."""

_CREDENTIALS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS",
    "az": "set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "hf": "set HF_TOKEN",
}
"""Extra -> where its library looks for credentials."""

_DENIED = ("credential", "forbidden", "denied", "unauthorized", "authentication", "accesskey", "signature")
_UNREACHED = ("connect", "endpoint", "nameresolution", "gaierror")
_CHANGED = ("FileExpired", "PreconditionFailed")


def fault(url: str, error: Exception) -> InputError:
    """The error of a library as ours."""
    place, extra = url_place(url), EXTRAS.get(url.partition("://")[0], "")
    why = redacted(" ".join(reason(error).split())).rstrip(".")
    kinds = [type(one).__name__ for one in _causes(error)]
    said = " ".join([why, *kinds]).lower()
    status = next((one.status for one in _causes(error) if hasattr(one, "status")), None)
    if isinstance(error, InputError):
        return error
    if isinstance(error, ImportError):
        needed = f"pip install 'gradedeval[{extra}]'" if extra else why
        return InputError(place, "needs a package that is not installed", needed)
    if isinstance(error, ValueError) and "protocol not known" in said:
        return InputError(
            place, f"no protocol is called '{url.partition('://')[0]}'", "as in s3://, gs://, az://, hf:// or https://"
        )
    if any(kind in _CHANGED for kind in kinds):
        return changed(place)
    if isinstance(error, IsADirectoryError):
        return InputError(place, "is a folder", "add / for the files in it")
    if isinstance(error, FileNotFoundError):
        return InputError(place, f"no such {'bucket' if 'bucket does not exist' in said else 'file'}", "check the URL")
    if isinstance(error, PermissionError) or status in (401, 403) or any(word in said for word in _DENIED):
        return InputError(place, f"permission denied ({why})", _CREDENTIALS.get(extra, "check the credentials"))
    if "timeout" in said or "timed out" in said:
        return InputError(place, f"the server does not answer ({why})", "try again later")
    if any(word in said for word in _UNREACHED):
        return InputError(place, f"cannot be reached ({why})", "check the address, and whether the server runs")
    return InputError(place, f"cannot be opened ({why})", "check the URL")


def changed(place: str) -> InputError:
    """A file is not the one any more that was opened."""
    return InputError(place, "has changed while it was read", "evaluate it when it is complete")


def timed_out(place: str, seconds: float, variable: str) -> InputError:
    """A storage took too long for one request."""
    return InputError(
        place, f"no answer within {seconds:g} seconds", f"try again, or wait longer, as with {variable}=300"
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    for _ in range(5):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
