from __future__ import annotations

import copy
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.model import Model, Quantity, decode, encode

from .golden import rows

PARSED = [row for row in rows("quantity", "parse") if row[1] is not None]
REFUSED = [row[0] for row in rows("quantity", "parse") if row[1] is None]

CAP = (2**63 - 1) * 10**9
"""What a binary text can say at most."""

quantities = st.builds(
    Quantity.from_nanos,
    st.integers(-(10**30), 10**30) | st.integers(-4096, 4096).map(lambda units: units * 2**10 * 10**9),
    st.sampled_from(["decimal", "binary", "exponent"]),
)


@pytest.mark.parametrize("row", PARSED, ids=lambda row: row[0])
def test_texts_mean_and_print_what_they_do_in_go(row):
    text, canonical, family, nanos, *numbers = row
    quantity = Quantity(text)
    assert (str(quantity), quantity.family, quantity.nanos) == (canonical, family, int(nanos))
    if numbers:
        assert [quantity.to_int(), quantity.milli] == numbers


@pytest.mark.parametrize("text", REFUSED)
def test_texts_that_go_refuses_are_refused(text):
    with pytest.raises(ValueError, match="quantity"):
        Quantity(text)


@pytest.mark.parametrize("row", rows("quantity", "arithmetic"), ids=lambda row: " ".join(row[:3]))
def test_arithmetic_gives_what_it_does_in_go(row):
    operator, left, right, result = row
    if operator == "*":
        assert str(Quantity(left) * int(right)) == result
    else:
        made = Quantity(left) + Quantity(right) if operator == "+" else Quantity(left) - Quantity(right)
        assert str(made) == result


@pytest.mark.parametrize("text", ["Ki", "+", ".", "-.", "m"])
def test_a_text_without_a_digit_is_refused_though_go_reads_zero(text):
    with pytest.raises(ValueError, match="has no digits"):
        Quantity(text)


def test_amounts_beyond_the_last_suffix_keep_their_zeros_though_go_drops_them():
    assert str(Quantity("1000E")) == "1000E"
    assert str(Quantity("2Ei") * 1024) == "2048Ei"


@pytest.mark.parametrize(("text", "canonical"), [("1.500", "1500m"), ("+1", "1"), ("1E3", "1e3"), ("007k", "7k")])
def test_canonical_form_is_canonical_also_where_go_prints_back_what_it_read(text, canonical):
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize("text", ["1e1001", "1e-1001", "1e99999999999999999999", "9" * 1001, "0." + "1" * 1001])
def test_a_number_that_would_fill_the_memory_is_refused(text):
    with pytest.raises(ValueError, match="quantity"):
        Quantity(text)


def test_errors_name_the_text_the_rule_and_the_cure():
    with pytest.raises(ValueError) as caught:
        Quantity("12GB")
    assert str(caught.value).startswith("quantity '12GB': is not <number><suffix>; write a number with one of")


@pytest.mark.parametrize("value", [0.5, True, None, b"1"])
def test_what_is_not_exact_is_refused(value):
    with pytest.raises(TypeError, match="is not exact"):
        Quantity(value)


@given(quantities)
def test_the_canonical_text_is_the_same_amount(quantity):
    text = str(quantity)
    again = Quantity(text)
    if text.endswith("i") and abs(quantity.nanos) > CAP:
        assert abs(again.nanos) == CAP
    else:
        assert again == quantity
        # A binary amount that no power of 1024 divides is printed without a suffix, which reads as decimal.
        assert str(again) == text or (quantity.family, again.family) == ("binary", "decimal")


@given(quantities)
def test_the_canonical_text_has_no_fraction_and_no_smaller_mantissa(quantity):
    text = str(quantity)
    assert "." not in text
    mantissa = text.lstrip("-").rstrip("numkMGTPEi")
    if quantity.family == "decimal" and quantity and not text.endswith("E"):
        assert not mantissa.endswith("000")


@given(quantities, quantities, st.integers(-1000, 1000))
def test_arithmetic_is_exact(left, right, factor):
    assert (left + right).nanos == left.nanos + right.nanos
    assert (left - right).nanos == left.nanos - right.nanos
    assert (left * factor).nanos == (factor * left).nanos == left.nanos * factor
    assert (-left).nanos == -left.nanos
    assert abs(left).nanos == abs(left.nanos)
    assert (+left) is left
    assert (left < right, left == right) == (left.nanos < right.nanos, left.nanos == right.nanos)


@given(quantities)
def test_as_decimal_is_exact_and_comes_back(quantity):
    assert Quantity(quantity.as_decimal()) == quantity


def test_equality_and_hash_go_by_value():
    assert Quantity("0.5") == Quantity("500m")
    assert len({Quantity("0.5"), Quantity("500m"), Quantity("1"), Quantity("1000m"), 1}) == 2
    assert Quantity("1Ki") == 1024
    assert Quantity("1Ki") != "1Ki"
    assert not Quantity("0")
    assert Quantity("1n")


def test_order_works_with_whole_numbers():
    assert 1 < Quantity("1500m") < 2
    assert Quantity("2") >= 2
    assert max(Quantity("1Gi"), Quantity("1G")) == Quantity("1Gi")


def test_a_sum_takes_the_family_of_what_it_sums():
    assert str(sum([Quantity("1Gi"), Quantity("512Mi")])) == "1536Mi"
    assert str(sum([Quantity("1Gi"), Quantity("512Mi")], Quantity(0))) == "1536Mi"
    assert str(1 - Quantity("100m")) == "900m"


def test_operations_with_other_types_are_type_errors():
    for operation in (
        lambda: Quantity(1) + 0.5,
        lambda: 0.5 + Quantity(1),
        lambda: Quantity(1) - "1",
        lambda: "1" - Quantity(1),
        lambda: Quantity(1) * 1.5,
        lambda: Quantity(1) < 0.5,
    ):
        with pytest.raises(TypeError):
            operation()


def test_from_other_forms():
    assert str(Quantity(5)) == "5"
    assert str(Quantity(Decimal("1.25"))) == "1250m"
    assert str(Quantity(Decimal("1E+5"))) == "100k"
    assert Quantity(Quantity("0.5")).to_wire() == "0.5"
    assert float(Quantity("1500m")) == 1.5
    with pytest.raises(ValueError, match="is not finite"):
        Quantity(Decimal("nan"))


class Resources(Model):
    limits: dict[str, Quantity] = {}
    floor: Quantity | None = None
    size: Quantity = Quantity("1Gi")


def test_what_was_read_is_sent_back_unchanged():
    data = b'{"limits":{"cpu":"0.5","memory":"1.500","gpu":1,"weight":0.25},"floor":" 7 ","size":"1024Mi"}'
    read = decode(Resources, data)
    assert encode(read) == data.replace(b'" 7 "', b'"7"')
    assert read.limits["cpu"] == Quantity("500m")
    assert read.limits["gpu"] == 1


def test_what_was_computed_is_sent_in_canonical_form():
    read = decode(Resources, b'{"limits":{"cpu":"0.5"}}')
    read.limits["cpu"] += Quantity("0.25")
    assert encode(read) == b'{"limits":{"cpu":"750m"},"size":"1Gi"}'


def test_a_broken_quantity_is_a_decode_error_with_its_path():
    with pytest.raises(ValueError, match=r"Resources.limits\[...\]: quantity 'abc': is not <number>"):
        decode(Resources, b'{"limits":{"cpu":"abc"}}')
    with pytest.raises(ValueError, match=r"Resources.floor: quantity \[\]: is neither a JSON string nor a number"):
        decode(Resources, b'{"floor":[]}')


def test_copies_and_pickles_are_equal_and_keep_the_text():
    quantity = Quantity("0.5")
    assert copy.copy(quantity) is copy.deepcopy(quantity) is quantity
    assert pickle.loads(pickle.dumps(quantity)).to_wire() == "0.5"
    made = Quantity("1Gi") + Quantity("1Gi")
    assert (pickle.loads(pickle.dumps(made)), pickle.loads(pickle.dumps(made)).family) == (made, "binary")
    assert repr(quantity) == "Quantity('0.5')"
