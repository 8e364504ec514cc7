"""What a POST does that stores nothing of its own: evicting a Pod, binding it to a node."""

__all__ = ["bind", "bind_by_name", "evict"]

from .binding import bind, bind_by_name
from .eviction import evict
