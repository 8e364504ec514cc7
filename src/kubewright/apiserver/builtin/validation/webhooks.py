"""Checks of webhook configurations, and of what policies have in common with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from kubewright.schema.structural.fielderrors import duplicate, invalid, not_supported, required, too_many
from kubewright.schema.structural.metarules import dns_subdomain, old_dns_label, qualified_name

from .labels import label_selector
from .texts import Errors, Object, check, port_number

__all__ = ["conditions", "rule_errors", "webhook_configuration"]

_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_FORM: Final = "; desired format: https://host[/path]"
_VERSIONS: Final = ("v1", "v1beta1")
_MOST_CONDITIONS: Final = 64


def webhook_configuration(obj: Object) -> Errors:
    """Errors of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration."""
    errors: Errors = []
    names: set[str] = set()
    for place, hook in enumerate(obj.get("webhooks", ())):
        here, name = f"webhooks[{place}]", hook.get("name", "")
        errors += _hook(here, hook)
        errors += _review_versions(f"{here}.admissionReviewVersions", hook.get("admissionReviewVersions") or [])
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        if name:
            names.add(name)
    return errors


def _hook(path: str, hook: Object) -> Errors:
    errors = _full_name(f"{path}.name", hook.get("name", ""))
    for place, rule in enumerate(hook.get("rules", ())):
        errors += rule_errors(f"{path}.rules[{place}]", rule)
    errors += _chosen(f"{path}.failurePolicy", hook.get("failurePolicy"), ("Fail", "Ignore"))
    errors += _chosen(f"{path}.matchPolicy", hook.get("matchPolicy"), ("Equivalent", "Exact"))
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun"))
    errors += _chosen(f"{path}.sideEffects", effects, ("None", "NoneOnDryRun"))
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        said = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", seconds, said))
    for name in ("namespaceSelector", "objectSelector"):
        errors += label_selector(f"{path}.{name}", hook.get(name))
    errors += _chosen(f"{path}.reinvocationPolicy", hook.get("reinvocationPolicy"), ("IfNeeded", "Never"))
    errors += _client(f"{path}.clientConfig", hook.get("clientConfig") or {})
    found = hook.get("matchConditions", [])
    return errors + conditions(f"{path}.matchConditions", found, _uncompiled(found) if found else {})


def _chosen(path: str, value: str | None, known: tuple[str, ...]) -> Errors:
    return [not_supported(path, value, known)] if value is not None and value not in known else []


def _full_name(path: str, name: str) -> Errors:
    if not name:
        return [required(path)]
    if problems := dns_subdomain(name):
        return [invalid(path, name, ",".join(problems))]
    if name.count(".") < 2:
        said = "should be a domain with at least three segments separated by dots"
        return [invalid(path, name, said)]
    return []


def rule_errors(path: str, rule: Object) -> Errors:
    """Errors of a rule."""
    operations = rule.get("operations") or []
    errors = [] if operations else [required(f"{path}.operations")]
    if len(operations) > 1 and "*" in operations:
        said = "if '*' is present, must not specify other operations"
        errors.append(invalid(f"{path}.operations", operations, said))
    for place, each in enumerate(operations):
        errors += _chosen(f"{path}.operations[{place}]", each, _OPERATIONS)
    for name, said in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        found = rule.get(name) or []
        if not found:
            errors.append(required(f"{path}.{name}"))
        if len(found) > 1 and "*" in found:
            errors.append(invalid(f"{path}.{name}", found, f"if '*' is present, must not specify other {said}"))
        if name == "apiVersions":
            errors += [required(f"{path}.{name}[{place}]") for place, each in enumerate(found) if not each]
    errors += _resources(f"{path}.resources", rule.get("resources") or [])
    return errors + _chosen(f"{path}.scope", rule.get("scope"), _SCOPES)


def _resources(path: str, resources: list[str]) -> Errors:
    errors = [] if resources else [required(path)]
    all_of: set[str] = set()
    in_all: set[str] = set()
    has_plain = False
    for place, each in enumerate(resources):
        here = f"{path}[{place}]"
        if not each:
            errors.append(required(here))
            continue
        resource, slash, part = each.partition("/")
        if not slash:
            has_plain = each != "*"
            continue
        if resource in all_of:
            errors.append(invalid(here, each, f"if '{resource}/*' is present, must not specify {each}"))
        if part in in_all:
            errors.append(invalid(here, each, f"if '*/{part}' is present, must not specify {each}"))
        if part == "*":
            all_of.add(resource)
        if resource == "*":
            in_all.add(part)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and has_plain:
        said = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, said))
    return errors


def _review_versions(path: str, versions: list[str]) -> Errors:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    errors: Errors = []
    seen: set[str] = set()
    for place, version in enumerate(versions):
        if version in seen:
            errors.append(invalid(f"{path}[{place}]", version, "duplicate version"))
            continue
        seen.add(version)
        errors += check(f"{path}[{place}]", version, old_dns_label)
    if not seen & set(_VERSIONS):
        errors.append(invalid(path, versions, "must include at least one of v1, v1beta1"))
    return errors


def _client(path: str, config: Object) -> Errors:
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    return _url(f"{path}.url", url) if url is not None else _service(f"{path}.service", service or {})


def _url(path: str, url: str) -> Errors:
    errors: Errors = []
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [required(path, f"url must be a valid URL: {error}{_FORM}")]
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, host, f"host must be specified{_FORM}"))
    if at:
        errors.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def _service(path: str, service: Object) -> Errors:
    # The server gives the two to its check in the wrong order, and so names the other one.
    pairs = (("name", service.get("namespace")), ("namespace", service.get("name")))
    errors = [required(f"{path}.{name}") for name, value in pairs if not value]
    port = service.get("port", 443)
    if problems := port_number(port):
        errors.append(invalid(f"{path}.port", port, f"port is not valid: {', '.join(problems)}"))
    target, where = service.get("path"), f"{path}.path"
    if target in (None, "", "/"):
        return errors
    if target == "//":
        return [*errors, invalid(where, target, "segment[0] may not be empty")]
    if not target.startswith("/"):
        errors.append(invalid(where, target, "must start with a '/'"))
    for place, step in enumerate(target[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(invalid(where, target, f"segment[{place}] may not be empty"))
        else:
            errors += [invalid(where, target, f"segment[{place}]: {each}") for each in dns_subdomain(step)]
    return errors


def conditions(path: str, found: list[Object], wrong: Mapping[int, str]) -> Errors:
    """Errors of match conditions; `wrong` is what is wrong with expressions, by place."""
    errors: Errors = []
    seen: set[str] = set()
    if len(found) > _MOST_CONDITIONS:
        errors.append(too_many(path, len(found), _MOST_CONDITIONS))
    for place, condition in enumerate(found):
        here, name = f"{path}[{place}]", condition.get("name", "")
        if not condition.get("expression", "").strip():
            errors.append(required(f"{here}.expression"))
        elif place in wrong:
            errors.append(invalid(f"{here}.expression", condition["expression"], wrong[place]))
        if not name:
            errors.append(required(f"{here}.name"))
            continue
        errors += check(f"{here}.name", name, qualified_name)
        if name in seen:
            errors.append(duplicate(f"{here}.name", name))
        seen.add(name)
    return errors


def _uncompiled(conditions: list[Object]) -> dict[int, str]:
    """What is wrong with each expression that does not compile, by place."""
    from kubewright.schema.cel.admission import MatchConditions, admission_environment

    return dict(MatchConditions(conditions, env=admission_environment(is_new=True)).errors)
