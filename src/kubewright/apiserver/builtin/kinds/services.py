"""How Services get addresses and ports, and what they lose when their type changes.

The network is one family, IPv4. Addresses and node ports are the first free ones above those that a cluster keeps for
who asks for one (`registry/core/service`): a server of one process has no need of chance, and tests like order.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError, invalid

from ...errors import StatusError, internal, invalid_of
from ...strategy import Context
from ..validation import statuses, warnings
from ..validation.services import cluster_ips, is_headless, service, service_update
from ..validation.texts import Object
from .checks import changed

__all__ = ["NETWORK", "SERVICE"]

NETWORK: Final = ipaddress.ip_network("10.96.0.0/12")
_KEPT_ADDRESSES: Final = 256
"""Addresses at the start of the network that are given only to who asks for one."""
_NODE_PORTS: Final = range(30000, 32768)
_KEPT_PORTS: Final = 86


def _needs_address(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def _needs_ports(spec: Object) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _needs_health_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _refuse(obj: Object, *errors: FieldError) -> Exception:
    return invalid_of("Service", "", "Service", obj["metadata"].get("name", ""), list(errors))


def _others(obj: Object, context: Context) -> Iterator[Object]:
    """What is taken by others. A new Service that is there already is another one: it cannot have its own ports."""
    meta = obj["metadata"]
    uid = meta.get("uid")
    for each in context.objects("", "services", ""):
        other = each["metadata"]
        is_same = (other["name"], other.get("namespace")) == (meta.get("name"), meta.get("namespace"))
        if not is_same or other.get("uid") != uid:
            yield each["spec"]


# -- addresses --------------------------------------------------------------------------------------------------------


def _allocate(obj: Object, context: Context) -> None:
    """Give a new Service what it needs and does not have."""
    spec = obj["spec"]
    _families(obj)
    if _needs_address(spec) and not is_headless(spec):
        _address(obj, context)
    if _needs_ports(spec):
        _ports(obj, context)
    if _needs_health_port(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = _free_port(_used_ports(obj, context))


def _reallocate(new_obj: Object, old_obj: Object, context: Context) -> None:
    """Give a changed Service what it needs now. An address stays as it is; validation sees to that."""
    new, old = new_obj["spec"], old_obj["spec"]
    _families(new_obj)
    if _needs_address(new) and not _needs_address(old) and not is_headless(new):
        _address(new_obj, context)
    if _needs_ports(new):
        _new_ports(new_obj, old_obj, context)
    if _needs_health_port(new) and not _needs_health_port(old) and not new.get("healthCheckNodePort"):
        new["healthCheckNodePort"] = _free_port(_used_ports(new_obj, context))


def _families(obj: Object) -> None:
    spec = obj["spec"]
    if not _needs_address(spec):
        return
    selectorless = is_headless(spec) and not spec.get("selector")
    policy = spec.setdefault("ipFamilyPolicy", "RequireDualStack" if selectorless else "SingleStack")
    if errors := cluster_ips(spec):
        raise _refuse(obj, *errors)
    families, ips = list(spec.get("ipFamilies", ())), spec.get("clusterIPs") or []
    if policy == "SingleStack":
        said = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
        if len(ips) == 2:
            errors.append(invalid("spec.ipFamilyPolicy", policy, f"{said} cluster IPs are specified"))
        if len(families) == 2:
            errors.append(invalid("spec.ipFamilyPolicy", policy, f"{said} IP families are specified"))
    for place, ip in enumerate(ips):
        if ip == "None" or place < len(families):
            continue
        if ":" in ip:
            said = "IPv6 is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{place}]", ips, said))
        else:
            families.append("IPv4")
    if errors:
        raise _refuse(obj, *errors)
    if selectorless:
        families = families or ["IPv4"]
        if len(families) < 2 and policy != "SingleStack":
            families.append("IPv6" if families[0] == "IPv4" else "IPv4")
        spec["ipFamilies"] = families
        return
    if policy == "RequireDualStack":
        said = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", policy, said))
    for place, family in enumerate(families):
        if family != "IPv4":
            errors.append(invalid(f"spec.ipFamilies[{place}]", family, "not configured on this cluster"))
    if errors:
        raise _refuse(obj, *errors)
    spec["ipFamilies"] = families or ["IPv4"]


def _address(obj: Object, context: Context) -> None:
    spec = obj["spec"]
    found = spec.get("clusterIPs") or []
    used = {ip for each in _others(obj, context) for ip in each.get("clusterIPs", ())}
    if not found:
        ip = _free_address(used)
        spec["clusterIP"], spec["clusterIPs"] = ip, [ip]
        return
    ip = found[0]
    address = ipaddress.ip_address(ip)
    if address not in NETWORK or address in (NETWORK.network_address, NETWORK.broadcast_address):
        # A dry run asks the allocator of one range, a write all of them.
        one = f"the provided IP ({ip}) is not in the valid range. The range of valid IPs is {NETWORK}"
        said = one if context.is_dry_run else "the provided network does not match the current range"
        raise _refuse(obj, invalid("spec.clusterIPs", found, f"failed to allocate IP {ip}: {said}"))
    if ip in used:
        said = f"failed to allocate IP {ip}: provided IP is already allocated"
        raise _refuse(obj, invalid("spec.clusterIPs", found, said))


def _free_address(used: set[str]) -> str:
    first = int(NETWORK.network_address)
    size = NETWORK.num_addresses
    for offset in (*range(_KEPT_ADDRESSES, size - 1), *range(1, _KEPT_ADDRESSES)):
        ip = str(ipaddress.IPv4Address(first + offset))
        if ip not in used:
            return ip
    raise internal("failed to allocate a serviceIP: range is full")


# -- node ports -------------------------------------------------------------------------------------------------------


def _used_ports(obj: Object, context: Context) -> set[tuple[str, int]]:
    used: set[tuple[str, int]] = set()
    for each in (*_others(obj, context), obj["spec"]):
        for port in each.get("ports") or ():
            if port.get("nodePort"):
                used.add((port.get("protocol", "TCP"), port["nodePort"]))
        if each.get("healthCheckNodePort"):
            used.add(("TCP", each["healthCheckNodePort"]))
    return used


def _free_port(used: set[tuple[str, int]]) -> int:
    taken = {number for _, number in used}
    for number in chain(_NODE_PORTS[_KEPT_PORTS:], _NODE_PORTS[:_KEPT_PORTS]):
        if number not in taken:
            return number
    raise internal("failed to allocate a nodePort: range is full")


def _taken(obj: Object, context: Context) -> set[tuple[str, int]]:
    """The node ports of other Services."""
    return {
        (port.get("protocol", "TCP"), port["nodePort"])
        for each in _others(obj, context)
        for port in each.get("ports") or ()
        if port.get("nodePort")
    }


def _check_port(obj: Object, place: int, number: int, protocol: str, taken: set[tuple[str, int]]) -> None:
    where = f"spec.ports[{place}].nodePort"
    if number not in _NODE_PORTS:
        said = "provided port is not in the valid range. The range of valid ports is 30000-32767"
        raise _refuse(obj, invalid(where, number, said))
    if (protocol, number) in taken:
        raise _refuse(obj, invalid(where, number, "provided port is already allocated"))


def _ports(obj: Object, context: Context) -> None:
    used, taken, spec = _used_ports(obj, context), _taken(obj, context), obj["spec"]
    given: dict[int, int] = {}
    for place, port in enumerate(spec.get("ports") or ()):
        number, protocol = port.get("nodePort"), port.get("protocol", "TCP")
        if number:
            _check_port(obj, place, number, protocol, taken)
            given[port.get("port", 0)] = number
        elif spec.get("allocateLoadBalancerNodePorts", True):
            # One port of two protocols gets one node port, if it can.
            shared = given.get(port.get("port", 0))
            if shared is None or (protocol, shared) in used:
                shared = _free_port(used)
            port["nodePort"] = given[port.get("port", 0)] = shared
            used.add((protocol, shared))


def _new_ports(new: Object, old: Object, context: Context) -> None:
    used, taken, spec = _used_ports(new, context), _taken(new, context), new["spec"]
    before = {port.get("nodePort", 0) for port in old["spec"].get("ports") or ()}
    seen: set[tuple[str, int]] = set()
    for place, port in enumerate(spec.get("ports") or ()):
        number, protocol = port.get("nodePort"), port.get("protocol", "TCP")
        if number:
            if number not in before:
                _check_port(new, place, number, protocol, taken)
        elif spec.get("allocateLoadBalancerNodePorts", True):
            number = port["nodePort"] = _free_port(used)
            used.add((protocol, number))
        else:
            continue
        if (protocol, number) in seen:
            raise StatusError(500, "", f"duplicate nodePort: {{{protocol} {number}}}")
        seen.add((protocol, number))


# -- the rules --------------------------------------------------------------------------------------------------------


def _prepare_create(obj: Object, context: Context) -> None:
    spec = obj["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    _allocate(obj, context)
    _no_traffic_inside(obj)


def _no_traffic_inside(obj: Object) -> None:
    """A name elsewhere has no traffic inside; a server leaves the default of other types out when it is read."""
    if not _needs_address(obj["spec"]) and obj["spec"].get("internalTrafficPolicy") in ("Cluster", "Local"):
        del obj["spec"]["internalTrafficPolicy"]


def _prepare_update(new: Object, old: Object, context: Context) -> None:
    _keep_allocated(new["spec"], old["spec"])
    _in_step(new["spec"], old["spec"])
    _reallocate(new, old, context)
    _drop_of_old_type(new, old)
    _no_traffic_inside(new)


def _keep_allocated(new: Object, old: Object) -> None:
    if _needs_address(old) and _needs_address(new):
        for name in ("clusterIP", "clusterIPs"):
            if not new.get(name) and old.get(name):
                new[name] = old[name]
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if not new.get(name) and old.get(name):
                new[name] = old[name]
    if _needs_ports(old) and _needs_ports(new):
        before = {port.get("name", ""): port.get("nodePort", 0) for port in old.get("ports") or ()}
        used = {port["nodePort"] for port in new.get("ports") or () if port.get("nodePort")}
        for port in new.get("ports") or ():
            known = before.get(port.get("name", ""), 0)
            if not port.get("nodePort") and known and known not in used:
                port["nodePort"] = known
    if _needs_health_port(old) and _needs_health_port(new) and old.get("healthCheckNodePort"):
        new.setdefault("healthCheckNodePort", old["healthCheckNodePort"])


def _in_step(new: Object, old: Object) -> None:
    """`clusterIPs` follows `clusterIP`, which older clients write alone."""
    if new.get("clusterIP") == old.get("clusterIP"):
        return
    same_list = new.get("clusterIPs") == old.get("clusterIPs")
    if not new.get("clusterIP") and same_list:
        new.pop("clusterIPs", None)
    elif new.get("clusterIP") and same_list:
        new["clusterIPs"] = [new["clusterIP"]]


def _drop_of_old_type(new_obj: Object, old_obj: Object) -> None:
    new, old = new_obj["spec"], old_obj["spec"]
    if _needs_address(old) and not _needs_address(new):
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if new.get(name) == old.get(name):
                new.pop(name, None)
    if _needs_ports(old) and not _needs_ports(new):
        before = {port.get("nodePort") for port in old.get("ports") or ()}
        if all(port.get("nodePort") in before for port in new.get("ports") or () if port.get("nodePort")):
            for port in new.get("ports") or ():
                port.pop("nodePort", None)
    if _needs_health_port(old) and not _needs_health_port(new):
        _drop_same(new, old, "healthCheckNodePort")
    if old.get("type") == "LoadBalancer" != new.get("type"):
        _drop_same(new, old, "allocateLoadBalancerNodePorts")
        _drop_same(new, old, "loadBalancerClass")
    if _is_external(old) and not _is_external(new):
        _drop_same(new, old, "externalTrafficPolicy")
    if new.get("type") != "LoadBalancer" and "status" in new_obj:
        new_obj["status"] = {**new_obj["status"], "loadBalancer": {}}


def _is_external(spec: Object) -> bool:
    return _needs_ports(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _drop_same(new: Object, old: Object, name: str) -> None:
    if new.get(name) == old.get(name):
        new.pop(name, None)


def _validate(obj: Object, context: Context) -> list[FieldError]:
    return service(obj)


def _validate_update(new: Object, old: Object, context: Context) -> list[FieldError]:
    return service_update(new, old)


def _cluster_ip(obj: Object) -> str:
    return str(obj["spec"].get("clusterIP", ""))


def _type(obj: Object) -> str:
    return str(obj["spec"].get("type", ""))


SERVICE: Final[dict[str, Any]] = {
    "has_status": True,
    "create_on_update": True,
    "returns_deleted": True,
    "prepare_create": _prepare_create,
    "prepare_update": _prepare_update,
    "validate": _validate,
    "warnings": warnings.service,
    "validate_update": _validate_update,
    "validate_status": changed(statuses.service),
    "labels": {"spec.clusterIP": _cluster_ip, "spec.type": _type},
}
