"""Requests to web servers: what they carry where a server sends them elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

_OF_ANY_REQUEST = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "range",
                   "transfer-encoding", "user-agent"}  # fmt: skip
"""Headers that say nothing of a user."""


@dataclass(frozen=True)
class Client:
    """Makes the session in which fsspec asks a server. Where that redirects to another one, no password, token or
    cookie goes there, be it from the URL or from fsspec's settings.

    origin  protocol, host and port of the server, as `https://host`; fsspec keeps a session for each
    """

    origin: str

    @classmethod
    def of(cls, url: str) -> Client:
        return cls(str(import_module("yarl").URL(url).origin()))

    async def __call__(self, **settings: Any) -> Any:
        aiohttp = import_module("aiohttp")
        middlewares = (*settings.pop("middlewares", ()), self._without_secrets)
        timeout = settings.pop("timeout", aiohttp.ClientTimeout(total=None))  # `remote_file` ends what takes too long
        return aiohttp.ClientSession(**settings, timeout=timeout, middlewares=middlewares)

    async def _without_secrets(self, request: Any, send: Any) -> Any:
        if str(request.url.origin()) != self.origin:
            for name in {name for name in request.headers if name.lower() not in _OF_ANY_REQUEST}:
                request.headers.popall(name)
        return await send(request)
