"""A web server on the loopback that records its requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request to a server."""

    method: str
    path: str
    headers: str
    body: bytes


class Handler(BaseHTTPRequestHandler):
    """Answers requests by the pages of their paths."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.web.asked.append(Asked(self.command, self.path, str(self.headers), body))
        page = self.server.web.pages.get(self.path)
        if callable(page):
            page(self)
        elif page is None:
            self.answer(404)
        else:
            part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            begin, end = (int(part[1]), int(part[2]) + 1) if part else (0, len(page))
            self.answer(206 if part else 200, page[begin:end])

    do_HEAD = do_PUT = do_GET

    def answer(self, status: int, content: bytes = b"", size: int | None = None, **headers: str) -> None:
        """Send a status, headers and content; `size` if it is not that of the content."""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content) if size is None else size)}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *given: object) -> None:
        pass


Page = bytes | Callable[[Handler], None]


def redirect(status: int, to: str) -> Callable[[Handler], None]:
    """Return a page that lies elsewhere."""
    return lambda request: request.answer(status, Location=to)


@dataclass
class Web:
    """A server: its address, as `http://127.0.0.1:8080`, its pages by path, and its requests."""

    address: str
    pages: dict[str, Page]
    asked: list[Asked] = field(default_factory=list)
    opened: list[socket] = field(default_factory=list)

    def heard(self, word: str) -> list[str]:
        """Return the methods of the requests with a word in their headers."""
        return [request.method for request in self.asked if word in request.headers]


class _Server(ThreadingHTTPServer):
    web: Web
    daemon_threads = False  # closing the server waits for them

    def process_request(self, request: Any, client_address: Any) -> None:
        self.web.opened.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # the client has gone


@contextmanager
def web_of(pages: Mapping[str, Page]) -> Iterator[Web]:
    """Yield a server of pages."""
    server = _Server(("127.0.0.1", 0), Handler)
    server.web = Web(f"http://127.0.0.1:{server.server_port}", dict(pages))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server.web
    server.shutdown()
    for connection in server.web.opened:  # a client may keep it open, with a thread beside which no process is forked
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)
    server.server_close()
