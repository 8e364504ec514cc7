"""The patch types of an API server, as pure functions on JSON values: what goes in is never changed.

| function | media type | rule |
|---|---|---|
| `json_patch` | `application/json-patch+json` | RFC 6902, as `evanphx/json-patch` v4 reads it |
| `merge_patch` | `application/merge-patch+json` | RFC 7386 |
| `strategic_merge_patch` | `application/strategic-merge-patch+json` | `apimachinery/pkg/util/strategicpatch` |

What cannot be applied is a `PatchError`, which has code, reason and message of the Status that the real server answers
with. Whether the result is a valid object is not asked here.
"""

from __future__ import annotations

from .errors import PatchError
from .jsonpatch import json_patch
from .mergepatch import merge_patch
from .strategic import PatchMeta, strategic_merge_patch

__all__ = ["PatchError", "PatchMeta", "json_patch", "merge_patch", "strategic_merge_patch"]
