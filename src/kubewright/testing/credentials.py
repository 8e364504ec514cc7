"""The files by which the parts of one control plane know one another.

Owns which certificates there are and under what name they lie (see `components.Layout.pki`). Refuses to know how
they are made (`certs`). All files are readable by their owner only: whoever has the client authority's key is
administrator.
"""

from __future__ import annotations

from kubewright.testing import certs, components
from kubewright.testing.access import ADMIN, ADMIN_GROUPS
from kubewright.testing.files import write_private
from kubewright.testing.kubeconfig import render

_SERVICE_ADDRESS = "10.0.0.1"
"""The first address of the service range, which the `kubernetes` service gets."""


def write_credentials(layout: components.Layout, name: str) -> None:
    """Write new authorities, certificates and the administrator's kubeconfig, where cluster and context are `name`.

    The keys of service accounts are kept if they exist: with kept data, tokens that were issued before stay valid.
    """
    layout.pki.mkdir(mode=0o700, exist_ok=True)
    serving = certs.Authority.create(f"{name} serving CA")
    clients = certs.Authority.create(f"{name} client CA")
    hosts = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
    admin = clients.client(ADMIN, ADMIN_GROUPS)
    pairs = {
        "serving-ca": serving.pair,
        "client-ca": clients.pair,
        "apiserver": serving.serving("kube-apiserver", hosts, (components.ADDRESS, "::1", _SERVICE_ADDRESS)),
        "kwok": serving.serving("kwok", ("localhost",), (components.ADDRESS,)),
        "admin": admin,
    }
    for file, pair in pairs.items():
        write_private(layout.pki / f"{file}.crt", pair.certificate)
        write_private(layout.pki / f"{file}.key", pair.key)
    if not (layout.pki / "sa.key").exists():
        accounts = certs.service_account_keys()
        write_private(layout.pki / "sa.pub", accounts.certificate)
        write_private(layout.pki / "sa.key", accounts.key)
    text = render(name=name, url=layout.url, ca=serving.pair.certificate, user=ADMIN, credentials=admin)
    write_private(layout.kubeconfig, text.encode())
