"""A bucket with the samples: moto's S3 server on the loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.paths import ROOT
from support.processes import end_fsspec

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
ENVIRONMENT = {**dict.fromkeys(KEYS, "hidden-key"), "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"}


@contextmanager
def storage_of_samples() -> Iterator[Any]:
    """A bucket with the samples, as a file system; the environment says where it is."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    moto = pytest.importorskip("moto.server", reason="moto[s3,server] is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        files = s3fs.S3FileSystem()
        files.mkdir("bucket")
        for path in (ROOT / "qrels_samples").glob("rivers*"):
            files.put(str(path), f"bucket/{'runs/' if '.run' in path.name else ''}{path.name}")
        yield files
        files.rm("bucket", recursive=True)  # moto remembers it as long as the process lives
    end_fsspec()
    server.stop()
