"""Two schemas of one version: what the new one takes away, asks for, or means in another way.

Bounds are compared as sets of values: a bound that is lowered, raised, added or taken away is a different rule each,
and only those that allow less break anybody. Where two regular expressions, formats or combinations (`anyOf`, ...)
differ, nobody can say in general which allows more; a change of one counts as breaking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from ..structural.gotext import as_json
from ..structural.node import is_format_known
from ..structural.values import same
from .changes import APPLIERS, READERS, STORED, WRITERS, Change

__all__ = ["Site", "compare_schemas"]

Schema = Mapping[str, Any]

_UPPER: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER: Final = ("minimum", "minLength", "minItems", "minProperties")
_EXCLUSIVE: Final = {"maximum": "exclusiveMaximum", "minimum": "exclusiveMinimum"}
_REFUSED: Final = "a value that was fine is refused; a stored one stays until it is changed"
_MEANING: Final = ("default", "enum", "pattern", "format", "multipleOf")


class Site(msgspec.Struct, frozen=True):
    """Where two schemas are compared: makes the changes found there."""

    crd: str
    version: str
    path: str = ""

    def below(self, part: str) -> Site:
        """A field, item (`[]`) or map value (`{}`)."""
        return Site(self.crd, self.version, self.path + part)

    def breaks(self, rule: str, what: str, who: str, how: str, old: Any = None, new: Any = None) -> Change:
        """A change that breaks somebody."""
        return Change(self.crd, rule, what, True, who, how, self.version, self.path or ".", old, new)

    def allows(self, rule: str, what: str, old: Any = None, new: Any = None) -> Change:
        """A change that breaks nobody."""
        return Change(self.crd, rule, what, False, "", "", self.version, self.path or ".", old, new)


def compare_schemas(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    """The changes from one schema to another and in all below."""
    changed = list(_type(old, new, site))
    yield from changed
    if any(change.rule == "type-changed" for change in changed):
        return  # what is below belongs to another kind of value
    for compare in (_bounds, _values, _topology, _openness, _rules, _junctors):
        yield from compare(old, new, site)
    yield from _fields(old, new, site)
    old_items, new_items = old.get("items"), new.get("items")
    if isinstance(old_items, Mapping) and isinstance(new_items, Mapping):
        yield from compare_schemas(old_items, new_items, site.below("[]"))


# -- types ------------------------------------------------------------------------------------------------------------


def _kind(schema: Schema) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    return str(schema.get("type") or "any")


def _type(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    before, after = _kind(old), _kind(new)
    if before != after:
        what = f"type {before} became {after}"
        wider = after == "any" or (before, after) in (
            ("integer", "number"),
            ("integer", "int-or-string"),
            ("string", "int-or-string"),
        )
        if wider:
            how = "find values of types that they do not expect"
            yield site.breaks("type-widened", what, READERS, how, before, after)
        else:
            how = "values of the old type are refused, and stored ones are invalid as soon as they are changed"
            yield site.breaks("type-changed", what, f"{WRITERS}, {STORED}", how, before, after)
    if old.get("nullable") and not new.get("nullable"):
        how = "an explicit null is dropped, or refused in a list"
        yield site.breaks("nullable-removed", "null is no longer allowed", WRITERS, how)
    elif new.get("nullable") and not old.get("nullable"):
        yield site.breaks("nullable-added", "null is allowed", READERS, "find null where a value was")


# -- bounds -----------------------------------------------------------------------------------------------------------


def _bounds(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    for name in _UPPER:
        yield from _bound(old, new, name, site, tighter=lambda before, after: after < before)
    for name in _LOWER:
        yield from _bound(old, new, name, site, tighter=lambda before, after: after > before)
    yield from _multiple(old.get("multipleOf"), new.get("multipleOf"), site)


def _bound(old: Schema, new: Schema, name: str, site: Site, *, tighter: Callable[[Any, Any], bool]) -> Iterator[Change]:
    before, after = old.get(name), new.get(name)
    is_upper = name in _UPPER
    if before is None and after is None:
        return
    if before is None and not is_upper and name != "minimum" and not after:
        return  # a minimum length of 0 says nothing
    exclusive = _EXCLUSIVE.get(name, "")
    was_open, is_open = bool(old.get(exclusive)), bool(new.get(exclusive))
    if before is None:
        yield site.breaks(f"{name}-added", f"{name} {after} was added", WRITERS, _REFUSED, None, after)
    elif after is None:
        yield site.allows(f"{name}-removed", f"{name} {before} was removed", before, None)
    elif before != after:
        what = f"{name} {before} became {after}"
        direction = "lowered" if after < before else "raised"
        if tighter(before, after):
            yield site.breaks(f"{name}-{direction}", what, WRITERS, _REFUSED, before, after)
        else:
            yield site.allows(f"{name}-{direction}", what, before, after)
    elif is_open and not was_open:
        what = f"{name} {after} itself is no longer allowed"
        yield site.breaks(f"{exclusive}-added", what, WRITERS, _REFUSED, False, True)
    elif was_open and not is_open:
        yield site.allows(f"{exclusive}-removed", f"{name} {after} itself is allowed", True, False)


def _multiple(before: Any, after: Any, site: Site) -> Iterator[Change]:
    if before == after:
        return
    if after is None:
        yield site.allows("multipleOf-removed", f"multipleOf {before} was removed", before, None)
    elif before is None:
        yield site.breaks("multipleOf-added", f"multipleOf {after} was added", WRITERS, _REFUSED, None, after)
    elif (before / after).is_integer() if isinstance(before / after, float) else before % after == 0:
        yield site.allows("multipleOf-relaxed", f"multipleOf {before} became {after}", before, after)
    else:
        what = f"multipleOf {before} became {after}"
        yield site.breaks("multipleOf-changed", what, WRITERS, _REFUSED, before, after)


# -- values -----------------------------------------------------------------------------------------------------------


def _values(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    yield from _enum(old.get("enum") or [], new.get("enum") or [], site)
    for name in ("pattern", "format"):
        before, after = (str(schema.get(name) or "") for schema in (old, new))
        if name == "format":
            before, after = _checked(before, old), _checked(after, new)
        if before == after:
            continue
        if not after:
            yield site.allows(f"{name}-removed", f"{name} {before!r} was removed", before, None)
        else:
            rule, what = f"{name}-changed", f"{name} {before!r} became {after!r}"
            if not before:
                rule, what = f"{name}-added", f"{name} {after!r} was added"
            yield site.breaks(rule, what, WRITERS, _REFUSED, before or None, after)
    yield from _default(old.get("default"), new.get("default"), site)


def _checked(name: str, schema: Schema) -> str:
    """A format that servers check; "" for one that only documents."""
    kind = "" if schema.get("x-kubernetes-int-or-string") else str(schema.get("type") or "")
    return name if is_format_known(kind, name) else ""


def _enum(before: list[Any], after: list[Any], site: Site) -> Iterator[Change]:
    if not before and not after:
        return
    if not after:
        yield site.allows("enum-removed", "any value is allowed", before, None)
    elif not before:
        what = f"only {', '.join(map(as_json, after))} are allowed"
        yield site.breaks("enum-added", what, WRITERS, _REFUSED, None, after)
    else:
        gone = [each for each in before if not any(same(each, other) for other in after)]
        come = [each for each in after if not any(same(each, other) for other in before)]
        if gone:
            what = f"{', '.join(map(as_json, gone))} {'is' if len(gone) == 1 else 'are'} no longer allowed"
            yield site.breaks("enum-value-removed", what, f"{WRITERS}, {STORED}", _REFUSED, before, after)
        if come:
            yield site.allows("enum-value-added", f"{', '.join(map(as_json, come))} is allowed", before, after)


def _default(before: Any, after: Any, site: Site) -> Iterator[Change]:
    if same(before, after):
        return
    shown = f"default {as_json(before)} became {as_json(after)}"
    if after is None:
        how = "find nothing where the default was, also in objects that are stored"
        yield site.breaks("default-removed", f"default {as_json(before)} was removed", READERS, how, before, None)
    elif before is None:
        how = "that leave the field out get the value on the next read, without a change of theirs"
        yield site.breaks("default-added", f"default {as_json(after)} was added", STORED, how, None, after)
    else:
        how = "that leave the field out mean something else from now on"
        yield site.breaks("default-changed", shown, f"manifests, and {STORED},", how, before, after)


# -- shape ------------------------------------------------------------------------------------------------------------


def _topology(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    if _kind(old) == "array":
        before, after = (str(schema.get("x-kubernetes-list-type") or "atomic") for schema in (old, new))
        keys = [list(schema.get("x-kubernetes-list-map-keys") or []) for schema in (old, new)]
        if before != after:
            what = f"list type {before} became {after}"
            how = "items are merged in another way, and owned by others than before"
            who = APPLIERS
            if after != "atomic":
                who, how = f"{APPLIERS}, {STORED}", how + "; duplicates are refused"
            yield site.breaks("list-type-changed", what, who, how, before, after)
        elif after == "map" and keys[0] != keys[1]:
            what = f"keys {', '.join(keys[0])} became {', '.join(keys[1])}"
            how = "other items count as the same; what was unique may be a duplicate"
            yield site.breaks("list-map-keys-changed", what, f"{APPLIERS}, {STORED}", how, keys[0], keys[1])
    if _kind(old) == "object":
        before, after = (str(schema.get("x-kubernetes-map-type") or "granular") for schema in (old, new))
        if before != after:
            how = "fields are owned and replaced together" if after == "atomic" else "fields are owned one by one"
            what = f"map type {before} became {after}"
            yield site.breaks("map-type-changed", what, APPLIERS, how, before, after)


def _openness(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    keyword = "x-kubernetes-preserve-unknown-fields"
    if old.get(keyword) and not new.get(keyword):
        how = "fields that the schema does not name are dropped, also from what is stored, on the next write"
        yield site.breaks("unknown-fields-pruned", "unknown fields are no longer kept", f"{WRITERS}, {STORED}", how)
    elif new.get(keyword) and not old.get(keyword):
        yield site.allows("unknown-fields-kept", "unknown fields are kept")
    keyword = "x-kubernetes-embedded-resource"
    if new.get(keyword) and not old.get(keyword):
        how = "apiVersion and kind become required, and metadata is checked as metadata"
        yield site.breaks("embedded-resource-added", "it has to be a whole resource", WRITERS, how)
    elif old.get(keyword) and not new.get(keyword):
        how = "apiVersion, kind and metadata are dropped unless the schema names them"
        yield site.breaks("embedded-resource-removed", "it is no longer a whole resource", WRITERS, how)


def _rules(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    rules = [
        {" ".join(str(each.get("rule", "")).split()): each for each in schema.get("x-kubernetes-validations") or []}
        for schema in (old, new)
    ]
    before, after = rules
    for text in after:
        if text not in before:
            how = "what does not keep it is refused; a stored object stays until it is changed"
            yield site.breaks("rule-added", f"rule {text!r} was added", WRITERS, how, None, text)
        elif before[text].get("optionalOldSelf") != after[text].get("optionalOldSelf"):
            how = "the rule is evaluated on creation, or no longer is"
            yield site.breaks("rule-changed", f"optionalOldSelf of rule {text!r} changed", WRITERS, how, text, text)
    for text in before:
        if text not in after:
            yield site.allows("rule-removed", f"rule {text!r} was removed", text, None)


def _junctors(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    for name in ("anyOf", "oneOf", "not"):
        before, after = old.get(name) or None, new.get(name) or None
        if same(before, after) or (_kind(old) == "int-or-string" and name == "anyOf"):
            continue
        if after is None:
            yield site.allows(f"{name}-removed", f"{name} was removed", before, None)
        else:
            rule = f"{name}-added" if before is None else f"{name}-changed"
            what = f"{name} was {'added' if before is None else 'changed'}"
            yield site.breaks(rule, what, WRITERS, _REFUSED, before, after)
    earlier, later = list(old.get("allOf") or []), list(new.get("allOf") or [])
    come = [each for each in later if not any(same(each, other) for other in earlier)]
    gone = [each for each in earlier if not any(same(each, other) for other in later)]
    if come:
        yield site.breaks("allOf-added", f"allOf has {len(come)} more to keep", WRITERS, _REFUSED, gone, come)
    elif gone:
        yield site.allows("allOf-removed", f"allOf has {len(gone)} less to keep", gone, None)


# -- fields -----------------------------------------------------------------------------------------------------------


def _fields(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    before, after = old.get("properties") or {}, new.get("properties") or {}
    extra = new.get("additionalProperties")
    kept = bool(new.get("x-kubernetes-preserve-unknown-fields")) or extra is True
    for name in before:
        if name in after:
            continue
        here = site.below(f".{name}")
        if isinstance(extra, Mapping):
            yield from compare_schemas(before[name], extra, here)
        elif kept:
            yield here.breaks("field-unchecked", "is no longer in the schema", READERS, "find it in any form")
        else:
            how = "the field is dropped, also from what is stored, on the next write; strict clients are refused"
            yield here.breaks("field-removed", "was removed", f"{WRITERS}, {READERS}, {STORED}", how)
    yield from _required(old, new, site)
    for name, schema in after.items():
        here = site.below(f".{name}")
        if name in before:
            yield from compare_schemas(before[name], schema, here)
        else:
            yield from _new_field(old, name, schema, new, here)
    yield from _map_values(old, new, site)


def _new_field(old: Schema, name: str, schema: Schema, new: Schema, here: Site) -> Iterator[Change]:
    if old.get("x-kubernetes-preserve-unknown-fields") or old.get("additionalProperties") is True:
        how = f"a {name} of another type, which was kept unchecked so far, is refused"
        yield here.breaks("field-checked", "is checked from now on", f"{WRITERS}, {STORED}", how)
    elif name not in (new.get("required") or ()) or schema.get("default") is not None:
        yield here.allows("field-added", "was added")


def _required(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    before, after = set(old.get("required") or []), set(new.get("required") or [])
    for name in sorted(after - before):
        here = site.below(f".{name}")
        schema = (new.get("properties") or {}).get(name) or {}
        if schema.get("default") is not None:
            yield here.allows("required-with-default", "is required, and has a default")
            continue
        is_new = name not in (old.get("properties") or {})
        how = "manifests without it are refused, and so is every change of a stored object without it"
        rule = "required-field-added" if is_new else "required-added"
        yield here.breaks(rule, "is required", f"{WRITERS}, {STORED}", how)
    known = new.get("properties") or {}
    for name in sorted(before - after):
        if name in known:
            here = site.below(f".{name}")
            yield here.breaks("required-removed", "may be absent", READERS, "find objects without it")


def _map_values(old: Schema, new: Schema, site: Site) -> Iterator[Change]:
    before, after = old.get("additionalProperties"), new.get("additionalProperties")
    here = site.below("{}")
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from compare_schemas(before, after, here)
    elif isinstance(before, Mapping) or before is True:
        if after in (None, False) and not new.get("x-kubernetes-preserve-unknown-fields"):
            how = "values under names that the schema does not have are dropped or refused"
            yield here.breaks("map-closed", "further names are no longer allowed", f"{WRITERS}, {STORED}", how)
        elif before is True and isinstance(after, Mapping):
            how = "values that do not fit the schema are refused"
            yield here.breaks("map-values-checked", "values are checked from now on", WRITERS, how)
    elif before is False and after is not False:
        yield here.allows("map-opened", "further names are allowed")
