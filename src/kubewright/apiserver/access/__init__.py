"""Who asks, and who may do what: authentication, authorization by roles, reviews of both.

| module | owns |
|---|---|
| `attributes` | what an authorizer is asked and answers |
| `rules`, `rbac` | policy rules; from users over bindings to rules |
| `authorization` | the filter in front of the server |
| `authentication` | from credentials to a user |
| `bootstrap` | the roles and bindings of a new cluster |
| `reviews` | access reviews |
| `control` | all of it, for one server |
"""

__all__ = [
    "AuthorizationAttributes",
    "Authorizer",
    "Decision",
    "service_account",
]

from .attributes import AuthorizationAttributes, Authorizer, Decision, service_account
