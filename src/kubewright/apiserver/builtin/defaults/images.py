"""Which tag the reference of a container image has (`distribution/reference`)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["image_tag"]

_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_REFERENCE: Final = re.compile(
    rf"(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?",
    re.ASCII,
)
_LONGEST_NAME: Final = 255


def image_tag(image: str) -> str:
    """The tag; `latest` where there is neither tag nor digest; "" where there is none or the text is no reference."""
    match = _REFERENCE.fullmatch(image)
    if match is None or re.fullmatch(r"[a-f0-9]{64}", image) or len(image) > _LONGEST_NAME + 200:
        return ""
    if match["tag"] is None and match["digest"] is None:
        return "latest"
    return match["tag"] or ""
