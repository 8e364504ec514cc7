"""Flags over environment over file over what the operator says."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kubewright import Operator
from kubewright.cli.layers import parse
from kubewright.cli.run import _parser
from kubewright.cli.serving import add_options, with_serving
from kubewright.manager import Serving


def given(
    *arguments: str, environ: Mapping[str, str] | None = None, file: tuple[Path, str] | None = None
) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("target")
    parser.add_argument("--level", type=str.lower, default="info", choices=("debug", "info"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--elect", action=argparse.BooleanOptionalAction)
    add_options(parser)
    environ = dict(environ or {})
    if file is not None:
        file[0].write_text(file[1])
        environ["KUBEWRIGHT_CONFIG"] = str(file[0])
    return parse(parser, ["web.py", *arguments], environ)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, **sources: Any) -> str:
    with pytest.raises(SystemExit) as ended:
        given(*arguments, **sources)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_without_any_source_an_option_is_its_default() -> None:
    assert (given().level, given().count, given().elect) == ("info", None, None)


def test_a_file_is_over_the_default_the_environment_over_the_file_and_a_flag_over_all(tmp_path: Path) -> None:
    file = (tmp_path / "config.yaml", "count: 1\n")
    environ = {"KUBEWRIGHT_COUNT": "2"}
    assert given(file=file).count == 1
    assert given(file=file, environ=environ).count == 2
    assert given("--count", "3", file=file, environ=environ).count == 3


def test_the_file_may_be_named_by_a_flag_which_is_over_the_environment(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("count: 7\n")
    file = (tmp_path / "config.yaml", "count: 1\n")
    assert given("--config", str(tmp_path / "other.yaml"), file=file).count == 7
    assert given(f"--config={tmp_path}/other.yaml", file=file).count == 7


def test_what_a_source_says_is_read_as_the_flag_would_be(tmp_path: Path) -> None:
    assert given(environ={"KUBEWRIGHT_LEVEL": "DEBUG"}).level == "debug"
    text = "level: DEBUG\nmetrics-cert-path: /tls\nmetrics-bind-address: 0\ncount: null\n"
    found = given(file=(tmp_path / "config.yaml", text))
    assert (found.level, found.metrics_cert_path, found.metrics_bind_address) == ("debug", Path("/tls"), "0")


@pytest.mark.parametrize("text", ["true", "True", "1", "yes", "on"])
@pytest.mark.parametrize("source", ["environment", "file", "flag"])
def test_a_switch_is_switched_on_by_every_source(tmp_path: Path, text: str, source: str) -> None:
    if source == "environment":
        found = given(environ={"KUBEWRIGHT_ELECT": text})
    elif source == "file":
        found = given(file=(tmp_path / "config.yaml", f"elect: {text}\n"))
    else:
        found = given(f"--elect={text}")
    assert found.elect is True


def test_a_switch_is_switched_off_as_in_python_and_as_in_go() -> None:
    assert given("--no-elect").elect is False
    assert given("--elect=false").elect is False
    assert given("--no-elect", environ={"KUBEWRIGHT_ELECT": "true"}).elect is False


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"KUBEWRIGHT_LEVEL": "loud"}, "KUBEWRIGHT_LEVEL: 'loud' is not one of debug, info"),
        ({"KUBEWRIGHT_COUNT": "many"}, "KUBEWRIGHT_COUNT: 'many': invalid literal"),
        ({"KUBEWRIGHT_ELECT": "perhaps"}, "KUBEWRIGHT_ELECT: 'perhaps' is neither true nor false"),
        ({"KUBEWRIGHT_CONFIG": "/no/such/file"}, "--config /no/such/file: cannot be read (No such file or directory)"),
    ],
)
def test_what_the_environment_cannot_mean_is_refused_by_its_name(
    capsys: pytest.CaptureFixture[str], environ: Mapping[str, str], says: str
) -> None:
    assert says in refused(capsys, environ=environ)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("levl: debug", "'levl' is not an option; did you mean level?"),
        ("xyz: 1", "'xyz' is not an option; there are: count, elect,"),
        ("- level", "must be a mapping of option names to values"),
        ("level: [debug]", "level: ['debug'] must be one text or number"),
        ("level: on", "level: True must be one text or number; put it in quotes"),
        ("a: [", "is not YAML"),
    ],
)
def test_what_a_file_cannot_mean_is_refused_with_the_file_and_the_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    error = refused(capsys, file=(tmp_path / "config.yaml", text))
    assert f"--config {tmp_path}/config.yaml" in error
    assert says in error


def test_serving_options_are_laid_over_what_the_operator_says() -> None:
    operator = Operator(
        "web", controllers=[], serving=Serving(metrics_bind_address=":1", health_probe_bind_address=":2")
    )
    assert with_serving(operator, given()) is operator
    made = with_serving(
        operator,
        given(
            *("--metrics-bind-address", "127.0.0.1:8443", "--metrics-secure=false", "--metrics-cert-path", "/tls"),
            *("--ready-stale-after", "20m", "--request-metrics", "--profiling"),
        ),
    )
    assert made.serving == Serving(
        metrics_bind_address="127.0.0.1:8443",
        metrics_secure=False,
        metrics_cert_path=Path("/tls"),
        health_probe_bind_address=":2",
        stale_seconds=1200.0,
        profiling=True,
        request_metrics=True,
    )
    assert operator.serving.metrics_bind_address == ":1"
    assert with_serving(operator, given("--ready-stale-after", "0")).serving.stale_seconds is None


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--metrics-bind-address", "8080"), "--metrics-bind-address: '8080' is not an address"),
        (("--health-probe-bind-address", "x"), "--health-probe-bind-address: 'x' is not an address"),
        (("--ready-stale-after", "soon"), "--ready-stale-after: "),
        (("--ready-stale-after", "10s"), "less than 60"),
        (("--profiling",), "profiling: is served beside the metrics"),
    ],
)
def test_serving_options_that_cannot_be_meant_are_refused_by_name(flags: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        with_serving(Operator("web", controllers=[]), given(*flags))


@pytest.mark.parametrize(
    ("flags", "level", "form"),
    [
        ((), "info", "text"),
        (("--log-level=warning", "--log-format=json"), "warning", "json"),
        (("--zap-log-level=debug", "--zap-encoder=console"), "debug", "text"),
        (("--zap-log-level=panic", "--zap-encoder=json"), "error", "json"),
        (("--zap-log-level=0",), "info", "text"),
        (("--zap-log-level=5",), "debug", "text"),
    ],
)
def test_logging_takes_the_flags_of_go_operators_too(flags: tuple[str, ...], level: str, form: str) -> None:
    given = parse(_parser(), ["web.py", *flags], {})
    assert (given.log_level, given.log_format) == (level, form)
