"""Checks of ConfigMaps and Secrets."""

from __future__ import annotations

import base64
import json
from typing import Final

from kubewright.schema.structural.fielderrors import FieldError, forbidden, invalid, required, too_long

from .texts import Errors, Object, check, config_map_key, immutable

__all__ = ["config_map", "config_map_update", "secret", "secret_update"]

_MOST_BYTES: Final = 1024 * 1024
_FIXED: Final = "field is immutable when `immutable` is set"


def _size(encoded: str) -> int:
    return len(encoded) // 4 * 3 - encoded.count("=", -2)


def config_map(obj: Object) -> Errors:
    """Errors of a ConfigMap."""
    errors: Errors = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        errors += check(f"data[{key}]", key, config_map_key)
        if key in binary:
            errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        errors += check(f"binaryData[{key}]", key, config_map_key)
    total = sum(len(each.encode()) for each in data.values()) + sum(map(_size, binary.values()))
    if total > _MOST_BYTES:
        errors.append(FieldError("FieldValueTooLong", "[]", "", f"may not be more than {_MOST_BYTES} bytes"))
    return errors


def _unchanged(new: Object, old: Object, names: tuple[str, ...]) -> Errors:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _FIXED)]
    return errors + [forbidden(name, _FIXED) for name in names if (new.get(name) or {}) != (old.get(name) or {})]


def config_map_update(new: Object, old: Object) -> Errors:
    """Errors of a changed ConfigMap."""
    return _unchanged(new, old, ("data", "binaryData")) + config_map(new)


def secret(obj: Object) -> Errors:
    """Errors of a Secret."""
    data, kind = obj.get("data") or {}, obj.get("type", "")
    errors: Errors = []
    for key in data:
        errors += check(f"data[{key}]", key, config_map_key)
    if sum(map(_size, data.values())) > _MOST_BYTES:
        errors.append(too_long("data", _MOST_BYTES))
    if kind == "kubernetes.io/service-account-token":
        name = "kubernetes.io/service-account.name"
        if not obj["metadata"].get("annotations", {}).get(name):
            errors.append(required(f"metadata.annotations[{name}]"))
    elif kind in _DOCKER:
        errors += _docker(data, _DOCKER[kind])
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors += [required("data[username]"), required("data[password]")]
    elif kind == "kubernetes.io/ssh-auth":
        errors += [] if data.get("ssh-privatekey") else [required("data[ssh-privatekey]")]
    elif kind == "kubernetes.io/tls":
        errors += [required(f"data[{name}]") for name in ("tls.crt", "tls.key") if name not in data]
    return errors


_DOCKER: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def _docker(data: Object, key: str) -> Errors:
    if key not in data:
        return [required(f"data[{key}]")]
    text = base64.b64decode(data[key] or "")
    try:
        found = json.loads(text)
    except ValueError:
        said = "unexpected end of JSON input" if not text.strip() else _bad_json(text)
        return [invalid(f"data[{key}]", "<secret contents redacted>", said)]
    if found is not None and not isinstance(found, dict):
        said = "json: cannot unmarshal into Go value of type map[string]interface {}"
        return [invalid(f"data[{key}]", "<secret contents redacted>", said)]
    return []


def _bad_json(text: bytes) -> str:
    first = text.decode(errors="replace").lstrip()[0]
    return f"invalid character '{first}' looking for beginning of value"


def secret_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Secret."""
    errors = _unchanged(new, old, ("data",)) + secret(new)
    return errors + immutable("type", new.get("type", ""), old.get("type", ""))
