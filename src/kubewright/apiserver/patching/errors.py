"""Why a patch was refused, with what the real server answers: `PatchError`."""

from __future__ import annotations

from typing import Final

from ..errors import StatusError

__all__ = ["PatchError", "bad_request", "too_many_operations", "unexplained", "unprocessable"]

_UNPROCESSABLE: Final = "the server rejected our request due to an error in our request"


class PatchError(StatusError):
    """A patch that cannot be applied. `why` is the reason, also where the server keeps it to itself."""

    def __init__(self, code: int, reason: str, message: str, why: str, *, has_details: bool = False) -> None:
        super().__init__(code, reason, message, {} if has_details else None)
        self.why = why


def bad_request(why: str) -> PatchError:
    """The patch itself has no sense."""
    return PatchError(400, "BadRequest", why, why)


def unprocessable(why: str) -> PatchError:
    """The patch does not fit the object. The server does not say why."""
    return PatchError(422, "Invalid", _UNPROCESSABLE, why, has_details=True)


def unexplained(why: str) -> PatchError:
    """An error that the real server has no code for: a 500 without a reason."""
    return PatchError(500, "", why, why)


def too_many_operations(found: int, most: int) -> PatchError:
    """A JSON patch that is too long."""
    why = f"The allowed maximum operations in a JSON patch is {most}, got {found}"
    return PatchError(413, "RequestEntityTooLarge", f"Request entity too large: {why}", why)
