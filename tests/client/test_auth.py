"""The token's life: read again in time, kept while the file is bad, renewed when the server refuses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubewright.client.auth import Auth
from kubewright.client.config import ClientConfig, ConfigError, Impersonation

FILE = Path("/run/token")


class Disk:
    """The token file; None: it cannot be read."""

    def __init__(self, content: str | None) -> None:
        self.content = content
        self.reads = 0

    def read(self, path: Path) -> str:
        assert path == FILE
        self.reads += 1
        if self.content is None:
            raise FileNotFoundError(2, "No such file or directory")
        return self.content


def auth(disk: Disk, token: str | None = None) -> Auth:
    return Auth(ClientConfig(server="https://h", token=token, token_file=FILE, source="test"), read=disk.read)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("Authorization", f"Bearer {token}"),)


def test_the_file_is_read_again_every_minute_and_not_before() -> None:
    disk = Disk("one\n")
    who = auth(disk)
    assert who.headers(1000.0) == bearer("one")
    disk.content = "two"
    assert who.headers(1059.9) == bearer("one")
    assert disk.reads == 1
    assert who.headers(1060.0) == bearer("two")
    assert who.headers(1119.9) == bearer("two")
    assert disk.reads == 2


def test_the_headers_are_the_same_object_while_the_token_is_the_same() -> None:
    disk = Disk("one")
    who = auth(disk)
    first = who.headers(0.0)
    assert who.headers(30.0) is first
    assert who.headers(90.0) is first
    assert disk.reads == 2


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_bad_file_leaves_the_last_good_token(content: str | None) -> None:
    disk = Disk("one")
    who = auth(disk)
    who.headers(0.0)
    disk.content = content
    assert who.headers(60.0) == bearer("one")
    assert who.headers(61.0) == bearer("one")
    assert disk.reads == 2
    disk.content = "two"
    assert who.headers(120.0) == bearer("two")


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, "'/run/token' cannot be read (No such file or directory)"), ("\n", "'/run/token' is empty")],
)
def test_a_bad_file_without_any_token_is_an_error_until_it_is_good(content: str | None, text: str) -> None:
    disk = Disk(content)
    who = auth(disk)
    for now in (0.0, 1.0):
        with pytest.raises(ConfigError) as caught:
            who.headers(now)
        assert str(caught.value) == f"test: token file: {text}; is the service account's token mounted there?"
    disk.content = "one"
    assert who.headers(2.0) == bearer("one")


def test_a_given_token_serves_until_the_file_can_be_read() -> None:
    disk = Disk(None)
    who = auth(disk, token="given")
    assert who.headers(0.0) == bearer("given")
    disk.content = "one"
    assert who.headers(60.0) == bearer("one")


def test_a_refused_token_is_read_again_at_once() -> None:
    disk = Disk("one")
    who = auth(disk)
    who.headers(0.0)
    assert not who.refresh(1.0)
    disk.content = "two"
    assert who.refresh(2.0)
    assert who.headers(3.0) == bearer("two")
    assert disk.reads == 3


def test_without_a_file_there_is_nothing_to_refresh() -> None:
    who = Auth(ClientConfig(server="https://h", token="t"))
    assert not who.refresh(0.0)
    assert who.headers(0.0) == bearer("t")
    assert Auth(ClientConfig(server="https://h")).headers(0.0) == ()


def test_impersonation_goes_with_the_token() -> None:
    config = ClientConfig(server="https://h", token="t", impersonation=Impersonation("bob"))
    assert Auth(config).headers(0.0) == (*bearer("t"), ("Impersonate-User", "bob"))
