"""Formats on a real API server: every text below is given to every format, and the verdicts have to be ours."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

from collections.abc import Iterator

import pytest
from generator import TEXTS
from served_kinds import Served

from kubewright.schema.structural.strformats import FORMATS
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

MORE = (
    # dates, times, durations
    "0000-01-01", "9999-12-31", "2024-02-29", "2023-02-29", "2026-1-2", "2026-01-02 ", "2026-00-10", "2026-13-01", "2026-01-02T23:59:59Z",
    "2026-01-02T24:00:00Z", "2026-01-02T23:59:60Z", "2026-01-02T10:00:00", "2026-01-02T10:00:00+0100", "2026-01-02T10:00:00x5Z", "2026-01-02 10:00:00Z",
    "2026-01-02T10:00:00.Z", "2026-01-02T10:00:00Zt", "2026-01-02T10:00:00+99:99", "2026-01-02t1", "T", "1d", "2w", "3 weeks", "1 fortnight", "5 Minutes", "1h30m", "-1h", "+1h",
    ".5h", "1.h", ".h", "h", "0", "-0", "1", "1µs", "1μs", "1 µs", "10 nanoseconds", "1hr", "2 hrs", "99999999999999999999h", "9223372036854775807ns", "9223372036s", "1x 2s",
    # addresses
    "1.2.3", "1.2.3.4.5", "01.02.03.04", "1.2.3.0000004", "1.2.3.-4", "1.2.3.4 ", "a::b", "::", ":", ":::", "1::2::3", "::1%eth0", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::", "::ffff:300.1.1.1", "::ffff:01.02.03.04", "12345::", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "010.0.0.0/08", "::/0", "::/129", "::1.2.3.4/128", "/8",
    "01:23:45:67:89:ab:cd:ef", "01-23-45-67-89-ab", "0123.4567.89ab", "0123.4567.89ab.cdef", "01:23:45:67:89", "01:23-45:67:89:ab", "0123.4567", "00" * 20, ":".join(["00"] * 20),
    # names
    "a" * 63, "a" * 64, "a.b" * 84, "a.b" * 85, "A.B", "a_b", "a-", "-a", "a..b", ".a", "a.", "a.b1", "a.bc", "x.1c", "münchen.de", "münchen", "☃.net", "a-b-c", "a--b", "a-bc", "a.b-", "☃",
    # mail and addresses of pages
    "a@b", "a@b.c", "a b@c.d", '"a b"@c.d', "A <a@b.c>", "<a@b.c>", "A B C <a@b.c>", '"A, B" <a@b.c>', "a@", "@b", "a@b@c", "a.@b", ".a@b", "a..b@c", "a@[1.2.3.4]", "a@b.", "é@ü.de", "a@b, c@d", "a@b (x)",
    "http://", "http:///x", "http://a b", "http://a/b c", "http://a/%zz", "http://a/%20", "http://[::1]:80/x", "http://[::1", "http://a:b", "http://a:80b/", "http://u:p@h/", "//a/b", "*", "mailto:a@b", "a:b",
    ":a", "1a://b", "http://a?%zz", "http://a#%zz", "urn:x:y", "/%41", "/%4", "http://%41/", "http://%c3%a9/", "http://a\\b/", "http://<a>/", "HTTP://A", "a+b.c-d://x", "http://a:1:2", "http://a::/x", "http://[::1]x", "http://a%41:80/", "http://a]b/", 'http://"a"/', "http://a|b/", "http://a@b@c/", "http://a{}b/", "http://é/", "http://[fe80::1%25en0]/",
    "a@b(x)", "a@b (x (y))", "(x) a@b", "a (x) <a@b>", "a@b ()()", "0123456789ab", "0123456789a", "0123456789abcdef", "g123456789ab",
    # the rest
    "AP8", "AP8=", "AP==", "A===", "====", "AP8=\n", "AP-_", "0E7F7A5E9C2B4D0E8F430E5F0D7C2A11", "0e7f7a5e-9c2b-3d0e-8f43-0e5f0d7c2a11", "0e7f7a5e-9c2b-5d0e-cf43-0e5f0d7c2a11", "0e7f7a5e-9c2b-5d0e-8f43-0e5f0d7c2a1",
    "#ffff", "ffffff", "rgb( 1 , 2,3 )", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(1,2)", "0-306-40615-2", "080442957X", "0804429570", "9783161484100", "978-3-16-148410-1", "4111111111111112", "5500005555555559",
    "123-45-6789", "123 45 6789", "123456789", "123-45-678", "507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901", "zzzf1f77bcf86cd799439011",
)  # fmt: skip


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def served(rest: Rest) -> Iterator[Served]:
    """A kind with a field of each format."""
    spelled = {"k8slongname": "k8s-long-name", "k8sshortname": "k8s-short-name", "datetime": "date-time"}
    kind = Served(rest, {name: {"type": "string", "format": spelled.get(name, name)} for name in FORMATS})
    yield kind
    kind.remove()


@pytest.mark.parametrize("text", dict.fromkeys((*TEXTS, *MORE)))
def test_a_server_takes_the_same_texts(served: Served, text: str) -> None:
    body = served.object(dict.fromkeys(FORMATS, text))
    code, answer = served.send("POST", f"{served.path}?dryRun=All", body)
    causes = answer["details"]["causes"] if code == 422 else []
    theirs = {each["field"].removeprefix("spec.") for each in causes}
    ours = {name for name, check in FORMATS.items() if not check(text)}
    assert ours == theirs
