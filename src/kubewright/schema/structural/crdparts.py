"""The parts of a CRD beside its schemas: names, columns, subresources, selectable fields, conversion, deprecation."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from .crdpaths import CelPathError, follow
from .fielderrors import (
    FieldError,
    child,
    duplicate,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
    too_many,
)
from .metarules import dns_subdomain, old_dns_label

__all__ = [
    "column_errors",
    "conversion_errors",
    "name_errors",
    "selectable_errors",
    "subresource_errors",
    "warning_errors",
]

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE: Final = 8
_REVIEWS: Final = ("v1", "v1beta1")
_STRATEGIES: Final = ("None", "Webhook")
_LONGEST_WARNING: Final = 256
_MOST_PORT: Final = 65535
_URL_FORM: Final = "; desired format: https://host[/path]"


def name_errors(names: Mapping[str, Any], path: str) -> list[FieldError]:
    """Names that are no DNS labels, and a list kind that is the kind."""
    errors: list[FieldError] = []
    mixed = "may have mixed case, but should otherwise match: "
    for field in ("plural", "singular"):
        name = names.get(field) or ""
        if name and (problems := old_dns_label(name)):
            errors.append(invalid(child(path, field), name, ",".join(problems)))
    kind, list_kind = names.get("kind") or "", names.get("listKind") or ""
    for field, name in (("kind", kind), ("listKind", list_kind)):
        if name and (problems := old_dns_label(name.lower())):
            errors.append(invalid(child(path, field), name, mixed + ",".join(problems)))
    errors += _labels(names.get("shortNames") or [], child(path, "shortNames"))
    if kind and kind == list_kind:
        errors.append(invalid(child(path, "listKind"), list_kind, "kind and listKind may not be the same"))
    return errors + _labels(names.get("categories") or [], child(path, "categories"))


def _labels(names: Sequence[str], path: str) -> list[FieldError]:
    return [
        invalid(index(path, place), name, ",".join(problems))
        for place, name in enumerate(names)
        if (problems := old_dns_label(name))
    ]


def warning_errors(version: Mapping[str, Any], path: str) -> list[FieldError]:
    """A deprecation warning: one printable line of at most 256 bytes, of a deprecated version."""
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    if not version.get("deprecated"):
        return [invalid(path, warning, "can only be set for deprecated versions")]
    problems = []
    if len(warning.encode()) > _LONGEST_WARNING:
        problems.append("must be <= 256 characters long")
    if not warning:
        problems.append("must not be an empty string")
    position = 0
    for character in warning:
        if not character.isprintable() and unicodedata.category(character) != "Zs":
            found = f"non-printable character found at index {position}"
            problems.append(f"must only contain printable UTF-8 characters; {found}")
            break
        position += len(character.encode())
    return [invalid(path, warning, each) for each in problems]


def column_errors(column: Mapping[str, Any], path: str) -> list[FieldError]:
    """A printer column: name, known type and format, a path with a leading dot."""
    errors: list[FieldError] = []
    if not column.get("name"):
        errors.append(required(child(path, "name")))
    kind, one_of = column.get("type") or "", f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        errors.append(required(child(path, "type"), one_of))
    elif kind not in _COLUMN_TYPES:
        errors.append(invalid(child(path, "type"), kind, one_of))
    form = column.get("format") or ""
    if form and form not in _COLUMN_FORMATS:
        errors.append(invalid(child(path, "format"), form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    where, json_path = child(path, "JSONPath"), column.get("jsonPath") or ""
    return [*errors, *(_simple_path(json_path, where) if json_path else [required(where)])]


def _simple_path(path: str, where: str) -> list[FieldError]:
    return [] if path.startswith(".") else [invalid(where, path, "must be a simple json path starting with .")]


def subresource_errors(subresources: Mapping[str, Any] | None, path: str) -> list[FieldError]:
    """The paths of the scale subresource."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    errors: list[FieldError] = []
    for name, below in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        where, found = child(path, f"scale.{name}"), scale.get(name) or ""
        if not found:
            errors.append(required(where))
        elif problems := _simple_path(found, where):
            errors += problems
        elif not found.startswith(f"{below}."):
            errors.append(invalid(where, found, f"should be a json path under {below}"))
    found = scale.get("labelSelectorPath") or ""
    where = child(path, "scale.labelSelectorPath")
    if found and (problems := _simple_path(found, where)):
        errors += problems
    elif found and not found.startswith((".spec.", ".status.")):
        errors.append(invalid(where, found, "should be a json path under either .spec or .status"))
    return errors


def selectable_errors(fields: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], path: str) -> list[FieldError]:
    """Selectable fields: at most eight, each once, scalars, no arrays on the way."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for place, field in enumerate(fields):
        where, wanted = child(index(path, place), "jsonPath"), field.get("jsonPath") or ""
        if not wanted:
            errors.append(required(where))
            continue
        try:
            shown, found = follow(schema, wanted, brackets=False)
        except CelPathError as error:
            errors.append(invalid(where, wanted, f"is an invalid path: {error}"))
            continue
        if shown.partition(".")[0] == "metadata":
            errors.append(invalid(where, wanted, "must not point to fields in metadata"))
        if found.get("type") not in ("string", "boolean", "integer"):
            said = "must point to a field of type string, boolean or integer."
            errors.append(invalid(where, wanted, f"{said} Enum string fields and strings with formats are allowed."))
        if shown in seen:
            errors.append(duplicate(where, wanted))
        seen.add(shown)
    if len(seen) > _MOST_SELECTABLE:
        errors.append(too_many(path, len(seen), _MOST_SELECTABLE))
    return errors


def conversion_errors(conversion: Mapping[str, Any], path: str) -> list[FieldError]:
    """Strategy None, or Webhook with where to call and which reviews it understands."""
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    where = child(path, "strategy")
    errors: list[FieldError] = []
    if not strategy:
        errors.append(required(where))
    elif strategy not in _STRATEGIES:
        errors.append(not_supported(where, strategy, _STRATEGIES))
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    at_client, at_reviews = child(path, "webhookClientConfig"), child(path, "conversionReviewVersions")
    if strategy != "Webhook":
        said = "should not be set when strategy is not set to Webhook"
        errors += [forbidden(at_client, said)] if client is not None else []
        return errors + ([forbidden(at_reviews, said)] if reviews else [])
    if client is None:
        errors.append(required(at_client, "required when strategy is set to Webhook"))
    else:
        errors += _client_errors(client, at_client)
    return errors + _review_errors(reviews, at_reviews)


def _client_errors(client: Mapping[str, Any], path: str) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if service is None:
        return _url_errors(url or "", child(path, "url"))
    where, errors = child(path, "service"), []
    # The server calls its check with the two names swapped, and reports an empty one under the other's.
    errors += [required(child(where, "name"))] if not service.get("namespace") else []
    errors += [required(child(where, "namespace"))] if not service.get("name") else []
    port = service.get("port", 443)
    if not 1 <= port <= _MOST_PORT:
        said = f"port is not valid: must be between 1 and {_MOST_PORT}, inclusive"
        errors.append(invalid(child(where, "port"), port, said))
    return errors + _url_path_errors(service.get("path") or "", child(where, "path"))


def _url_path_errors(path: str, where: str) -> list[FieldError]:
    if path in ("", "/"):
        return []
    if path == "//":
        return [invalid(where, path, "segment[0] may not be empty")]
    errors = [] if path.startswith("/") else [invalid(where, path, "must start with a '/'")]
    for place, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(invalid(where, path, f"segment[{place}] may not be empty"))
            continue
        errors += [invalid(where, path, f"segment[{place}]: {each}") for each in dns_subdomain(step)]
    return errors


def _url_errors(url: str, path: str) -> list[FieldError]:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [required(path, f"url must be a valid URL: {error}{_URL_FORM}")]
    errors: list[FieldError] = []
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_URL_FORM}"))
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, host, f"host must be specified{_URL_FORM}"))
    if at:
        errors.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def _review_errors(reviews: Sequence[str], path: str) -> list[FieldError]:
    if not reviews:
        return [required(path)]
    errors: list[FieldError] = []
    for place, version in enumerate(reviews):
        if version in reviews[:place]:
            errors.append(invalid(index(path, place), version, "duplicate version"))
            continue
        errors += [invalid(index(path, place), version, each) for each in old_dns_label(version)]
    if not any(version in _REVIEWS for version in reviews):
        errors.append(invalid(path, list(reviews), f"must include at least one of {', '.join(_REVIEWS)}"))
    return errors
