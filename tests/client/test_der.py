"""`not_after`, against certificates that cryptography makes."""

from __future__ import annotations

import datetime

import pytest
from client_certificates import NOW, sign
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.client.der import not_after

PEM = sign("web", "web.example.com", "127.0.0.1").certificate_pem


@pytest.mark.parametrize("year", [2027, 2049, 2050, 2120])
def test_the_end_of_validity_is_what_the_certificate_says(year: int) -> None:
    until = datetime.datetime(year, 2, 28, 23, 59, 58, tzinfo=datetime.UTC)
    assert not_after(sign("web", valid=(NOW, until)).certificate_pem) == until


def test_the_first_certificate_of_a_chain_counts() -> None:
    later = sign("ca", valid=(NOW, NOW + datetime.timedelta(days=900))).certificate_pem
    assert not_after(b"subject=web\n" + PEM + later) == not_after(PEM)


@pytest.mark.parametrize(
    "pem", [b"", b"junk", PEM[:100], PEM.replace(b"BEGIN", b"END")], ids=["empty", "junk", "cut", "no beginning"]
)
def test_what_is_no_certificate_is_a_value_error(pem: bytes) -> None:
    with pytest.raises(ValueError, match="certificate"):
        not_after(pem)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_certificate_is_a_value_error_or_another_date(data: st.DataObject) -> None:
    lines = PEM.splitlines()
    at = data.draw(st.integers(1, len(lines) - 2))
    lines[at] = data.draw(st.sampled_from([b"", lines[at][::-1], b"A" * 64, lines[at][:13], b"\xff" * 8]))
    try:
        assert not_after(b"\n".join(lines)).tzinfo is datetime.UTC
    except ValueError:
        pass
