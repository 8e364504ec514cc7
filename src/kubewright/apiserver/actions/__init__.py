"""What a POST does that stores nothing of its own: evicting a Pod, binding it to a node, asking who one is."""

__all__ = ["bind", "bind_by_name", "evict", "who_am_i"]

from .binding import bind, bind_by_name
from .eviction import evict
from .whoami import who_am_i
