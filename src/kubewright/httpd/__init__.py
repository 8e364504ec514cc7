"""A small HTTP/1.1 server on asyncio: for probes, scrapes, webhooks and the embedded API server."""

__all__ = ["Address", "Answer", "BindError", "Dropped", "Handler", "HttpServer", "Limits", "Request", "Streaming"]

from .address import Address
from .server import BindError, HttpServer
from .values import Answer, Dropped, Handler, Limits, Request, Streaming
