"""CustomResourceDefinitions, live: from a definition that is stored to resource types that are served.

`CrdController` follows the definitions of a server; `definition_type` is the resource type of definitions themselves.
"""

__all__ = ["CrdController", "definition_type"]

from .controller import CrdController
from .definition import definition_type
