"""The commands. Each reads its arguments, calls one function, prints what came of it.

Imports of rooms are inside the commands, so that `kubewright --help` and tab completion stay quick.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import reference, schemas
from .cel import cel

if TYPE_CHECKING:
    from kubewright.testing.cluster import ClusterStatus

__all__ = ["app"]

app = typer.Typer(
    name="kubewright",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
manifests = typer.Typer(help="What an operator needs on a cluster, as YAML.", no_args_is_help=True)
generate = typer.Typer(help="Python code from API descriptions.", no_args_is_help=True)
cluster = typer.Typer(help="A real Kubernetes on this machine, without containers.", no_args_is_help=True)
app.add_typer(manifests, name="manifests")
app.add_typer(generate, name="generate")
app.add_typer(cluster, name="cluster")
schemas.add_to(app)
reference.add_to(app)
app.add_typer(cel, name="cel")

Target = Annotated[str, typer.Argument(help="A file (web.py), a module (package.web), or either with ':attribute'.")]
Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", help="The cluster to use; found as kubectl finds it unless given.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def options(
    wanted: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The Kubernetes operator toolkit for Python."""


@app.command()
def version() -> None:
    """Print the version."""
    from kubewright import __version__

    print(__version__)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def run(context: typer.Context) -> None:
    """Run an operator until SIGTERM or Ctrl-C."""
    from .run import run as run_operator

    run_operator(context.args)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def apiserver(context: typer.Context) -> None:
    """An in-memory Kubernetes API server for tests and first steps."""
    from .apiserver import serve

    serve(context.args)


@manifests.command("crd")
def manifests_crd(
    target: Target,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A folder for one file per CRD.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the files; exit 1 if they differ.")] = False,
    max_description: Annotated[
        int | None,
        typer.Option(min=0, help="Cut descriptions to so many characters, at the end of a sentence; 0 for none."),
    ] = None,
) -> None:
    """Print the CRDs of the resources in a module."""
    from kubewright.schema import manifests as files

    from .load import load_module

    with reference.warnings_as_lines():
        rendered = files.render(load_module(target), max_description=max_description)
    for manifest in rendered:
        if not manifest.fits_annotation:
            said = "is too large for client-side `kubectl apply`; use --server-side, or --max-description"
            print(f"warning: {manifest.name}: {said}", file=sys.stderr)
    if check:
        drifts = files.check(rendered, output or Path("config/crd"))
        for drift in drifts:
            print(f"{drift}\n{drift.diff}", file=sys.stderr, end="")
        raise typer.Exit(1 if drifts else 0)
    if output is None:
        print("".join(manifest.text for manifest in rendered), end="")
        return
    for path in files.write(rendered, output):
        print(path)


@generate.command("models")
def generate_models(
    source: Annotated[
        str,
        typer.Option("--from", help="A file, a folder, -, a URL, or 'cluster' for the one that kubectl would use."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The package folder to write.")],
    kubeconfig: Kubeconfig = None,
    group: Annotated[list[str] | None, typer.Option(help="Only this API group; may be repeated.")] = None,
    docs: Annotated[bool, typer.Option("--docs", help="Docstrings for fields as well.")] = False,
    keep_empty: Annotated[
        bool,
        typer.Option(
            "--keep-empty",
            help="Of CRDs: tell an empty list or map (absent: None), and a null (absent: UNSET), from absent.",
        ),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the files; exit 1 if they differ.")] = False,
) -> None:
    """Typed models of built-in kinds or of anybody's CRDs."""
    from kubewright.generate import generate_models as write_models

    from .fetch import cluster_documents

    with cluster_documents(source, kubeconfig) as (address, fetch):
        changed = write_models(
            address,
            output,
            groups=group or None,
            field_docs=docs,
            keep_empty=keep_empty,
            check=check,
            fetch=fetch,
        )
    for change in changed:
        if check:
            print(f"{change}\n{change.diff}", file=sys.stderr, end="")
        else:
            print(change.path)
    raise typer.Exit(1 if check and changed else 0)


@cluster.command("up")
def cluster_up(
    name: Annotated[str, typer.Option(help="Several may run side by side.")] = "default",
    nodes: Annotated[int, typer.Option(min=0, help="Simulated nodes that run Pods.")] = 1,
    kubeconfig: Annotated[Path | None, typer.Option(help="Write the administrator's kubeconfig to this file.")] = None,
) -> None:
    """Start etcd, the API server, controllers, scheduler and nodes; a few seconds once the programs are there.

    Standard output has one line for the shell: eval "$(kubewright cluster up)".
    """
    from kubewright.testing import cluster as clusters

    state = clusters.up(name, nodes=nodes, kubeconfig=kubeconfig)
    print(_summary(state), file=sys.stderr)
    print(f"kubectl: {state.kubectl}", file=sys.stderr)
    print(f"export KUBECONFIG={shlex.quote(str(state.kubeconfig))}")


def _summary(state: ClusterStatus) -> str:
    nodes = "1 node" if state.ready_nodes == 1 else f"{state.ready_nodes} nodes"
    return f"{state.name}: {state.state}, Kubernetes {state.version or '-'}, {nodes}, {state.url}"


@cluster.command("status")
def cluster_status(name: Annotated[str | None, typer.Argument(help="One cluster; all unless given.")] = None) -> None:
    """Print what runs."""
    from kubewright.testing import cluster as clusters

    states = clusters.status(name)
    if not states:
        print(f"no cluster{f' {name!r}' if name else ''}; start one with: kubewright cluster up", file=sys.stderr)
        raise typer.Exit(1)
    for state in states:
        print(_summary(state))
        print(f"  kubeconfig {state.kubeconfig}")
        for component in state.components:
            print(f"  {component.name:<26} pid {component.pid:<8} {'running' if component.running else 'ended'}")


@cluster.command("down")
def cluster_down(name: Annotated[str, typer.Argument()] = "default") -> None:
    """End a cluster and remove its data."""
    from kubewright.testing import cluster as clusters

    if not clusters.down(name):
        print(f"no cluster {name!r}", file=sys.stderr)
        raise typer.Exit(1)
    print(f"{name}: gone")
