"""Webhooks as they are configured: `Hook`, one of a configuration, compiled; and calling one.

Configurations are in the order of their names, webhooks in that of their configuration. Rules:
apiserver/pkg/admission/configuration, apiserver/pkg/admission/plugin/webhook/generic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.values import is_too_deep

from ..bodies import json_problem
from ..catalog import ResourceType
from ..crds.conversion import WebhookFailed
from ..errors import bad_request, forbidden
from ..registry.backend import Attributes, Backend, ObjectKind
from ..registry.decoding import called_in_go
from ..store import Entry
from .reviews import Verdict, denial, review_of, verdict_of
from .rules import RuleSet, Scopes

if TYPE_CHECKING:
    from kubewright.schema.cel.admission import MatchConditions

    from ..access.attributes import Authorizer

__all__ = ["CallFailed", "Caller", "Hook", "decoded_patch", "hooks_of"]

_NO_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_TIMEOUT_SECONDS: Final = 10.0


class Caller(Protocol):
    """Calls webhooks."""

    async def post(
        self, client_config: Mapping[str, Any], review: dict[str, Any], timeout_seconds: float
    ) -> dict[str, Any]:
        """Post a review, give the answer. Raises WebhookFailed."""


class CallFailed(Exception):
    """A webhook without a usable answer: the failure policy decides. The text is the server's."""


class Hook:
    """One webhook of a configuration. `key` tells it apart from all others, of the same name too."""

    def __init__(self, configuration: str, webhook: Mapping[str, Any], number: int) -> None:
        self.configuration, self.name = configuration, str(webhook.get("name", ""))
        self.key = f"{configuration}/{self.name}/{number}"
        self.is_reinvocable = webhook.get("reinvocationPolicy") == "IfNeeded"
        self.fails_open = webhook.get("failurePolicy") == "Ignore"
        self._rules = RuleSet(webhook.get("rules"), webhook.get("matchPolicy") or "Equivalent")
        self._scopes = Scopes(webhook.get("namespaceSelector"), webhook.get("objectSelector"))
        self._side_effects = webhook.get("sideEffects")
        self._versions: Sequence[str] = webhook.get("admissionReviewVersions") or ()
        self._client: Mapping[str, Any] = webhook.get("clientConfig") or {}
        self._seconds = float(webhook.get("timeoutSeconds") or _TIMEOUT_SECONDS)
        self._conditions: Sequence[Mapping[str, Any]] = webhook.get("matchConditions") or ()

    @cached_property
    def _matcher(self) -> MatchConditions:
        from kubewright.schema.cel.admission import MatchConditions  # most webhooks have none

        return MatchConditions(self._conditions, failure_policy="Ignore" if self.fails_open else "Fail")

    def matched(self, attributes: Attributes, backend: Backend) -> ResourceType | None:
        """As which resource the request is for the webhook, match conditions apart; None: it is not.

        Raises StatusError: a selector cannot be asked.
        """
        is_exempt, error = self._scopes.exempt(attributes, backend.store)
        if is_exempt:
            return None
        found = self._rules.match(attributes, backend.catalog)
        if found is not None and error is not None:
            raise error
        return found

    def meets_conditions(
        self,
        attributes: Attributes,
        seen: ResourceType,
        kind: ObjectKind,
        obj: dict[str, Any] | None,
        old: dict[str, Any] | None,
        authorizer: Authorizer | None,
    ) -> bool:
        """Whether the match conditions hold. Raises StatusError: 403, nobody knows."""
        if not self._conditions:
            return True
        from .inputs import inputs_of

        result = self._matcher.match(inputs_of(attributes, seen, kind, obj, old, authorizer))
        if result.error:
            raise forbidden(attributes.kind, attributes.name, result.error)
        return result.matches

    async def call(
        self,
        attributes: Attributes,
        seen: ResourceType,
        kind: ObjectKind,
        obj: dict[str, Any] | None,
        old: dict[str, Any] | None,
        *,
        caller: Caller,
        uid: str,
        mutates: bool,
    ) -> Verdict:
        """Ask the webhook; what it warns of and annotates is said.

        Raises:
            CallFailed: there is no usable answer.
            StatusError: it says no, or may not be asked in a dry run.
        """
        if attributes.is_dry_run and self._side_effects not in _NO_SIDE_EFFECTS:
            if self._side_effects is None:
                raise self.failed("Webhook SideEffects is nil")
            raise bad_request(f"admission webhook {quoted(self.name)} does not support dry run")
        try:
            review, version = review_of(attributes, seen, kind, obj, old, uid, self._versions)
            try:
                answer = await caller.post(self._client, review, self._seconds)
            except WebhookFailed as error:
                raise WebhookFailed(f"failed to call webhook: {error}") from None
            verdict = verdict_of(answer, uid, version, mutates=mutates)
        except WebhookFailed as error:
            raise self.failed(str(error)) from None
        for name, value in verdict.annotations.items():
            attributes.annotate(f"{self.name}/{name}", value)
        for text in verdict.warnings:
            attributes.warn(text)
        if not verdict.allowed:
            raise denial(self.name, verdict.result)
        return verdict

    def failed(self, why: str) -> CallFailed:
        """What is said of a webhook without an answer."""
        return CallFailed(f"failed calling webhook {quoted(self.name)}: {why}")


def hooks_of(configurations: Iterable[Entry]) -> list[Hook]:
    """The webhooks of some configurations, which come in the order of their names."""
    made = []
    for entry in configurations:
        numbers: dict[str, int] = {}
        for webhook in entry.object.get("webhooks") or ():
            name = str(webhook.get("name", ""))
            made.append(Hook(entry.object["metadata"]["name"], webhook, numbers.get(name, 0)))
            numbers[name] = numbers.get(name, 0) + 1
    return made


def decoded_patch(hook: Hook, patch: bytes) -> list[Any]:
    """The operations of a JSON patch. Raises CallFailed."""
    try:
        read = orjson.loads(patch)
    except orjson.JSONDecodeError:
        raise hook.failed(f"received undecodable patch in webhook response: {json_problem(patch)}") from None
    if is_too_deep(read):
        raise hook.failed("received undecodable patch in webhook response: exceeded max depth")
    if isinstance(read, list):
        return read
    if read is None:
        return []
    why = f"json: cannot unmarshal {called_in_go(read)} into Go value of type jsonpatch.Patch"
    raise hook.failed(f"received undecodable patch in webhook response: {why}")
