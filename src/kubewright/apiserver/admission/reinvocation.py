"""What the second round of mutating admission has to know of the first: `Reinvocation`.

Each plugin that can be asked again has one. A second round comes when somebody changed the object in the first; there
it asks those who were asked before something changed, and want to be. Rules: apiserver/pkg/admission/reinvocation.go,
apiserver/pkg/admission/plugin/webhook/mutating/reinvocationcontext.go.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from kubewright.schema.structural.values import copied, same

__all__ = ["Reinvocation"]


class Reinvocation(Struct):
    """The rounds of one plugin in one request."""

    is_second: bool = False
    is_wanted: bool = False
    last: Any = None
    """What the plugin left behind in the first round."""
    invoked: set[str] = field(default_factory=set)
    """Who was asked, and wants to be asked again if something changes."""
    due: set[str] = field(default_factory=set)
    """Who is to be asked again."""

    def begin(self, obj: Any) -> None:
        """A round begins with the object as it is now."""
        if self.is_second and not same(self.last, obj):
            self._something_changed()

    def asks(self, key: str) -> bool:
        """Whether somebody is asked in this round."""
        return not self.is_second or key in self.due

    def asked(self, key: str, *, is_changed: bool, is_reinvocable: bool) -> None:
        """Note that somebody was asked, whether that changed the object, and whether to ask again is wanted."""
        if is_changed:
            self._something_changed()
            self.is_wanted = True
        if is_reinvocable:
            self.invoked.add(key)

    def end(self, obj: Any) -> None:
        """A round ends; what the first one leaves behind is kept, as the object may be changed in place."""
        if not self.is_second:
            self.last = copied(obj)

    def _something_changed(self) -> None:
        """Those who were asked so far are asked again."""
        self.due |= self.invoked
        self.invoked.clear()
