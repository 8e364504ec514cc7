"""`kubewright run`: from a command line to an operator that works.

Its arguments are read by argparse, those of all other commands by typer. They end after a second; an operator runs for
months, and typer with what it imports (pydantic among it) would cost it 11 MiB and a tenth of a second of every start.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from . import collector
from .layers import parse
from .serving import add_options
from .values import node_count

if TYPE_CHECKING:
    from kubewright.client import ClientConfig
    from kubewright.manager import Running

__all__ = ["run"]


def run(arguments: Sequence[str]) -> None:
    """Run an operator until SIGTERM or Ctrl-C, as the arguments say. Exits with code 2 for arguments that say nothing.

    Raises:
        LoadError, ConfigError, JournalError, and what `Operator.run` raises.
    """
    parser = _parser()
    given = parse(parser, arguments, os.environ)
    if given.kubeconfig is not None or given.context is not None:
        for option, value in (("--data-dir", given.data_dir), ("--nodes", given.nodes)):
            if value is not None:
                parser.error(f"{option} is for the embedded API server; leave it, or --kubeconfig and --context, out")

    from kubewright.manager import Runnable

    from .election import BadFlag, with_election
    from .load import load_operator
    from .logs import configure
    from .serving import seconds_of, with_serving

    configure(given.log_level, given.log_format)
    operator = load_operator(given.target, namespace=given.namespace)
    if given.namespace is not None:
        operator = operator.with_namespace(given.namespace)
    try:
        operator = with_election(
            operator,
            given.leader_elect,
            name=given.leader_elect_resource_name,
            namespace=given.leader_elect_resource_namespace,
            lease_duration=given.leader_elect_lease_duration,
            renew_deadline=given.leader_elect_renew_deadline,
            retry_period=given.leader_elect_retry_period,
        )
        operator = with_serving(operator, given)
        if given.shutdown_grace_period is not None:
            operator = operator.with_grace(seconds_of(given.shutdown_grace_period, "--shutdown-grace-period"))
    except (BadFlag, ValueError) as error:
        parser.error(str(error))
    configured = _configured(given) if given.data_dir is None else None
    if configured is not None and given.nodes is not None:
        cure = "leave it out, or say --data-dir"
        parser.error(f"--nodes is for the embedded API server, and {configured.source} names a cluster; {cure}")
    operator = operator.with_runnable(Runnable(_begin_to_collect, needs_leadership=False))
    with _embedded(given) if configured is None else nullcontext(configured) as config:
        operator.run(config=config, install=given.install_crds)


async def _begin_to_collect(_: Running) -> None:
    """Called when the caches are synced: no object of the start is garbage, and most will stay as long as we run."""
    collector.begin()


@contextmanager
def _embedded(given: argparse.Namespace) -> Iterator[ClientConfig]:
    """The embedded API server, for as long as the operator runs.

    It has a node, unless none is asked for: what an operator makes is to become ready, as on the cluster that it is
    written for.
    """
    import shlex

    from kubewright.testing.embedded import EmbeddedServer, EmbeddedThread

    nodes = 1 if given.nodes is None else given.nodes
    with (
        EmbeddedThread(lambda: EmbeddedServer(data_dir=given.data_dir, nodes=nodes)) as served,
        served.lent_kubeconfig() as path,
    ):
        why = "no cluster is configured: running" if given.data_dir is None else "running"
        kept = "in memory, until this ends" if given.data_dir is None else f"kept in {given.data_dir}"
        lives = "Pods run nowhere" if nodes == 0 else f"Pods run on {nodes} simulated node{'s' if nodes > 1 else ''}"
        print(
            f"{why} on the embedded API server, {kept}; {lives}; "
            f"look at it with: kubectl --kubeconfig {shlex.quote(str(path))} get all -A",
            file=sys.stderr,
            flush=True,
        )
        yield served.config


def _configured(given: argparse.Namespace) -> ClientConfig | None:
    """The cluster that is configured, if one is; the embedded API server takes its place where none is.

    In a pod it does so only where a folder for its data is named: there a missing service account is a mistake, and an
    operator on a cluster of its own would look well and do nothing.
    """
    from kubewright.client import ClientConfig
    from kubewright.client.config_sources import NoCluster

    try:
        return ClientConfig.load(given.kubeconfig, given.context)
    except NoCluster:
        if given.context is not None or os.environ.get("KUBERNETES_SERVICE_HOST"):
            raise
        return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kubewright run",
        description="Run an operator until SIGTERM or Ctrl-C.",
        epilog="Every option may also be said by the environment (KUBEWRIGHT_LOG_LEVEL for --log-level) and by a file "
        "(log-level: debug). Flags come before the environment, the environment before the file.",
        allow_abbrev=False,
        formatter_class=_Help,
    )
    option = parser.add_argument
    option("target", help="a file (web.py), a module (package.web), or either with ':attribute'")
    used = "the cluster to use; found as kubectl finds it unless given, and the embedded API server where there is none"
    option("--kubeconfig", type=Path, help=used)
    option("--context", help="the context of the kubeconfig")
    kept = "run on the embedded API server, whatever is configured, and keep all of it in this folder"
    option("--data-dir", type=Path, help=kept)
    nodes = "of the embedded API server: so many Nodes, on which Pods run (simulated); 1"
    option("--nodes", type=node_count, help=nodes)
    option("--namespace", "-n", help="watch this namespace only")
    flag = argparse.BooleanOptionalAction
    option("--install-crds", action=flag, default=True, help="apply the operator's CRDs first; the default")
    elect = "of several such processes one works at a time; as the operator says unless given"
    option("--leader-elect", action=flag, help=elect)
    option("--leader-elect-resource-name", help="the Lease; named as the operator unless given")
    namespace = "the Lease's namespace; that of the configuration unless given"
    option("--leader-elect-resource-namespace", help=namespace)
    option("--leader-elect-lease-duration", help="how long the others wait after a renewal; 15s")
    option("--leader-elect-renew-deadline", help="how long a leader that cannot renew goes on; 10s")
    option("--leader-elect-retry-period", help="between two tries; 2s")
    grace = "what running reconciles are given to end at the stop, such as 30s; as the operator says unless given"
    option("--shutdown-grace-period", help=grace)
    add_options(parser)
    levels = ("debug", "info", "warning", "error")
    level = "the least that is logged; info"
    option("--log-level", "--zap-log-level", type=_level, default="info", choices=levels, help=level)
    forms = ("text", "json")
    option("--log-format", "--zap-encoder", type=_form, default="text", choices=forms, help="of log lines; text")
    return parser


class _Help(argparse.HelpFormatter):
    """As argparse's, which makes one for every option, and would load shutil, with all its compressors, for the width
    of the terminal."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size().columns
        except (ValueError, OSError):
            columns = 0
        super().__init__(prog, width=(columns or 80) - 2)


def _level(text: str) -> str:
    """A level, as said here or to zap: there a number is of details, and 0 is info."""
    text = text.lower()
    if text.isdecimal():
        return "debug" if int(text) else "info"
    return {"warn": "warning", "dpanic": "error", "panic": "error", "fatal": "error"}.get(text, text)


def _form(text: str) -> str:
    """A format, as said here or to zap."""
    text = text.lower()
    return {"console": "text"}.get(text, text)
