"""POST: a new object.

| step | refused with |
|---|---|
| read, defaulted | 400 |
| namespace as in the URL; it exists and is not going away | 400, 404, 403 |
| system fields set, name generated, admission | |
| a PUT or an apply, by who may not create | 403 |
| the kind prepares and validates; then what all kinds share | 422 |
| stored; a generated name that is taken is tried again, eight times in all | 409, 500 |

Rules: `endpoints/handlers/create.go`, `registry/generic/registry/store.go`.
"""

from __future__ import annotations

from typing import Any, Final

from kubewright.schema.structural.values import copied

from ..access.attributes import AuthorizationAttributes
from ..access.authorization import refused
from ..errors import StatusError, already_exists, forbidden, generate_name_conflict, invalid_object, unexplained
from ..options import WriteOptions, write_options
from ..request import Response
from ..store import Entry, Exists
from .backend import Operation
from .call import Call
from .decoding import decode_object
from .lifecycle import check_namespace
from .metadata import dedupe_owners, ensure_namespace, fill_system_fields, meta_of, name_errors, wipe_system_fields
from .storing import as_if_written, as_kept, as_written, check_object_size, to_storage

__all__ = ["create", "create_object"]

_MOST_NAMES: Final = 8
_CREATE: Final[Operation] = "CREATE"


async def create(call: Call) -> Response:
    """Answer a POST to a collection."""
    options = write_options(call.request.query, "CreateOptions")
    obj = decode_object(call, options.field_validation)
    entry = await create_object(call, obj, options)
    return call.answer(201, call.representation.one(call.kind, entry))


async def create_object(call: Call, obj: dict[str, Any], options: WriteOptions, *, is_tracked: bool = False) -> Entry:
    """Create a decoded object, which may be changed; gives it as it is served.

    Args:
        is_tracked: it is known already who owns its fields.

    Raises:
        StatusError: it is refused.
    """
    meta = meta_of(obj)
    wipe_system_fields(meta)
    ensure_namespace(call.kind, meta, call.route.namespace)
    dedupe_owners(meta, call.warn)
    if not is_tracked:
        track(call, None, obj, options)
    check_namespace(call, meta)
    if problem := call.strategy.create_problem(call.context(meta.get("name", ""))):
        raise forbidden(call.kind, meta.get("name", ""), problem)
    if (admission := call.admission) is not None:
        attributes = call.attributes(_CREATE, meta.get("name", ""), obj, None, _given(options), options.is_dry_run)
        await admission.admit(attributes)
        obj = attributes.object or obj
        ensure_namespace(call.kind, meta_of(obj), call.route.namespace)
        dedupe_owners(meta_of(obj), call.warn, after_admission=True)
    if call.kind.guard is not None:
        call.kind.guard(call, obj, None)
    base = meta_of(obj).get("generateName", "")
    if not base or meta_of(obj).get("name"):
        return await _create(call, obj, options)
    for attempt in range(1, _MOST_NAMES + 1):
        made = copied(obj) if attempt < _MOST_NAMES else obj
        made["metadata"]["name"] = call.backend.generated_name(base)
        try:
            return await _create(call, made, options)
        except StatusError as error:
            if error.reason != "AlreadyExists" or attempt == _MOST_NAMES:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _create(call: Call, obj: dict[str, Any], options: WriteOptions) -> Entry:
    await prepare_new(call, obj, options)
    kind, backend, meta = call.kind, call.backend, obj["metadata"]
    name = meta["name"]
    if meta.get("resourceVersion"):
        raise unexplained("resourceVersion should not be set on objects to be created")
    meta.pop("resourceVersion", None)
    key = f"{meta['namespace']}/{name}" if kind.namespaced else name
    existing = backend.store.get(call.resource, key)
    if existing is not None:
        raise _taken(call, existing, meta)
    if options.is_dry_run:
        return await as_if_written(call, key, obj, 0)
    obj = as_kept(call, obj)
    made = await to_storage(call, obj)
    check_object_size(call, made)
    try:
        entry = backend.store.create(call.resource, key, made)
    except Exists:
        existing = backend.store.get(call.resource, key)
        assert existing is not None
        raise _taken(call, existing, meta) from None
    return as_written(call, entry, obj)


async def prepare_new(call: Call, obj: dict[str, Any], options: WriteOptions) -> None:
    """What is done with every new object before it is stored. Raises StatusError."""
    kind, backend, strategy = call.kind, call.backend, call.strategy
    meta = obj["metadata"]
    fill_system_fields(meta, backend.new_uid(), backend.timestamp())
    context = call.context(meta.get("name", ""), is_dry_run=options.is_dry_run)
    strategy.prepare_create(obj, context)
    errors = strategy.metadata_errors(meta, namespaced=kind.namespaced) + strategy.validate_create(obj, context)
    if errors := errors or name_errors(meta):
        raise invalid_object(kind, obj, errors)
    for text in strategy.warnings(obj, None, context):
        call.warn(text)
    if call.verb != "create":
        _check_may_create(call)
    if (admission := call.admission) is not None:
        attributes = call.attributes(_CREATE, meta["name"], obj, None, _given(options), options.is_dry_run)
        await admission.validate(attributes)


def _check_may_create(call: Call) -> None:
    """An update or an apply that makes an object takes the right to create it, too. Raises StatusError: 403."""
    authorizer, where = call.backend.authorizer, call.route
    if authorizer is None:
        return
    asked = AuthorizationAttributes(
        call.request.user,
        "create",
        where.group,
        where.plural,
        where.subresource,
        where.namespace,
        where.name,
        where.version,
    )
    decision = authorizer.authorize(asked)
    if not decision.allowed:
        raise refused(asked, decision.reason)


def _taken(call: Call, existing: Entry, meta: dict[str, Any]) -> StatusError:
    make = generate_name_conflict if meta.get("generateName") else already_exists
    error = make(call.kind, meta["name"])
    if existing.object["metadata"].get("deletionTimestamp"):
        error.message = f"object is being deleted: {error.message}"
    return error


def track(call: Call, live: dict[str, Any] | None, new: dict[str, Any], options: WriteOptions) -> None:
    """Note who owns which field, where somebody does."""
    if call.backend.field_manager is not None:
        manager = options.field_manager or manager_of(call.request.headers.get("user-agent", ""))
        call.backend.field_manager.update(call.kind, call.route.subresource, live, new, manager, call.backend.now())


def manager_of(user_agent: str) -> str:
    """The name of a field manager that does not say it: what comes before the first slash of its User-Agent."""
    printable = "".join(each for each in user_agent.partition("/")[0] if each.isprintable())
    return printable.encode()[:128].decode(errors="ignore") or "unknown"


def _given(options: WriteOptions) -> dict[str, Any]:
    return given_options("CreateOptions", options)


def given_options(kind: str, options: WriteOptions) -> dict[str, Any]:
    """Options as admission sees them."""
    made: dict[str, Any] = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if options.is_dry_run:
        made["dryRun"] = ["All"]
    if options.field_manager:
        made["fieldManager"] = options.field_manager
    if options.given_validation:
        made["fieldValidation"] = options.given_validation
    return made
