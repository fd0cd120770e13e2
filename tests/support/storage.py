"""A bucket with the samples: moto's S3 server on the loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.paths import ROOT
from support.processes import end_fsspec

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_ENVIRONMENT = {**dict.fromkeys(KEYS, "hidden-key"), "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"}


def environment_of(port: int) -> dict[str, str]:
    """What processes must know to find the bucket, which is at a port."""
    return {**_ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}


@contextmanager
def storage_of_samples(port: int = 0) -> Iterator[Any]:
    """A bucket with the samples, as a file system; the environment says where it is."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    moto = pytest.importorskip("moto.server", reason="moto[s3,server] is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment_of(server.get_host_and_port()[1]).items():
            patch.setenv(name, value)
        files = s3fs.S3FileSystem()
        files.mkdir("bucket")
        for path in (ROOT / "qrels_samples").glob("rivers*"):
            files.put(str(path), f"bucket/{'runs/' if '.run' in path.name else ''}{path.name}")
        yield files
        files.rm("bucket", recursive=True)  # moto remembers it as long as the process lives
    end_fsspec()
    server.stop()


@contextmanager
def keys_without_rights() -> Iterator[dict[str, str]]:
    """The keys of a user who may do nothing in the bucket; meanwhile all keys are looked at."""
    from botocore.session import get_session
    from moto import settings
    from moto.core.authorization import ActionAuthenticatorMixin

    users = get_session().create_client("iam", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    users.create_user(UserName="nobody")
    key = users.create_access_key(UserName="nobody")["AccessKey"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        patch.setattr(ActionAuthenticatorMixin, "request_count", 0)
        yield dict(zip(KEYS, (key["AccessKeyId"], key["SecretAccessKey"]), strict=True))
    users.delete_access_key(UserName="nobody", AccessKeyId=key["AccessKeyId"])
    users.delete_user(UserName="nobody")
