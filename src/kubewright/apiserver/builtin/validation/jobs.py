"""Checks of Jobs and CronJobs."""

from __future__ import annotations

import re
from typing import Final

from kubewright.schema.structural.fielderrors import invalid, not_supported, required, too_long
from kubewright.schema.structural.metarules import dns_label, dns_subdomain
from kubewright.schema.structural.values import copied

from ..selectors import matches
from .cron import schedule_problem
from .labels import as_shown, is_valid_selector, label_selector
from .pods import pod_template
from .texts import Errors, Object, at_least_0, check, immutable, one_of, regex_error

__all__ = ["cron_job", "cron_job_update", "domain_path", "job", "job_update"]

_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MODES: Final = ("NonIndexed", "Indexed")
_PATH: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_FIXED: Final = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_ZONE: Final = re.compile(r"[A-Za-z\.\-_0-9+]{1,14}", re.ASCII)


def domain_path(path: str, value: str) -> Errors:
    """Errors of a path with a domain before it, `example.com/name`."""
    if not value:
        return [required(path)]
    host, slash, rest = value.partition("/")
    if not slash or not host or not rest:
        return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = check(path, host, dns_subdomain)
    if re.fullmatch(_PATH, rest) is None:
        errors.append(invalid(path, rest, regex_error("Invalid path", _PATH)))
    return errors


def job_spec(path: str, spec: Object) -> Errors:
    """Errors of the spec of a Job, but for its selector."""
    errors: Errors = []
    for name in _COUNTS:
        errors += at_least_0(f"{path}.{name}", spec.get(name))
    if (manager := spec.get("managedBy")) is not None:
        errors += domain_path(f"{path}.managedBy", manager)
        if len(manager.encode()) > 63:
            errors.append(too_long(f"{path}.managedBy", 63))
    errors += _completion(path, spec)
    policy = spec.get("podReplacementPolicy")
    if "podFailurePolicy" in spec:
        if policy is not None and policy != "Failed":
            errors.append(not_supported(f"{path}.podReplacementPolicy", policy, ("Failed",)))
    elif policy is not None and policy not in ("Failed", "TerminatingOrFailed"):
        known = ("Failed", "TerminatingOrFailed")
        errors.append(not_supported(f"{path}.podReplacementPolicy", policy, known))
    errors += pod_template(f"{path}.template", spec["template"])
    restart, where = spec["template"]["spec"].get("restartPolicy", ""), f"{path}.template.spec.restartPolicy"
    if restart in ("Always", ""):
        errors.append(required(where, 'valid values: "OnFailure", "Never"'))
    elif restart not in ("OnFailure", "Never"):
        errors.append(not_supported(where, restart, ("OnFailure", "Never")))
    elif "podFailurePolicy" in spec and restart != "Never":
        said = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(invalid(where, restart, said))
    return errors


def _completion(path: str, spec: Object) -> Errors:
    errors: Errors = []
    mode, most = spec.get("completionMode"), spec.get("maxFailedIndexes")
    if mode is not None and mode not in _MODES:
        errors.append(not_supported(f"{path}.completionMode", mode, _MODES))
    if mode == "Indexed":
        completions, parallel = spec.get("completions"), spec.get("parallelism")
        if completions is None:
            errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
        if parallel is not None and parallel > 100_000:
            said = "must be less than or equal to 100000 when completion mode is Indexed"
            errors.append(invalid(f"{path}.parallelism", parallel, said))
        if completions is not None and most is not None and most > completions:
            errors.append(invalid(f"{path}.maxFailedIndexes", most, "must be less than or equal to completions"))
    if mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                errors.append(invalid(f"{path}.{name}", spec[name], "requires indexed completion mode"))
    return errors


def _of_job(obj: Object) -> Errors:
    spec = obj["spec"]
    errors = job_spec("spec", spec)
    selector = spec.get("selector")
    errors += [required("spec.selector")] if selector is None else label_selector("spec.selector", selector)
    found = spec["template"]["metadata"].get("labels")
    if is_valid_selector(selector) and not matches(selector, found or {}):
        said = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", found, said))
    return errors


def _host_names(obj: Object) -> Errors:
    spec, name = obj["spec"], obj["metadata"].get("name", "")
    if spec.get("completionMode") != "Indexed" or not spec.get("completions"):
        return []
    host = f"{name}-{spec['completions'] - 1}"
    if not dns_label(host):
        return []
    return [invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {host}")]


_GENERATED: Final = (
    ("controller-uid", "uid"),
    ("job-name", "name"),
    ("batch.kubernetes.io/controller-uid", "uid"),
    ("batch.kubernetes.io/job-name", "name"),
)


def _generated(obj: Object) -> Errors:
    """Errors of labels and a selector that the server makes, where somebody else did."""
    spec, meta = obj["spec"], obj["metadata"]
    if spec.get("manualSelector") or spec.get("selector") is None:
        return []
    errors: Errors = []
    found = spec["template"]["metadata"].get("labels") or {}
    expected = {label: meta.get(source, "") for label, source in _GENERATED}
    path = "spec.template.metadata.labels"
    for label, value in expected.items():
        if label not in found:
            errors.append(required(f"{path}[{label}]", f"must be '{value}'"))
        elif found[label] != value:
            errors.append(invalid(f"{path}[{label}]", found, f"must be '{value}'"))
    if is_valid_selector(spec["selector"]) and not matches(spec["selector"], expected):
        errors.append(invalid("spec.selector", as_shown(spec["selector"]), "`selector` not auto-generated"))
    return errors


def job(obj: Object) -> Errors:
    """Errors of a new Job."""
    return [*_generated(obj), *_of_job(obj), *_host_names(obj)]


def job_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Job."""
    after, before = new["spec"], old["spec"]
    errors = _of_job(new)
    if after.get("completionMode") != "Indexed":
        errors += immutable("spec.completions", after.get("completions"), before.get("completions"))
    elif after.get("completions") not in (before.get("completions"), None, after.get("parallelism")):
        said = "can only be modified in tandem with spec.parallelism"
        errors.append(invalid("spec.completions", after["completions"], said))
    errors += immutable("spec.selector", as_shown(after.get("selector")), as_shown(before.get("selector")))
    errors += _same_template(after, before, old)
    for name in _FIXED:
        errors += immutable(f"spec.{name}", after.get(name), before.get(name))
    return errors + _host_names(new)


def _same_template(after: Object, before: Object, old: Object) -> Errors:
    """A suspended Job may change the resources of its containers, no other one anything."""
    wanted = _as_may_change(after, before, old)
    if not before.get("suspend"):
        return immutable("spec.template", after["template"], wanted)
    made: Object = copied(wanted["spec"])
    for name in ("containers", "initContainers"):
        ours, theirs = after["template"]["spec"].get(name) or [], made.get(name) or []
        if len(ours) == len(theirs):
            for new, container in zip(ours, theirs, strict=True):
                if new["name"] == container["name"]:
                    _follow(container, new, "resources")
    return immutable("spec.template.spec", after["template"]["spec"], made)


def _as_may_change(after: Object, before: Object, old: Object) -> Object:
    """The old template, with what a suspended Job that has not started may change as it is now."""
    template: Object = before["template"]
    if not before.get("suspend") or (old.get("status") or {}).get("startTime"):
        return template
    made: Object = copied(template)
    for name in ("nodeSelector", "tolerations", "schedulingGates"):
        _follow(made["spec"], after["template"]["spec"], name)
    for name in ("annotations", "labels"):
        _follow(made["metadata"], after["template"]["metadata"], name)
    return made


def _follow(made: Object, source: Object, name: str) -> None:
    made.pop(name, None)
    if name in source:
        made[name] = source[name]


def cron_job(obj: Object, old: Object | None = None) -> Errors:
    """Errors of a CronJob."""
    spec = obj["spec"]
    errors = _schedule(spec, old)
    errors += at_least_0("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    zone = spec.get("timeZone")
    if old is None or old["spec"].get("timeZone") != zone:
        errors += _time_zone("spec.timeZone", zone)
    policy = spec.get("concurrencyPolicy", "")
    errors += one_of("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"))
    template = spec["jobTemplate"]["spec"]
    errors += job_spec("spec.jobTemplate.spec", template)
    where = "spec.jobTemplate.spec"
    if (selector := template.get("selector")) is not None:
        errors.append(invalid(f"{where}.selector", as_shown(selector), "`selector` will be auto-generated"))
    if template.get("manualSelector"):
        errors.append(not_supported(f"{where}.manualSelector", True, ("nil", "false")))
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        errors += at_least_0(f"spec.{name}", spec.get(name))
    if not spec.get("schedule"):
        errors.append(required("spec.schedule"))
    name = obj["metadata"].get("name", "")
    if old is None and len(name.encode()) > 52:
        errors.append(invalid("metadata.name", name, "must be no more than 52 characters"))
    return errors


def cron_job_update(new: Object, old: Object) -> Errors:
    """Errors of a changed CronJob."""
    return cron_job(new, old)


def _schedule(spec: Object, old: Object | None) -> Errors:
    schedule, where = spec.get("schedule", ""), "spec.schedule"
    if not schedule:
        return []
    errors: Errors = []
    if problem := schedule_problem(schedule):
        errors.append(invalid(where, schedule, problem))
    if "TZ" in schedule:
        may = old is not None and "TZ" in old["spec"].get("schedule", "")
        if may and spec.get("timeZone") is not None:
            said = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            errors.append(invalid(where, schedule, said))
        elif not may:
            said = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            errors.append(invalid(where, schedule, said))
    return errors


def _time_zone(path: str, zone: str | None) -> Errors:
    if zone is None:
        return []
    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    unknown = f"unknown time zone {zone}"
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or _ZONE.fullmatch(part) is None:
            return [invalid(path, zone, unknown)]
    errors: Errors = []
    if zone.lower() == "local":
        said = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(invalid(path, zone, said))
    else:
        import zoneinfo  # few ask for one

        try:
            zoneinfo.ZoneInfo(zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            errors.append(invalid(path, zone, unknown))
    return errors
