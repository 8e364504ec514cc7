"""What the second round of mutating admission has to know of the first: `Reinvocation`.

Each plugin that can be asked again has one. A second round comes when somebody changed the object in the first; there
it asks those who were asked before something changed, and want to be. Rules: apiserver/pkg/admission/reinvocation.go,
apiserver/pkg/admission/plugin/webhook/mutating/reinvocationcontext.go.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

__all__ = ["Reinvocation"]


class Reinvocation(Struct):
    """The rounds of one plugin in one request."""

    is_second: bool = False
    is_wanted: bool = False
    last: Any = None
    """What the plugin left behind."""
    invoked: set[str] = field(default_factory=set)
    """Who was asked, and wants to be asked again if something changes."""
    due: set[str] = field(default_factory=set)
    """Who is to be asked again."""

    def something_changed(self) -> None:
        """Those who were asked so far are asked again."""
        self.due |= self.invoked
        self.invoked.clear()
