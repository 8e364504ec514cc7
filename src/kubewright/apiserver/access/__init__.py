"""Who asks, and who may do what: authentication, authorization by roles, reviews of both.

| module | owns |
|---|---|
| `attributes` | what an authorizer is asked and answers |
| `rules`, `rbac` | policy rules; from users over bindings to rules |
| `authorization` | the filter in front of the server |
| `authentication` | from credentials to a user |
| `bootstrap`, `reconciling` | the roles and bindings of a new cluster, and of one that starts again |
| `escalation` | nobody gives away what one does not have |
| `impersonation` | acting as somebody else |
| `reviews`, `tokenreviews`, `whoami` | who may what, whose a token is, who one is |
| `accounts`, `jwt`, `tokenrequests`, `issuer` | tokens of service accounts |
| `aggregation` | roles that are made of others |
| `recorder` | from what was done to the rules that it takes |
| `control` | all of it, for one server |

The recorder is loaded when it is first used: a server that starts has no use for it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Comparison, RulesUsed

__all__ = [
    "AuthorizationAttributes",
    "Authorizer",
    "Comparison",
    "Decision",
    "RulesUsed",
    "privileged",
    "service_account",
]

from .attributes import AuthorizationAttributes, Authorizer, Decision, privileged, service_account


def __getattr__(name: str) -> Any:
    if name in ("Comparison", "RulesUsed"):
        from . import recorder

        return getattr(recorder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
