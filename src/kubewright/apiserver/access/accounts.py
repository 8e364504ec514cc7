"""Tokens of service accounts: what they claim, and until when that counts.

| token | ends with |
|---|---|
| issued (`serviceaccounts/NAME/token`) | its time, a minute late; the account; the Pod, Secret or Node it is bound to |
| of a Secret of type `kubernetes.io/service-account-token` (legacy) | the account; the Secret, or its content |

An object is meant by its uid: another one of its name is another one. One that is being deleted counts for another
minute. Rules: `kubernetes/pkg/serviceaccount/{claims,legacy}.go`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kubewright.schema.structural.gotext import quoted

from ..request import User
from ..store import Store
from .attributes import service_account
from .impersonation import split_account
from .jwt import BadSignature, SigningKey, claims_of

__all__ = ["AUDIENCES", "ISSUER", "AccountTokens", "TokenRefused"]

ISSUER: Final = "https://kubernetes.default.svc"
AUDIENCES: Final = (ISSUER,)
"""Who the server is to tokens that say for whom they are."""

CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
_LEGACY: Final = "kubernetes/serviceaccount"
_LEEWAY: Final = timedelta(minutes=1)
_EXTRA: Final = "authentication.kubernetes.io"
_LAST_USED: Final = "kubernetes.io/legacy-token-last-used"
_INVALID_SINCE: Final = "kubernetes.io/legacy-token-invalid-since"
_INVALIDATED: Final = "service account token has been invalidated"

Object = dict[str, Any]


class TokenRefused(Exception):
    """A token that is one of ours, and does not count. The text says why, in the server's words."""


class AccountTokens:
    """Issues tokens and knows whose they are.

    Args:
        store: of the accounts, and of what tokens are bound to.
        now: the clock that they expire by.
        key: signs them.
    """

    def __init__(self, store: Store, now: Callable[[], datetime], key: SigningKey) -> None:
        self._store, self._now, self.key = store, now, key

    def issue(
        self,
        account: Object,
        audiences: Sequence[str],
        seconds: int,
        token_id: str,
        bound: Mapping[str, Object],
        warn_after_seconds: int = 0,
    ) -> str:
        """A token.

        Args:
            account: the ServiceAccount.
            bound: what it is bound to, by kind in small letters (`pod`, and the `node` of the Pod).
            warn_after_seconds: when it ought to have been changed for another one; 0 for none.
        """
        meta, now = account["metadata"], int(self._now().timestamp())
        own: Object = {"namespace": meta["namespace"], "serviceaccount": _reference(account)}
        own |= {kind: _reference(each) for kind, each in bound.items()}
        if warn_after_seconds:
            own["warnafter"] = now + warn_after_seconds
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": token_id,
            "kubernetes.io": own,
            "nbf": now,
            "sub": f"system:serviceaccount:{meta['namespace']}:{meta['name']}",
        }
        return self.key.sign(claims)

    def user(self, token: str, audiences: Sequence[str]) -> tuple[User, tuple[str, ...]] | None:
        """Whose a token is, and for which of the wanted audiences; None for one that we have not issued.

        Raises TokenRefused.
        """
        claims = claims_of(token)
        if claims is None or claims.get("iss") not in (ISSUER, _LEGACY):
            return None
        try:
            self.key.verify(token)
        except BadSignature as error:
            raise TokenRefused(str(error)) from None
        said = claims.get("aud")
        meant = [said] if isinstance(said, str) else list(said or AUDIENCES)
        common = tuple(each for each in audiences if each in meant)
        if not common:
            shown, wanted = (" ".join(map(quoted, each)) for each in (meant, audiences))
            raise TokenRefused(f"token audiences [{shown}] is invalid for the target audiences [{wanted}]")
        if claims["iss"] == _LEGACY:
            return self._of_secret(token, claims), common
        self._check_times(claims)
        return self._checked(claims), common

    # -- issued tokens ------------------------------------------------------------------------------------------------

    def _check_times(self, claims: Object) -> None:
        now = self._now().timestamp()
        late = _LEEWAY.total_seconds()
        if now + late < claims.get("nbf", 0):
            raise TokenRefused("service account token is not valid yet")
        if now - late > claims.get("exp", 0):
            raise TokenRefused("service account token has expired")
        if now + late < claims.get("iat", 0):
            raise TokenRefused("service account token is issued in the future")

    def _checked(self, claims: Object) -> User:
        own = claims.get("kubernetes.io") or {}
        namespace, account = own.get("namespace", ""), own.get("serviceaccount") or {}
        self._check_account(namespace, account)
        extra: dict[str, tuple[str, ...]] = {}
        for kind in ("secret", "pod", "node"):
            reference = own.get(kind)
            if reference is None:
                continue
            if kind != "node" or "pod" not in own:
                self._check_bound(kind, "" if kind == "node" else namespace, reference)
            if kind != "secret":
                extra[f"{_EXTRA}/{kind}-name"] = (reference["name"],)
                if reference.get("uid"):
                    extra[f"{_EXTRA}/{kind}-uid"] = (reference["uid"],)
        if claims.get("jti"):
            extra[CREDENTIAL] = (f"JTI={claims['jti']}",)
        user = service_account(namespace, account["name"], account["uid"])
        return User(user.name, user.groups, user.uid, extra)

    def _check_account(self, namespace: str, reference: Object) -> None:
        found = self._found("serviceaccounts", namespace, reference.get("name", ""))
        if found is None:
            raise TokenRefused(f"serviceaccounts {quoted(reference.get('name', ''))} not found")
        uid = found["metadata"].get("uid", "")
        if uid != reference.get("uid"):
            raise TokenRefused(f"service account UID ({uid}) does not match claim ({reference.get('uid', '')})")
        if self._is_deleted(found):
            raise TokenRefused(f"service account {namespace}/{reference['name']} has been deleted")

    def _check_bound(self, kind: str, namespace: str, reference: Object) -> None:
        found = self._found(f"{kind}s", namespace, reference.get("name", ""))
        if found is None:
            raise TokenRefused(_INVALIDATED)
        uid = found["metadata"].get("uid", "")
        if uid != reference.get("uid"):
            said = f"{kind} UID ({uid}) does not match service account {kind} ref claim ({reference.get('uid', '')})"
            raise TokenRefused(said)
        if self._is_deleted(found):
            raise TokenRefused(_INVALIDATED)

    def _found(self, plural: str, namespace: str, name: str) -> Object | None:
        entry = self._store.get(f"/{plural}", f"{namespace}/{name}" if namespace else name)
        return None if entry is None else entry.object

    def _is_deleted(self, obj: Object) -> bool:
        at = obj["metadata"].get("deletionTimestamp")
        return bool(at) and datetime.fromisoformat(at) < self._now() - _LEEWAY

    # -- legacy tokens ------------------------------------------------------------------------------------------------

    def _of_secret(self, token: str, claims: Object) -> User:
        read = {name: str(claims.get(f"kubernetes.io/serviceaccount/{name}") or "") for name in _CLAIMS}
        for name, claim in (("", "sub"), *_CLAIMS.items()):
            if not (claims.get("sub") if claim == "sub" else read[name]):
                raise TokenRefused(f"{claim} claim is missing")
        namespace, account, uid, name = (read[each] for each in _CLAIMS_READ)
        if split_account(str(claims["sub"])) != (namespace, account):
            raise TokenRefused("sub claim is invalid")
        secret = self._found("secrets", namespace, name)
        if secret is None or secret["metadata"].get("deletionTimestamp"):
            raise TokenRefused("Token has been invalidated")
        import hmac  # takes longer than a server, and few ever need it

        kept = base64.b64decode((secret.get("data") or {}).get("token") or "")
        if not hmac.compare_digest(kept, token.encode()):
            raise TokenRefused("Token does not match server's copy")
        found = self._found("serviceaccounts", namespace, account)
        if found is None:
            raise TokenRefused(f"serviceaccounts {quoted(account)} not found")
        if found["metadata"].get("deletionTimestamp"):
            raise TokenRefused(f"ServiceAccount {namespace}/{account} has been deleted")
        if found["metadata"].get("uid") != uid:
            raise TokenRefused(f"ServiceAccount UID ({found['metadata'].get('uid')}) does not match claim ({uid})")
        self._note_use(namespace, name)
        if (secret["metadata"].get("labels") or {}).get(_INVALID_SINCE):
            raise TokenRefused(
                f"the token in secret {namespace}/{name} for service account {namespace}/{account} has been marked "
                "invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the "
                f"'{_INVALID_SINCE}' label from the secret to temporarily allow use of this token"
            )
        return service_account(namespace, account, uid)

    def _note_use(self, namespace: str, name: str) -> None:
        """Say at the Secret on which day its token was last used."""
        key, today = f"{namespace}/{name}", self._now().strftime("%Y-%m-%d")
        entry = self._store.get("/secrets", key)
        assert entry is not None, "it was found just now"
        meta = entry.object["metadata"]
        labels = meta.get("labels") or {}
        if labels.get(_LAST_USED, "") < today:
            changed = {**entry.object, "metadata": {**meta, "labels": {**labels, _LAST_USED: today}}}
            self._store.update("/secrets", key, changed, entry)


_CLAIMS: Final = {
    "namespace": "namespace",
    "secret.name": "secretName",
    "service-account.name": "serviceAccountName",
    "service-account.uid": "serviceAccountUID",
}
_CLAIMS_READ: Final = ("namespace", "service-account.name", "service-account.uid", "secret.name")


def _reference(obj: Object) -> Object:
    meta = obj["metadata"]
    found = {"name": meta["name"]}
    return {**found, "uid": meta["uid"]} if meta.get("uid") else found
