"""Which URLs are read and written, and which of them lie at the same place.

A URL may be a stranger's: it stands in a list, or in a line that somebody copied. fsspec knows protocols that unpack
what another URL names, log in to other machines, or take a file for instructions. So those that only transfer bytes are
allowed, by name and one at a time, whatever is installed or configured beside them.
"""

from __future__ import annotations

import re

from gradedeval.errors import InputError, url_place

PROTOCOLS = ("file", "memory", "http", "https", "s3", "gs", "az", "abfs", "hf")
"""What a URL that is read or written may begin with."""

_WITHOUT_HOST = ("file", "memory")
_REPOSITORIES = ("datasets", "spaces", "buckets")
"""How a repository of hf begins that is not a model's."""

_HOST = r"(?:[^\s\\@]*@)?(?P<host>[\w.-]+(?::\d+)?)"
_BUCKET = r"(?P<host>[\w.-]+(?:@[\w.-]+)?)"
"""What stands behind :// where every library understands the same by it."""


def check_url(url: str) -> None:
    """Raise InputError (usage) for a URL of a protocol that is not allowed, and for a chain of several."""
    protocol = url.partition("://")[0]
    if "::" in url:
        what, hint = "joins several URLs by '::', which is not allowed", "copy the file, and name the copy"
    elif protocol not in PROTOCOLS:
        what = f"has the protocol '{protocol}', which is not allowed"
        hint = f"allowed are {', '.join(PROTOCOLS[:-1])} and {PROTOCOLS[-1]}"
    else:
        return
    raise InputError(url_place(url), what, hint, usage=True)


def storage_of(url: str) -> str | None:
    """The protocol and the host, bucket or repository of a URL, as `https://host/`; None where libraries may differ."""
    protocol, _, rest = url.partition("://")
    if protocol in _WITHOUT_HOST:
        return f"{protocol}://"
    if protocol == "hf":
        parts = rest.split("/")
        parts = parts[: 3 if parts[0] in _REPOSITORIES else 2]
        return f"hf://{'/'.join([*parts[:-1], parts[-1].partition('@')[0]])}/"
    is_web = protocol in ("http", "https")
    found = re.fullmatch(_HOST if is_web else _BUCKET, re.split("[/?#]", rest, maxsplit=1)[0])
    if found is None:
        return None
    return f"{protocol}://{found['host'].lower() if is_web else found['host']}/"
