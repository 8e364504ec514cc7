"""What a real server makes of a patch of a built-in kind, a server in this process makes of it too."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from both import Both, compared
from differential import Real
from known_differences import KNOWN_OF_PATCHES
from patch_cases import BASES, PATCHES

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def both(control_plane: ClusterAccess) -> Iterator[Both]:
    real = Real(control_plane.url, control_plane.pki)
    name = f"patches-{uuid.uuid4().hex[:8]}"
    assert real.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
    servers = Both(real, name)
    for base in BASES.values():
        servers.make(base)
    yield servers
    for base in BASES.values():
        servers.remove(base)
    real.send("DELETE", f"/api/v1/namespaces/{name}")


@pytest.mark.parametrize("name", sorted(PATCHES))
def test_a_patch_is_applied_or_refused_as_by_a_real_server(name: str, both: Both) -> None:
    base, media, patch = PATCHES[name]
    ours, theirs = compared(both.ask("PATCH", f"{both.path(BASES[base])}?dryRun=All", patch, media))
    if name in KNOWN_OF_PATCHES:
        assert ours != theirs, f"{name}: is no difference any more; take it out of known_differences"
    else:
        assert ours == theirs
