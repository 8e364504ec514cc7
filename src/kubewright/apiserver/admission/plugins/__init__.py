"""The admission plugins of single kinds, which every server runs.

A plugin is a row of a table: its name, the resources that it is about, and up to two functions. They see the objects of
requests and, through `World`, what is stored; they do not wait for anybody. Their order is that of the real server.
"""

__all__ = ["Plugin", "World", "plugins_by_resource"]

from .table import plugins_by_resource
from .world import Plugin, World
