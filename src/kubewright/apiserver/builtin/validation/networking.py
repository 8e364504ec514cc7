"""Checks of Ingresses, IngressClasses, NetworkPolicies and EndpointSlices."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required, too_many
from kubewright.schema.structural.metarules import dns_label, dns_subdomain, label_value, path_segment

from .jobs import domain_path
from .labels import label_selector
from .services import cidr_errors, endpoint_ip
from .texts import (
    Errors,
    Object,
    check,
    dns_label_errors,
    fixed,
    immutable,
    ip_errors,
    port_name,
    port_number,
    qualified_errors,
    regex_error,
)

__all__ = [
    "endpoint_slice",
    "endpoint_slice_update",
    "ingress",
    "ingress_class",
    "ingress_class_update",
    "network_policy",
]

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WILDCARD: Final = rf"\*\.{_LABEL}(\.{_LABEL})*"
_WILDCARD_SAID: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_BAD_PARTS: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS: Final = ("/..", "/.")
_PATHS: Final = ("Exact", "ImplementationSpecific", "Prefix")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")


# -- Ingress ----------------------------------------------------------------------------------------------------------


def ingress(obj: Object, *, is_new: bool = True) -> Errors:
    """Errors of an Ingress."""
    spec = obj["spec"]
    rules, default = spec.get("rules", []), spec.get("defaultBackend")
    errors: Errors = []
    if not rules and default is None:
        errors.append(invalid("spec", None, "either `defaultBackend` or `rules` must be specified"))
    if default is not None:
        errors += _backend("spec.defaultBackend", default)
    for place, rule in enumerate(rules):
        errors += _rule(f"spec.rules[{place}]", rule)
    for place, tls in enumerate(spec.get("tls", ())):
        here = f"spec.tls[{place}]"
        for number, host in enumerate(tls.get("hosts", ())):
            errors += _host(f"{here}.hosts[{number}]", host)
        if name := tls.get("secretName"):
            errors += check(f"{here}.secretName", name, dns_subdomain)
    chosen = spec.get("ingressClassName")
    if chosen is not None:
        errors += check("spec.ingressClassName", chosen, dns_subdomain)
        key = "kubernetes.io/ingress.class"
        old = obj["metadata"].get("annotations", {}).get(key)
        if is_new and old is not None and old != chosen:
            said = "must match `ingressClassName` when both are specified"
            errors.append(invalid(f"annotations.{key}", old, said))
    return errors


def _host(path: str, host: str) -> Errors:
    if "*" not in host:
        return check(path, host, dns_subdomain)
    errors: Errors = []
    if len(host.encode()) > 253:
        errors.append(invalid(path, host, "must be no more than 253 characters"))
    if re.fullmatch(_WILDCARD, host) is None:
        errors.append(invalid(path, host, regex_error(_WILDCARD_SAID, _WILDCARD, "*.example.com")))
    return errors


def _rule(path: str, rule: Object) -> Errors:
    errors: Errors = []
    if host := rule.get("host"):
        if not ip_errors("", host):
            errors.append(invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        errors += _host(f"{path}.host", host)
    http = rule.get("http")
    if http is None:
        return errors
    paths = http.get("paths") or []
    if not paths:
        errors.append(required(f"{path}.http.paths"))
    for place, each in enumerate(paths):
        errors += _path(f"{path}.http.paths[{place}]", each)
    return errors


def _path(path: str, found: Object) -> Errors:
    kind, target = found.get("pathType"), found.get("path", "")
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    errors: Errors = []
    where = f"{path}.path"
    if kind in ("Exact", "Prefix"):
        if not target.startswith("/"):
            errors.append(invalid(where, target, "must be an absolute path"))
        if target:
            errors += [invalid(where, target, f"must not contain '{each}'") for each in _BAD_PARTS if each in target]
            ends = [each for each in _BAD_ENDS if target.endswith(each)]
            errors += [invalid(where, target, f"cannot end with '{each}'") for each in ends]
    elif kind == "ImplementationSpecific":
        if target and not target.startswith("/"):
            errors.append(invalid(where, target, "must be an absolute path"))
    else:
        errors.append(not_supported(f"{path}.pathType", kind, _PATHS))
    return errors + _backend(f"{path}.backend", found.get("backend") or {})


def _backend(path: str, backend: Object) -> Errors:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _reference(f"{path}.resource", resource)
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    name, port = service.get("name", ""), service.get("port") or {}
    errors = check(f"{path}.service.name", name, dns_label) if name else [required(f"{path}.service.name")]
    called, number = port.get("name", ""), port.get("number", 0)
    if called and number:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif called:
        errors += check(f"{path}.service.port.name", called, port_name)
    elif number:
        errors += check(f"{path}.service.port.number", number, port_number)
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def _reference(path: str, reference: Object) -> Errors:
    errors: Errors = []
    if (group := reference.get("apiGroup")) is not None:
        errors += check(f"{path}.apiGroup", group, dns_subdomain)
    for name in ("kind", "name"):
        value = reference.get(name, "")
        errors += check(f"{path}.{name}", value, path_segment) if value else [required(f"{path}.{name}")]
    return errors


def ingress_class(obj: Object) -> Errors:
    """Errors of an IngressClass."""
    spec = obj["spec"]
    errors = domain_path("spec.controller", spec.get("controller", ""))
    parameters, here = spec.get("parameters"), "spec.parameters"
    if parameters is None:
        return errors
    found = _reference(here, parameters)
    missing = [each for each in found if each.reason == "FieldValueRequired"]
    errors += [each for each in found if each not in missing]
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope not in ("Cluster", "Namespace"):
        known = ("Cluster", "Namespace")
        errors.append(not_supported(f"{here}.scope", scope, known) if scope else required(f"{here}.scope"))
    elif scope == "Namespace":
        where, said = f"{here}.namespace", "`parameters.scope` is set to 'Namespace'"
        errors += check(where, namespace, dns_label) if namespace else [required(where, said)]
    elif namespace is not None:
        errors.append(forbidden(f"{here}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors + missing


def ingress_class_update(new: Object, old: Object) -> Errors:
    """Errors of a changed IngressClass."""
    after, before = (each["spec"].get("controller", "") for each in (new, old))
    return immutable("spec.controller", after, before) + ingress_class(new)


# -- NetworkPolicy ----------------------------------------------------------------------------------------------------


def network_policy(obj: Object) -> Errors:
    """Errors of a NetworkPolicy."""
    spec = obj["spec"]
    errors = label_selector("spec.podSelector", spec.get("podSelector"))
    missing: Errors = []
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for place, rule in enumerate(spec.get(direction, ())):
            here = f"spec.{direction}[{place}]"
            for number, port in enumerate(rule.get("ports", ())):
                errors += _policy_port(f"{here}.ports[{number}]", port)
            for number, peer in enumerate(rule.get(peers, ())):
                where = f"{here}.{peers}[{number}]"
                errors += _peer(where, peer)
                if "ipBlock" in peer and not peer["ipBlock"].get("cidr"):
                    missing.append(required(f"{where}.ipBlock.cidr"))
    types = spec.get("policyTypes", [])
    if len(types) > 2:
        return [*errors, invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    for place, each in enumerate(types):
        if each not in ("Ingress", "Egress"):
            errors.append(not_supported(f"spec.policyTypes[{place}]", each, ("Ingress", "Egress")))
    # What the types declare is checked after what is written by hand.
    return errors + missing


def _policy_port(path: str, found: Object) -> Errors:
    errors: Errors = []
    protocol, port, end = found.get("protocol"), found.get("port"), found.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    where = f"{path}.endPort"
    if port is None:
        if end is not None:
            errors.append(invalid(where, end, "may not be specified when `port` is not specified"))
    elif isinstance(port, int):
        errors += check(f"{path}.port", port, port_number)
        if end is not None:
            if end < port:
                errors.append(invalid(where, end, "must be greater than or equal to `port`"))
            errors += check(where, end, port_number)
    else:
        if end is not None:
            errors.append(invalid(where, end, "may not be specified when `port` is non-numeric"))
        errors += check(f"{path}.port", port, port_name)
    return errors


def _peer(path: str, peer: Object) -> Errors:
    errors: Errors = []
    found = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if name in peer]
    for name in found:
        if name == "ipBlock":
            errors += _block(f"{path}.ipBlock", peer[name])
        else:
            errors += label_selector(f"{path}.{name}", peer[name])
    if not found:
        errors.append(required(path, "must specify a peer"))
    elif len(found) > 1 and "ipBlock" in found:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _block(path: str, block: Object) -> Errors:
    whole = block.get("cidr", "")
    if not whole:
        return []
    if errors := cidr_errors(f"{path}.cidr", whole):
        return errors
    network = ipaddress.ip_network(whole, strict=False)
    for place, part in enumerate(block.get("except", ())):
        where = f"{path}.except[{place}]"
        if problems := cidr_errors(where, part):
            errors += problems
            continue
        inner = ipaddress.ip_network(part, strict=False)
        is_part = inner.version == network.version and inner.network_address in network
        if not is_part or network.prefixlen >= inner.prefixlen:
            errors.append(invalid(where, part, "must be a strict subset of `cidr`"))
    return errors


# -- EndpointSlice ----------------------------------------------------------------------------------------------------

_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")


def endpoint_slice(obj: Object) -> Errors:
    """Errors of an EndpointSlice."""
    kind = obj.get("addressType", "")
    errors = _slice_ports(obj.get("ports") or [])
    found = obj.get("endpoints") or []
    if len(found) > 1000:
        errors.append(too_many("endpoints", len(found), 1000))
    else:
        for place, each in enumerate(found):
            errors += _endpoint(f"endpoints[{place}]", each, kind)
    if not kind:
        errors.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    for place, each in enumerate(found):
        if not each.get("addresses"):
            errors.append(required(f"endpoints[{place}].addresses"))
    return errors


def _slice_ports(ports: list[Object]) -> Errors:
    if len(ports) > 20000:
        return [too_many("ports", len(ports), 20000)]
    errors: Errors = []
    names: set[str] = set()
    for place, port in enumerate(ports):
        here, name, protocol = f"ports[{place}]", port.get("name", ""), port.get("protocol")
        if name:
            errors += dns_label_errors(f"{here}.name", name)
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if protocol not in ("SCTP", "TCP", "UDP"):
            errors.append(not_supported(f"{here}.protocol", protocol or "", ("SCTP", "TCP", "UDP")))
        if (application := port.get("appProtocol")) is not None:
            errors += qualified_errors(f"{here}.appProtocol", application)
    return errors


def _endpoint(path: str, endpoint: Object, kind: str) -> Errors:
    errors: Errors = []
    for place, address in enumerate(endpoint.get("addresses") or ()):
        errors += _slice_address(f"{path}.addresses", place, address, kind)
    if (node := endpoint.get("nodeName")) is not None:
        errors += check(f"{path}.nodeName", node, dns_subdomain)
    if (host := endpoint.get("hostname")) is not None:
        errors += dns_label_errors(f"{path}.hostname", host)
    hints = endpoint.get("hints") or {}
    errors += _hints(f"{path}.hints.forZones", (each.get("name", "") for each in hints.get("forZones", ())))
    return errors


def _slice_address(path: str, place: int, address: str, kind: str) -> Errors:
    here = f"{path}[{place}]"
    if kind in ("IPv4", "IPv6"):
        if errors := ip_errors(here, address):
            return errors
        is_other = (ipaddress.ip_address(address).version == 4) != (kind == "IPv4")
        wrong = [invalid(path, address, f"must be an {kind} address")] if is_other else []
        return [*wrong, *endpoint_ip(here, address)]
    return []


def _hints(path: str, names: Iterable[str]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, name in enumerate(names):
        where = f"{path}[{place}].name"
        if name in seen:
            errors.append(duplicate(where, name))
        seen.add(name)
        errors += check(where, name, label_value)
    return errors


def endpoint_slice_update(new: Object, old: Object) -> Errors:
    """Errors of a changed EndpointSlice."""
    return endpoint_slice(new) + fixed("addressType", new.get("addressType"), old.get("addressType"))
