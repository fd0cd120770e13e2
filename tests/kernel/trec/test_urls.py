"""Read URLs without running code, following redirects to local files, or leaking passwords."""

import socket
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.trec import remote
from gradedeval.kernel.trec.remote import PROTOCOLS, check_url
from gradedeval.kernel.trec.stream import Source, files_of
from support.commands import Command
from support.web import Handler, Web, redirect, web_of

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytestmark = pytest.mark.skipif(not find_spec("aiohttp"), reason="aiohttp is not installed")

RUN, QRELS = b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n", {"1": {"b": 1}}
SCORE = {"rr": 0.5}


@pytest.fixture(autouse=True)
def unchanged_settings() -> Iterator[None]:
    """Keep the settings of fsspec."""
    kept = dict(fsspec.config.conf)
    yield
    fsspec.config.conf.clear()
    fsspec.config.conf.update(kept)


@pytest.fixture
def web() -> Iterator[Web]:
    with web_of({"/x.run": RUN}) as server:
        yield server


@pytest.fixture
def second_server() -> Iterator[Web]:
    """Run a second server, of another owner."""
    with web_of({"/x.run": RUN}) as server:
        yield server


# Protocols

CHAINS = ["simplecache::memory://x.run", "reference://a0::http://host/ref.json", "file:///a::b.run"]
REFUSED = [
    "reference://x.run",
    "HTTPS://me:secret@host/x.run?sig=secret",
    " http://me:secret@host/x.run",
    "http%3a://host/x.run",
    "ftp://me:secret@host/x.run",
    "zip://x.run",
    "data:text/plain,http://host/x.run",
    "github://me:secret@main/x.run",
    "local://x.run",
    "s3a://bucket/x.run",
    "://x.run",
]


@pytest.mark.parametrize("url", [*CHAINS, *REFUSED])
def test_forbidden_urls_are_refused(url: str, cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)  # it has no say
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    problem = "chains URLs by '::', which is not allowed" if url in CHAINS else "which is not allowed; allowed are file"
    for run, qrels in ((url, QRELS), ({"one": url}, QRELS), ({"1": {"b": 1.0}}, url)):
        with pytest.raises(InputError) as error:
            gradedeval.evaluate(run, qrels, "rr")
        assert problem in str(error.value)
        assert "secret" not in str(error.value)
    done = cli(url, "qrels", "-m", "rr")
    assert (done.code, done.out, done.messages) == (2, b"", [error.value.cli_text])


def readers() -> list[Callable[[str], Any]]:
    return [
        remote.download, remote.expand_pattern, lambda url: remote.expand_pattern(f"{url}/*"), files_of,
        lambda url: Source(url).read(), gradedeval.Qrels, gradedeval.clicks.observe,
    ]  # fmt: skip


@pytest.mark.parametrize("function", readers())
@pytest.mark.parametrize("url", [CHAINS[1], REFUSED[0]])
def test_forbidden_urls_are_refused_for_reading_and_listing(function: Callable[[str], Any], url: str) -> None:
    with pytest.raises(InputError, match="which is not allowed"):
        function(url)


def test_installed_packages_and_settings_allow_no_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec.register_implementation("own", fsspec.get_filesystem_class("memory"), clobber=True)
    fsspec.config.conf["own"] = {"protocol": "memory"}
    with pytest.raises(InputError, match=r"^own://x.run: uses the protocol 'own', which is not allowed"):
        gradedeval.Qrels("own://x.run")
    fsspec.config.conf["memory"] = {"target_protocol": "reference", "fo": "http://host/ref.json"}
    with pytest.raises(InputError, match="no such file"):
        gradedeval.Qrels("memory://none")


def test_allowed_protocols_exist_in_fsspec() -> None:
    assert set(fsspec.available_protocols()) > set(PROTOCOLS)
    for protocol in PROTOCOLS:
        check_url(f"{protocol}://x.run")


def test_a_file_here_may_be_called_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["reference://x.run", "http://x.run", "a::b.run", "zip::http://x.run"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(RUN)
        assert gradedeval.evaluate(name, QRELS, "rr").means == SCORE
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    done = cli(*names, "qrels", "-m", "rr", "-o", "a::b.csv", "--quiet")
    assert (done.code, done.messages, (tmp_path / "a::b.csv").exists()) == (0, [], True)


# Redirects

SETTINGS = {
    "headers": {"client_kwargs": {"headers": {"Authorization": "secret", "X-Token": "secret", "Cookie": "a=secret"}}},
    "cookies": {"client_kwargs": {"cookies": {"session": "secret"}}},
    "requests": {"headers": {"Private-Token": "secret"}},
    "auth": {},
    "url": {},
}


@pytest.mark.one_in(6)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of aiohttp.BasicAuth, which people have in their settings
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_redirect_takes_no_secret_to_another_server(settings: str, web: Web, second_server: Web) -> None:
    import aiohttp

    in_auth = {"client_kwargs": {"auth": aiohttp.BasicAuth("me", "secret")}}
    fsspec.config.conf["http"] = in_auth if settings == "auth" else SETTINGS[settings]
    word = "Basic" if settings in ("auth", "url") else "secret"
    address = web.address.replace("//", "//me:secret@") if settings == "url" else web.address
    for status in (301, 302, 307):
        web.pages |= {
            "/far.run": redirect(status, f"{second_server.address}/x.run"),
            "/near.run": redirect(status, "/x.run"),
        }
        for name in ("far", "near"):
            assert gradedeval.evaluate(f"{address}/{name}.run", QRELS, "rr").means == SCORE
        assert set(second_server.heard("Accept")) == {"HEAD", "GET"}
        assert second_server.heard(word) == []
        assert len(web.heard(word)) == len(web.asked)
        second_server.asked.clear()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("to", ["file:///etc/hostname", "ftp://127.0.0.1/x.run", "reference://a", "data:,1"])
@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect_leads_to_the_web_alone(status: int, to: str, web: Web, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    web.pages["/far.run"] = redirect(status, to)
    done = cli(f"{web.address}/far.run", "qrels", "-m", "rr")
    message = (
        f"{web.address}/far.run: the server redirects to a URL that is neither http nor https; name the file itself"
    )
    assert (done.code, done.out, done.messages) == (1, b"", [message])


def test_an_endless_redirect_is_one_line(web: Web) -> None:
    web.pages["/far.run"] = redirect(302, "/far.run")
    with pytest.raises(InputError, match=r"/far.run: the server redirects too often; name the file itself"):
        gradedeval.evaluate(f"{web.address}/far.run", QRELS, "rr")


# Time


def dripping(pieces: int, seconds: float) -> Callable[[Handler], None]:
    """Return a complete page in this number of pieces, with a pause before each."""

    def page(request: Handler) -> None:
        request.answer(200, size=len(RUN), Accept_Ranges="none")
        step = -(-len(RUN) // pieces)
        for start in range(0, len(RUN) if request.command == "GET" else 0, step):
            time.sleep(seconds)
            request.wfile.write(RUN[start : start + step])

    return page


def test_a_dripping_server_is_timed_out(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send bytes that are fast each but slow together."""
    monkeypatch.setenv("GRADEDEVAL_TIMEOUT", "0.5")
    web.pages["/x.run"] = dripping(len(RUN), 0.05)
    message = f"{web.address}/x.run: no complete response within 0.5 seconds; try again, or wait longer, as with "
    with pytest.raises(InputError, match=message):
        gradedeval.evaluate(f"{web.address}/x.run", QRELS, "rr")


def test_the_web_has_no_other_limit(web: Web) -> None:
    files, name = remote.file_system(f"{web.address}/x.run")
    assert files.cat_file(name) == RUN
    assert files._session.timeout.total is None


@pytest.mark.exhaustive
def test_a_file_may_take_as_long_as_all_its_windows(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADEDEVAL_TIMEOUT", "1")
    monkeypatch.setattr(remote, "WINDOW", 5)
    web.pages["/x.run"] = dripping(6, 0.2)
    assert gradedeval.evaluate(f"{web.address}/x.run", QRELS, "rr").means == SCORE


# The size of an answer, and redirects to addresses of this machine or its network


def endless(request: Handler) -> None:
    """Return a response in pieces without its size."""
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    line = b"1 Q0 a 1 2 t\n" * 1000
    for _ in range(10_000 if request.command == "GET" else 0):
        request.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))


def test_an_endless_response_is_one_line(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/x.run"] = endless
    monkeypatch.setenv("GRADEDEVAL_MAX_DOWNLOAD", "5000000")
    with pytest.raises(InputError) as error:
        gradedeval.evaluate(f"{web.address}/x.run", QRELS, "rr")
    assert str(error.value) == (
        f"{web.address}/x.run: the server does not report the size of the file, and sends more than 5,000,000 bytes; "
        "if it is trusted, allow more, as with GRADEDEVAL_MAX_DOWNLOAD=50000000"
    )


@pytest.mark.parametrize("most", ["0.5", "-1", "many", "1e9", "9" * 19])
def test_a_limit_that_is_not_a_number_of_bytes_is_refused(most: str, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/x.run"] = endless
    monkeypatch.setenv("GRADEDEVAL_MAX_DOWNLOAD", most)
    with pytest.raises(InputError, match=r"^GRADEDEVAL_MAX_DOWNLOAD: '.*' is not a number of bytes; as in"):
        gradedeval.evaluate(f"{web.address}/x.run", QRELS, "rr")


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "inside.test", "both.test"])
@pytest.mark.parametrize("status", [301, 308])
def test_no_redirect_leads_inside(status: int, host: str, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the address of the test server as an outside one; all names resolve to loopback addresses."""
    names = {"inside.test": ["127.0.0.2"], "both.test": ["127.0.0.3", "127.0.0.2"]}
    resolve = socket.getaddrinfo

    def known(name: str, *given: Any, **named: Any) -> list[Any]:
        return [
            address_info for address in names.get(name, [name]) for address_info in resolve(address, *given, **named)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    monkeypatch.setattr(remote, "is_inside", lambda address: address != "127.0.0.1")
    port = web.address.rpartition(":")[2]
    web.pages["/far.run"] = redirect(status, f"http://{host}:{port}/x.run")
    with pytest.raises(InputError) as error:
        gradedeval.evaluate(f"{web.address}/far.run", QRELS, "rr")
    assert str(error.value).startswith(f"{web.address}/far.run: the server redirects to ")
    assert str(error.value).endswith(
        ", an address of this machine or network; if that is meant, name the file there itself"
    )
    assert [request.path for request in web.asked if request.path != "/far.run"] == []


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", True), ("10.1.2.3", True),
        ("172.16.0.1", True), ("192.168.0.1", True), ("169.254.169.254", True), ("fe80::1%eth0", True),
        ("fc00::1", True), ("::ffff:10.0.0.1", True), ("100.64.0.1", True), ("8.8.8.8", False),
        ("2001:4860:4860::8888", False), ("::ffff:8.8.8.8", False),
    ],
)  # fmt: skip
def test_addresses_of_the_public_network_are_outside(address: str, inside: bool) -> None:
    assert remote.is_inside(address) == inside
