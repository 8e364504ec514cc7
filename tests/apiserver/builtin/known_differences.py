"""Writes on which the strategies and the real server do not agree, and why that is so."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "service: node port out of range": "a dry run on the real server does not ask the allocator of node ports",
    "autoscaler: behavior bad": "an empty list is read as none here: objects come back from protobuf that way, and "
    "only the defaults of autoscalers can tell the two apart before",
}

KNOWN_OF_PATCHES: dict[str, str] = {
    "merge: an object for a scalar": "the text shows the whole object, with the real server's managed fields",
    "merge: a scalar for an object": "the text shows the whole object, with the real server's managed fields",
}

KNOWN_OF_TABLES: dict[str, str] = {
    "IPAddress 10.200.0.5": "the real server has a cell more than columns, the age, which kubectl does not show",
}

_STRUCT = "the text shows the structs inside of the real server, with Go's names and all empty fields"

KNOWN_OF_CHANGES: dict[str, str] = {
    "job: template": _STRUCT,
    "statefulset: claims": _STRUCT,
    "suspended job: image": _STRUCT,
}

KNOWN_OF_FIELD_LABELS: dict[str, tuple[str, ...]] = {
    # Nothing is selected by the namespace of what has none; here every kind takes the label.
    "certificates.k8s.io/v1 certificatesigningrequests": ("metadata.namespace",),
    "certificates.k8s.io/v1 clustertrustbundles": ("metadata.namespace",),
    "certificates.k8s.io/v1 podcertificaterequests": ("metadata.namespace",),
    "resource.k8s.io/v1 resourceslices": ("metadata.namespace",),
    "v1 namespaces": ("metadata.namespace",),
    "v1 nodes": ("metadata.namespace",),
}
