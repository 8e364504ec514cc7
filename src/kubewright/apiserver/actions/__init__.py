"""What stores nothing of its own: evicting a Pod, binding it to a node, going through to what is behind the server."""

__all__ = ["REACHING", "bind", "bind_by_name", "evict"]

from .binding import bind, bind_by_name
from .eviction import evict
from .reaching import REACHING
