"""Custom resources between their versions and storage.

Reading: an object from storage is brought to the schema of its version as it is today (pruned, defaulted), converted,
and pruned by the schema of the version that is wanted. Writing: converted, pruned. Strategy None changes `apiVersion`;
Webhook asks somebody, in one call for many objects, and takes back no metadata but labels and annotations. Rules:
`apiserver/conversion/`, `crdConversionRESTOptionsGetter`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from kubewright.schema.structural.metarules import label_value, qualified_name
from kubewright.schema.structural.values import copied, is_too_deep, same

from ..answers import type_problem
from ..errors import StatusError, unexplained
from .version import CustomVersion

__all__ = ["ConversionWebhook", "CustomConverter", "WebhookFailed"]


class WebhookFailed(Exception):
    """A webhook that gave no usable answer; the text says why."""


class ConversionWebhook(Protocol):
    """Calls the conversion webhook of a definition."""

    async def review(self, client_config: Mapping[str, Any], review: dict[str, Any], name: str) -> dict[str, Any]:
        """Send a ConversionReview, give the answer. `name` is of the definition. Raises WebhookFailed."""


class CustomConverter:
    """One definition's objects, in and out of storage.

    Args:
        versions: all of the definition, by name; also those that are not served.
        conversion: `spec.conversion`.
        webhook: calls webhooks; None where nobody does, and every such conversion fails.
    """

    def __init__(
        self,
        versions: Mapping[str, CustomVersion],
        conversion: Mapping[str, Any],
        *,
        name: str,
        webhook: ConversionWebhook | None,
        new_uid: Callable[[], str],
    ) -> None:
        self._versions = {each.api_version: each for each in versions.values()}
        self._asks = conversion.get("strategy") == "Webhook"
        self._conversion, self._name = conversion.get("webhook") or {}, name
        self._webhook, self._new_uid = webhook, new_uid

    def convert_now(self, obj: dict[str, Any], api_version: str, *, defaults: bool = True) -> dict[str, Any] | None:
        if self._asks and obj["apiVersion"] != api_version:
            return None
        present = self._present(obj) if defaults else obj
        if present["apiVersion"] == api_version:
            return present
        made = {**present, "apiVersion": api_version}
        return self._coerced(copied(made))

    def schema(self, api_version: str) -> Mapping[str, Any] | None:
        version = self._versions.get(api_version)
        return None if version is None else version.raw_schema

    def reads_otherwise(self, api_version: str) -> bool:
        version = self._versions.get(api_version)
        return version is not None and version.reads_otherwise

    async def convert(self, objects: Sequence[dict[str, Any]], api_version: str) -> list[dict[str, Any]]:
        presents = [self._present(each) for each in objects]
        asked = [each for each in presents if each["apiVersion"] != api_version]
        answers = iter(await self._ask(asked, api_version) if asked else ())
        return [each if each["apiVersion"] == api_version else self._coerced(next(answers)) for each in presents]

    def _present(self, obj: dict[str, Any]) -> dict[str, Any]:
        """An object by the schema of today; itself where nothing is to be done."""
        version = self._versions.get(obj["apiVersion"])
        if version is None:
            raise unexplained(f"request to convert CR from an invalid group/version: {obj['apiVersion']}")
        made = copied(obj)
        version.coerce(made, drop=True)
        version.default(made)
        return obj if same(made, obj) else made

    def _coerced(self, obj: dict[str, Any]) -> dict[str, Any]:
        version = self._versions.get(obj["apiVersion"])
        if version is None:
            raise unexplained(f"request to convert CR to an invalid group/version: {obj['apiVersion']}")
        problem, _ = version.coerce(obj)
        if problem is not None:
            raise unexplained(str(problem))
        return obj

    # -- webhooks -----------------------------------------------------------------------------------------------------

    async def _ask(self, objects: list[dict[str, Any]], api_version: str) -> list[dict[str, Any]]:
        first = objects[0]
        group, _, version = str(first["apiVersion"]).partition("/")
        what = f"conversion webhook for {group}/{version}, Kind={first['kind']}"
        uid = self._new_uid()
        wanted = next(
            (each for each in self._conversion.get("conversionReviewVersions") or () if each in _REVIEWS), None
        )
        if wanted is None:
            raise unexplained("no supported conversion review versions")
        review = {
            "kind": "ConversionReview",
            "apiVersion": f"apiextensions.k8s.io/{wanted}",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": objects},
        }
        try:
            if self._webhook is None:
                raise WebhookFailed("this server calls no webhooks")
            answer = await self._webhook.review(self._conversion.get("clientConfig") or {}, review, self._name)
            converted = _converted(answer, uid, wanted)
        except WebhookFailed as error:
            raise unexplained(f"{what} failed: {error}") from None
        if len(converted) != len(objects):
            raise unexplained(f"{what} returned {len(converted)} objects, expected {len(objects)}")
        return [
            _restored(what, place, original, made, api_version)
            for place, (original, made) in enumerate(zip(objects, converted, strict=True))
        ]


_REVIEWS: Final = ("v1", "v1beta1")


def _converted(answer: dict[str, Any], uid: str, version: str) -> list[Any]:
    """The objects of an answer. Raises WebhookFailed."""
    if version == "v1":
        kind, api_version = answer.get("kind", ""), answer.get("apiVersion", "")
        if (kind, api_version) != ("ConversionReview", "apiextensions.k8s.io/v1"):
            shown = f"{api_version}, Kind={kind}"
            raise WebhookFailed(
                f"expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {shown}"
            )
    if why := type_problem(answer, "ConversionReview", version):
        raise WebhookFailed(why)
    response = answer.get("response")
    if not isinstance(response, dict):
        raise WebhookFailed("no response provided")
    if version == "v1" and response.get("uid") != uid:
        raise WebhookFailed(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result") or {}
    if result.get("status") != "Success":
        raise WebhookFailed(
            result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'"
        )
    return list(response.get("convertedObjects") or ())


def _restored(what: str, place: int, original: dict[str, Any], made: Any, api_version: str) -> dict[str, Any]:
    """A converted object, with the metadata that a webhook may not change. Raises StatusError."""

    def refused(why: str, which: str = "object") -> StatusError:
        return unexplained(f"{what} returned invalid {which} at index {place}: {why}")

    if not isinstance(made, dict):
        raise refused("no object")
    if is_too_deep(made):
        raise refused("exceeded max depth")
    for name, wanted, called in (
        ("apiVersion", api_version, "groupVersion"),
        ("kind", original["kind"], "kind"),
    ):
        if made.get(name) != wanted:
            raise refused(f"invalid {called} (expected {wanted}, received {made.get(name, '')})", "converted object")
    meta, before = made.get("metadata"), original["metadata"]
    if not isinstance(meta, dict):
        raise refused("missing metadata in converted object", "metadata in object")
    for name, called in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if meta.get(name, "") != before.get(name, ""):
            said = f"must have the same {called}: {before.get(name, '')} != {meta.get(name, '')}"
            raise refused(said, "converted object")
    kept = copied(before)
    for name in ("labels", "annotations"):
        found = meta.get(name)
        if found is None:
            kept.pop(name, None)
            continue
        if not isinstance(found, dict) or any(not isinstance(each, str) for each in found.values()):
            raise refused(f"invalid metadata.{name} in converted object", "metadata in object")
        if name == "labels" and found != before.get(name) and (problems := _label_problems(found)):
            raise refused("; ".join(problems), "metadata in object")
        kept[name] = found
    return {"apiVersion": made["apiVersion"], "kind": made["kind"], **made, "metadata": kept}


def _label_problems(labels: Mapping[str, str]) -> list[str]:
    return [each for name, value in labels.items() for each in qualified_name(name) + label_value(value)]
