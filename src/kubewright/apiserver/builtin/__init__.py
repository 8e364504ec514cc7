"""The built-in kinds: their schemas, defaults, rules, columns and subresources, without a line of I/O.

`builtin_catalog()` gives the registry all of them; `BuiltIn` also answers for their OpenAPI components and Go types.
"""

from __future__ import annotations

from .catalog import BuiltIn, builtin_catalog

__all__ = ["BuiltIn", "builtin_catalog"]
