"""The embedded Kubernetes API server: in memory, in process or behind HTTP. For tests and first steps."""

__all__ = [
    "ADMIN",
    "ApiServer",
    "Catalog",
    "Context",
    "GenericStrategy",
    "Request",
    "ResourceType",
    "Response",
    "StatusError",
    "Storage",
    "Store",
    "Strategy",
    "Stream",
    "Subresource",
    "User",
    "new_server",
]

from .assembly import new_server
from .catalog import Catalog, ResourceType, Storage, Subresource
from .errors import StatusError
from .request import ADMIN, Request, Response, Stream, User
from .server import ApiServer
from .store import Store
from .strategy import Context, GenericStrategy, Strategy
