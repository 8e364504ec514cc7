"""What a server says of itself: discovery, OpenAPI, version, health. All that is asked for beside resources."""

__all__ = ["OpenApi", "discovery", "health", "root_paths", "version"]

from .discovery import discovery
from .health import health, version
from .openapi import OpenApi
from .root import root_paths
