"""Numbers and booleans: what bounds them."""

from __future__ import annotations

import enum
from typing import Annotated, Literal, NewType

import msgspec
from annotated_types import Ge, Gt, Interval, Le, Lt, MultipleOf
from table_rows import row

from kubewright.schema import Default, Doc, Example, Format, Title

Port = Annotated[int, Ge(1), Le(65535)]
UserId = NewType("UserId", int)


class Size(enum.IntEnum):
    """How large."""

    SMALL = 1
    LARGE = 10


ROWS = {
    "flag": row(bool, [True, False], ["true", 1]),
    "integer": row(int, [0, -(2**63), 2**63 - 1, 3.0], ["1", 1.5, True]),
    "integer_too_large": row(int, [1], [2**63, 2**64]),
    "int32": row(Annotated[int, Format("int32")], [2**31 - 1, -(2**31)], [2**31, -(2**31) - 1]),
    "int64": row(Annotated[int, Format("int64")], [2**63 - 1], ["x"]),
    "number": row(float, [0.5, 3, -1e300, 1e-7], ["0.5", True]),
    "float32": row(Annotated[float, Format("float")], [3.5], [4e38]),
    "double": row(Annotated[float, Format("double")], [4e38], ["4e38"]),
    "ge": row(Annotated[int, Ge(3)], [3], [2]),
    "ge_zero": row(Annotated[int, Ge(0)], [0], [-1]),
    "ge_negative": row(Annotated[int, Ge(-5)], [-5], [-6]),
    "gt": row(Annotated[int, Gt(3)], [4], [3]),
    "le": row(Annotated[int, Le(3)], [3], [4]),
    "lt": row(Annotated[int, Lt(3)], [2], [3]),
    "between": row(Annotated[int, Ge(1), Le(9)], [1, 9], [0, 10]),
    "interval": row(Annotated[int, Interval(gt=0, le=10)], [1, 10], [0, 11]),
    "tightest_of_several": row(Annotated[int, Ge(1), Ge(3), Le(9), Le(7)], [3, 7], [2, 8]),
    "alias": row(Port, [1, 65535], [0, 65536]),
    "alias_narrowed": row(Annotated[Port, Le(1023)], [1023], [1024]),
    "new_type": row(UserId, [1], ["1"]),
    "multiple": row(Annotated[int, MultipleOf(5)], [0, 10, -5], [11]),
    "float_ge": row(Annotated[float, Ge(0.5)], [0.5], [0.4]),
    "float_gt": row(Annotated[float, Gt(0)], [0.1], [0]),
    "float_le": row(Annotated[float, Le(2.5)], [2.5], [3]),
    "float_lt": row(Annotated[float, Lt(1)], [0.9], [1]),
    "float_multiple": row(Annotated[float, MultipleOf(0.5)], [1.5, -2.5], [0.25]),
    "of_msgspec": row(Annotated[int, msgspec.Meta(ge=1, lt=4, multiple_of=3)], [3], [0, 6, 2]),
    "literal_integers": row(Literal[1, 2, 3], [1, 3], [4, "1"]),
    "int_enum": row(Size, [1, 10], [2]),
    "with_default": row(Annotated[int, Default(7), Le(9)], [9], [10]),
    "documented": row(Annotated[int, Title("A title"), Doc("In words."), Example(3)], [1], ["1"]),
}
