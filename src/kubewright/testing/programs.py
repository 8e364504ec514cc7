"""The programs a control plane is made of, by name.

Owns the names, the environment variable that points at each, and which programs a given control plane needs. The
variables of etcd, kube-apiserver and kubectl are those of controller-runtime's envtest; the others follow their rule.
"""

from __future__ import annotations

import re

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
KUBECTL = "kubectl"
KWOK = "kwok"

PROGRAMS = (ETCD, API_SERVER, CONTROLLER_MANAGER, KUBECTL, SCHEDULER, KWOK)
ENVTEST_PROGRAMS = (ETCD, API_SERVER, KUBECTL)
"""What the tarballs of the envtest index hold."""


def variable_of(program: str) -> str:
    """Return the environment variable that names the program's file, for example TEST_ASSET_KUBE_APISERVER."""
    return "TEST_ASSET_" + program.upper().replace("-", "_")


def needed(*, controllers: bool = False, scheduler: bool = False, nodes: bool = False) -> tuple[str, ...]:
    """Return the programs that a control plane with these parts needs, in the order of `PROGRAMS`."""
    wanted = {
        *ENVTEST_PROGRAMS,
        *([CONTROLLER_MANAGER] if controllers else []),
        *([SCHEDULER] if scheduler else []),
        *([KWOK] if nodes else []),
    }
    return tuple(program for program in PROGRAMS if program in wanted)


def version_key(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Return a sort key for "v1.37.2" or "1.37.2-rc.1": a pre-release sorts before its release."""
    numbers, _, pre_release = version.removeprefix("v").partition("-")
    return tuple(int(part) for part in re.findall(r"\d+", numbers)), not pre_release, pre_release
