"""Tables: what `kubectl get` shows, made by the server from the columns of a kind."""

__all__ = ["Table", "human_duration", "human_since", "table_transform"]

from .ages import human_duration, human_since
from .tables import Table, table_transform
