"""A small HTTP/1.1 server on asyncio: for probes, scrapes, webhooks and the embedded API server."""

__all__ = ["Address", "Answer", "BindError", "Dropped", "Handler", "HttpServer", "Limits", "Request", "Streaming"]

from typing import TYPE_CHECKING

from kubewright._lazy import loading

if TYPE_CHECKING:
    from .address import Address
    from .server import BindError, HttpServer
    from .values import Answer, Dropped, Handler, Limits, Request, Streaming

# An operator that serves nothing, as by default, needs the values only.
__getattr__ = loading(
    __name__,
    {
        ".address": ("Address",),
        ".server": ("BindError", "HttpServer"),
        ".values": ("Answer", "Dropped", "Handler", "Limits", "Request", "Streaming"),
    },
)
