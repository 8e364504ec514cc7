"""What one built-in kind decides for itself: `Rules`, a row of the table in `kinds`.

Only what differs from most kinds is said. Functions get objects in wire form, decoded and defaulted: what Go always
writes is there (`spec.template.metadata`), what is empty is absent, and lists that Go always writes may be None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.metarules import dns_subdomain

from ..strategy import Context, Grace

__all__ = ["CheckChange", "Object", "Rules"]

Object = dict[str, Any]
Prepare = Callable[[Object, Context], None]
PrepareChange = Callable[[Object, Object, Context], None]
Check = Callable[[Object, Context], list[FieldError]]
CheckChange = Callable[[Object, Object, Context], list[FieldError]]


def _nothing(obj: Object, context: Context) -> None:
    pass


def _no_change(new: Object, old: Object, context: Context) -> None:
    pass


def _valid(obj: Object, context: Context) -> list[FieldError]:
    return []


def _valid_change(new: Object, old: Object, context: Context) -> list[FieldError]:
    return []


def _quiet(obj: Object, old: Object | None, context: Context) -> list[str]:
    return []


class Rules(Struct, frozen=True):
    """The rules of one kind.

    `counts` names what `generation` counts changes of: "" for a kind without generation, "spec" for everything but
    metadata and status, "all" for everything but metadata, "nothing" for a kind whose generation stays; "+labels" and
    "+annotations" add these. `checks_finalizers` is whether finalizers have to be standard ones or of a domain, and
    `checks_metadata_again` whether all of the metadata is checked at each change, whatever it was before. `labels` has
    the values of field selectors; `label_error` what is said of others, with `{}` for the label.
    """

    name_rule: Callable[[str], list[str]] = dns_subdomain
    has_status: bool = False
    counts: str = ""
    first_generation: int = 1
    checks_finalizers: bool = True
    checks_metadata_again: bool = False
    unconditional: bool = True
    create_on_update: bool = False
    returns_deleted: bool = False
    propagation: str = "Background"
    prepare_create: Prepare = _nothing
    prepare_update: PrepareChange = _no_change
    prepare_status: PrepareChange = _no_change
    validate: Check = _valid
    validate_update: CheckChange = _valid_change
    validate_status: CheckChange = _valid_change
    warnings: Callable[[Object, Object | None, Context], list[str]] = _quiet
    grace: Callable[[Object, int | None, Context], Grace] | None = None
    begin_delete: Callable[[Object, Context], Object | None] | None = None
    keeps: Callable[[Object], bool] | None = None
    labels: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    label_error: str = ""
