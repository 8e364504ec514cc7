"""Checks of Services, Endpoints and EndpointSlices. One family of addresses: IPv4."""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import dns_label, dns_subdomain

from .labels import labels
from .texts import (
    Errors,
    Object,
    check,
    dns_label_errors,
    ip_errors,
    one_of,
    port_number,
    port_or_name,
    qualified_errors,
)

__all__ = ["cidr_errors", "cluster_ips", "endpoint_ip", "endpoints", "is_headless", "service", "service_update"]

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_POLICIES: Final = ("Cluster", "Local")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_ONLY_BALANCED: Final = "may only be used when `type` is 'LoadBalancer'"


def is_headless(spec: Object) -> bool:
    """Whether a Service has no address of its own by wish."""
    return bool(spec.get("clusterIPs")) and spec["clusterIPs"][0] == "None"


def service(obj: Object, old: Object | None = None) -> Errors:
    """Errors of a Service."""
    spec = obj["spec"]
    kind, ports = spec.get("type", ""), spec.get("ports") or []
    headless = is_headless(spec)
    errors: Errors = []
    if not ports and not headless and kind != "ExternalName":
        errors.append(required("spec.ports"))
    errors += _of_type(spec, kind, headless)
    errors += _ports(ports)
    errors += labels("spec.selector", spec.get("selector"))
    affinity = spec.get("sessionAffinity", "")
    errors += one_of("spec.sessionAffinity", affinity, ("ClientIP", "None"))
    if affinity == "ClientIP":
        errors += _affinity(spec.get("sessionAffinityConfig"))
    errors += cluster_ips(spec)
    for place, ip in enumerate(spec.get("externalIPs", ())):
        where = f"spec.externalIPs[{place}]"
        errors += ip_errors(where, ip) or endpoint_ip(where, ip)
    errors += one_of("spec.type", kind, _TYPES)
    errors += _node_ports(ports, kind) + _same_ports(ports)
    return errors + _balancing(spec, kind) + _traffic(spec, kind)


def _of_type(spec: Object, kind: str, headless: bool) -> Errors:
    if kind in ("LoadBalancer", "NodePort") and headless:
        return [invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")]
    if kind != "ExternalName":
        return []
    said = "may not be set for ExternalName services"
    errors = [
        forbidden(f"spec.{name}", said) for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy") if spec.get(name)
    ]
    name = spec.get("externalName", "").removesuffix(".")
    return errors + (check("spec.externalName", name, dns_subdomain) if name else [required("spec.externalName")])


def _ports(ports: list[Object]) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for place, port in enumerate(ports):
        here, name = f"spec.ports[{place}]", port.get("name", "")
        if name:
            errors += dns_label_errors(f"{here}.name", name)
            if name in names:
                errors.append(duplicate(f"{here}.name", name))
            names.add(name)
        elif len(ports) > 1:
            errors.append(required(f"{here}.name"))
        errors += check(f"{here}.port", port.get("port", 0), port_number)
        errors += one_of(f"{here}.protocol", port.get("protocol", ""), _PROTOCOLS)
        errors += port_or_name(f"{here}.targetPort", port.get("targetPort", 0))
        if (application := port.get("appProtocol")) is not None:
            errors += qualified_errors(f"{here}.appProtocol", application)
    return errors


def _affinity(config: Object | None) -> Errors:
    seconds: Any = ((config or {}).get("clientIP") or {}).get("timeoutSeconds", 0)
    if 0 < seconds <= 86400:
        return []
    where = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
    return [invalid(where, seconds, "must be greater than 0 and less than 86400")]


def cluster_ips(spec: Object) -> Errors:
    """Errors of the addresses and families of a Service."""
    if spec.get("type") == "ExternalName":
        return []
    errors: Errors = []
    first, found, families = spec.get("clusterIP", ""), spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    if first:
        if not found:
            errors.append(required("spec.clusterIPs"))
        elif found[0] != first:
            errors.append(invalid("spec.clusterIPs", found, "first value must match `clusterIP`"))
    elif found:
        errors.append(invalid("spec.clusterIPs", found, "must be empty when `clusterIP` is not specified"))
    for place, family in enumerate(families):
        if family not in ("IPv4", "IPv6"):
            errors.append(not_supported(f"spec.ipFamilies[{place}]", family, ("IPv4", "IPv6")))
        if family in families[:place]:
            errors.append(duplicate(f"spec.ipFamilies[{place}]", family))
    policy = spec.get("ipFamilyPolicy")
    known = ("PreferDualStack", "RequireDualStack", "SingleStack")
    if policy is not None and policy not in known:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, known))
    broken = _addresses(found)
    errors += broken
    if len(found) > 2:
        errors.append(invalid("spec.clusterIPs", found, "may only hold up to 2 values"))
    if broken:
        return errors
    kinds = ["IPv6" if ":" in ip else "IPv4" for ip in found]
    if len(found) > 1 and len(set(kinds)) == 1:
        errors.append(invalid("spec.clusterIPs", found, "may specify no more than one IP for each IP family"))
    if not is_headless(spec):
        for place, (ip, kind, family) in enumerate(zip(found, kinds, families, strict=False)):
            if kind != family and family in ("IPv4", "IPv6"):
                said = f"expected an {family} value as indicated by `ipFamilies[{place}]`"
                errors.append(invalid(f"spec.clusterIPs[{place}]", ip, said))
    return errors


def _addresses(found: list[str]) -> Errors:
    errors: Errors = []
    for place, ip in enumerate(found):
        if ip == "None" and place == 0:
            if len(found) > 1:
                errors.append(invalid("spec.clusterIPs", found, "'None' must be the first and only value"))
            continue
        errors += ip_errors(f"spec.clusterIPs[{place}]", ip)
    return errors


def _node_ports(ports: list[Object], kind: str) -> Errors:
    errors: Errors = []
    if kind == "ClusterIP":
        said = "may not be used when `type` is 'ClusterIP'"
        errors += [
            forbidden(f"spec.ports[{place}].nodePort", said) for place, port in enumerate(ports) if port.get("nodePort")
        ]
    seen: set[tuple[Any, Any]] = set()
    for place, port in enumerate(ports):
        if number := port.get("nodePort"):
            key = (port.get("protocol"), number)
            if key in seen:
                errors.append(duplicate(f"spec.ports[{place}].nodePort", number))
            seen.add(key)
    return errors


def _same_ports(ports: list[Object]) -> Errors:
    errors: Errors = []
    seen: set[tuple[Any, Any]] = set()
    for place, port in enumerate(ports):
        key = (port.get("protocol"), port.get("port"))
        if key in seen:
            # The internal type has no JSON names: all its fields are shown.
            shown = GoStruct(Name="", Protocol=key[0], AppProtocol=None, Port=key[1], TargetPort=0, NodePort=0)
            errors.append(duplicate(f"spec.ports[{place}]", shown))
        seen.add(key)
    return errors


def _balancing(spec: Object, kind: str) -> Errors:
    errors: Errors = []
    if ranges := spec.get("loadBalancerSourceRanges"):
        where = "spec.LoadBalancerSourceRanges"
        if kind != "LoadBalancer":
            errors.append(forbidden(where, _ONLY_BALANCED))
        for place, each in enumerate(ranges):
            errors += cidr_errors(f"{where}[{place}]", each.strip())
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCED))
    if (name := spec.get("loadBalancerClass")) is not None:
        if kind != "LoadBalancer":
            errors.append(forbidden("spec.loadBalancerClass", _ONLY_BALANCED))
        else:
            errors += qualified_errors("spec.loadBalancerClass", name)
    return errors


def cidr_errors(path: str, value: str) -> Errors:
    """Errors of a range of addresses."""
    try:
        if "/" not in value:
            raise ValueError
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        said = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        return [invalid(path, value, said)]
    return []


def _traffic(spec: Object, kind: str) -> Errors:
    errors: Errors = []
    policy, where = spec.get("externalTrafficPolicy", ""), "spec.externalTrafficPolicy"
    is_external = kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    if not is_external:
        if policy:
            errors.append(invalid(where, policy, "may only be set for externally-accessible services"))
    else:
        errors += one_of(where, policy, _POLICIES)
    port, where = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if not (kind == "LoadBalancer" and policy == "Local"):
        if port:
            said = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            errors.append(invalid(where, port, said))
    else:
        errors += check(where, port, port_number) if port else [required(where)]
    internal, where = spec.get("internalTrafficPolicy"), "spec.internalTrafficPolicy"
    if internal is None:
        errors += [required(where)] if kind in ("NodePort", "LoadBalancer", "ClusterIP") else []
    elif internal not in _POLICIES:
        errors.append(not_supported(where, internal, _POLICIES))
    wanted = spec.get("trafficDistribution")
    if wanted is not None and wanted not in _DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", wanted, _DISTRIBUTIONS))
    return errors


def service_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Service."""
    errors: Errors = []
    after, before = new["spec"], old["spec"]
    if "ExternalName" not in (after.get("type"), before.get("type")):
        ours, theirs = after.get("clusterIPs") or [], before.get("clusterIPs") or []
        if theirs and ours and ours[0] != theirs[0]:
            errors.append(invalid("spec.clusterIPs[0]", ours, "may not change once set"))
        elif theirs and not ours:
            errors.append(invalid("spec.clusterIPs[0]", ours or None, "primary clusterIP can not be unset"))
        ours, theirs = after.get("ipFamilies") or [], before.get("ipFamilies") or []
        if theirs and ours and ours[0] != theirs[0]:
            errors.append(invalid("spec.ipFamilies[0]", ours, "may not change once set"))
    now, was = after.get("loadBalancerClass"), before.get("loadBalancerClass")
    if after.get("type") == "LoadBalancer" and before.get("type") == "LoadBalancer" and now != was:
        errors.append(invalid("spec.loadBalancerClass", now, "may not change once set"))
    return errors + service(new, old)


# -- Endpoints --------------------------------------------------------------------------------------------------------


def endpoint_ip(path: str, value: str) -> Errors:
    """Errors of an address that traffic cannot be sent to."""
    ip = ipaddress.ip_address(value)
    errors: Errors = []
    if ip.is_unspecified:
        errors.append(invalid(path, value, f"may not be unspecified ({value})"))
    if ip.is_loopback:
        said = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        errors.append(invalid(path, value, said))
    if ip.is_link_local:
        said = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        errors.append(invalid(path, value, said))
    if ip.is_multicast and ip in ipaddress.ip_network("224.0.0.0/24"):
        said = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        errors.append(invalid(path, value, said))
    return errors


def endpoints(obj: Object) -> Errors:
    """Errors of Endpoints."""
    errors: Errors = []
    for place, subset in enumerate(obj.get("subsets", ())):
        here = f"subsets[{place}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            errors.append(required(here, "must specify `addresses` or `notReadyAddresses`"))
        for name in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(name, ())):
                errors += _address(f"{here}.{name}[{number}]", address)
        ports = subset.get("ports", ())
        for number, port in enumerate(ports):
            errors += _endpoint_port(f"{here}.ports[{number}]", port, needs_name=len(ports) > 1)
    return errors


def _address(path: str, address: Object) -> Errors:
    value = address.get("ip", "")
    errors = ip_errors(f"{path}.ip", value)
    if errors:
        errors.append(invalid(f"{path}.ip", value, "must be a valid IP address"))
    else:
        errors = endpoint_ip(f"{path}.ip", value)
    if host := address.get("hostname"):
        errors += check(f"{path}.hostname", host, dns_label)
    if (node := address.get("nodeName")) is not None:
        errors += check(f"{path}.nodeName", node, dns_subdomain)
    return errors


def _endpoint_port(path: str, port: Object, *, needs_name: bool) -> Errors:
    errors: Errors = []
    if name := port.get("name"):
        errors += dns_label_errors(f"{path}.name", name)
    elif needs_name:
        errors.append(required(f"{path}.name"))
    errors += check(f"{path}.port", port.get("port", 0), port_number)
    return errors + one_of(f"{path}.protocol", port.get("protocol", ""), _PROTOCOLS)
