"""What `@controller` refuses at once, and not at the first object."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kubewright import Context, Key, controller
from kubewright.model import Object
from kubewright.models.core.v1 import ConfigMap
from webs import Web


async def reconcile(web: Any, ctx: Any) -> None: ...


async def clean(web: Any, ctx: Any) -> None: ...


def refused(make: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_a_function_takes_an_object_and_a_context() -> None:
    async def one(web: Any) -> None: ...
    async def three(web: Any, ctx: Any, db: Any) -> None: ...
    async def by_name(web: Any, *, ctx: Any) -> None: ...

    for each, shown in ((one, "one(web)"), (three, "three(web, ctx, db)"), (by_name, "by_name(web, ctx)")):
        refused(lambda each=each: controller(Web)(each), TypeError, f"{shown} must take two arguments, (obj, ctx)")
        refused(lambda each=each: controller(Web, finalize=each)(reconcile), TypeError, f"{shown} must take two")


def test_a_wrapper_that_adds_an_argument_is_taken_for_what_it_is() -> None:
    async def three(web: Any, ctx: Any, db: Any) -> None: ...

    @functools.wraps(three)
    async def wrapper(web: Any, ctx: Any) -> None:
        await three(web, ctx, None)

    controller(Web)(wrapper)
    controller(Web)(functools.partial(three, db=None))


def test_methods_take_an_object_and_a_context_besides_self() -> None:
    class Bare:
        async def reconcile(self, web: Any) -> None: ...

    class Careless:
        async def reconcile(self, web: Any, ctx: Any) -> None: ...
        async def finalize(self) -> None: ...

    class Static:
        @staticmethod
        async def reconcile(web: Any, ctx: Any) -> None: ...

    refused(lambda: controller(Web)(Bare), TypeError, "Bare: reconcile(self, web) must take (self, obj, ctx)")
    refused(lambda: controller(Web)(Careless), TypeError, "Careless: finalize(self) must take (self, obj, ctx)")
    assert controller(Web)(Static) is Static


def test_a_finalizer_without_anything_to_finalize_is_refused() -> None:
    class Plain:
        async def reconcile(self, web: Any, ctx: Any) -> None: ...

    named = controller(Web, finalizer="example.com/x")
    refused(lambda: named(reconcile), TypeError, "there is nothing to finalize; give @controller(..., finalize=")
    refused(lambda: named(Plain), TypeError, "there is nothing to finalize; give Plain a finalize(self, obj, ctx)")


@pytest.mark.parametrize(
    ("finalizer", "problem"),
    [
        ("clean", "has no domain; write it as example.com/name"),
        ("", "has no name"),
        ("example.com/", "has no name"),
        ("Example.com/x", "has a prefix that is not a DNS name"),
        ("example.com/a/b", "has more than one '/'"),
    ],
)
def test_a_finalizer_is_qualified_by_a_domain(finalizer: str, problem: str) -> None:
    text = f"controller(finalizer={finalizer!r}): {problem}"
    refused(lambda: controller(Web, finalize=clean, finalizer=finalizer), ValueError, text)


def test_owned_kinds_are_classes_in_a_list() -> None:
    made: Any = controller
    refused(lambda: made(Web, owns=["Deployment"]), TypeError, "'Deployment' is not the class of a kind; import it")
    for owns, shown in (("Deployment", "'Deployment'"), (ConfigMap, "ConfigMap")):
        refused(lambda owns=owns: made(Web, owns=owns), TypeError, f"owns={shown}): must be a list of classes")


def test_a_decorator_without_its_kind_says_how_to_write_it() -> None:
    made: Any = controller

    class Reconciler:
        async def reconcile(self, web: Any, ctx: Any) -> None: ...

    for target, shown in ((reconcile, "reconcile"), (Reconciler, "Reconciler"), ("Web", "'Web'")):
        refused(lambda target=target: made(target), TypeError, f"@controller on {shown}: say which kind")
        refused(lambda target=target: made(target), TypeError, "@controller(Kind)")


def test_a_function_that_says_it_takes_another_kind_is_refused() -> None:
    async def config(config: ConfigMap, ctx: Context) -> None: ...
    async def key(key: Key, ctx: Context) -> None: ...
    async def anything(obj: Object, ctx: Context) -> None: ...
    async def itself(web: Web, ctx: Context) -> None: ...

    told = "@controller(Web): config is given a Web, and says config: ConfigMap; say config: Web, or"
    refused(lambda: controller(Web)(config), TypeError, told)
    refused(lambda: controller(Web, finalize=config)(reconcile), TypeError, told)
    refused(lambda: controller(Web)(key), TypeError, "key is given a Web, and says key: Key; say key: Web")
    refused(lambda: controller(Web, by="key")(itself), TypeError, "itself is given a Key, and says web: Web")
    assert controller(Web)(anything)
    assert controller(Web)(itself)
    assert controller(Web, by="key")(key)


def test_a_method_that_says_it_takes_another_kind_is_refused() -> None:
    class Wrong:
        async def reconcile(self, config: ConfigMap, ctx: Context) -> None: ...

    class Static:
        @staticmethod
        async def reconcile(config: ConfigMap, ctx: Context) -> None: ...

    class Right:
        async def reconcile(self, web: Web, ctx: Context) -> None: ...
        async def finalize(self, web: Web, ctx: Context) -> None: ...

    for each in (Wrong, Static):
        refused(
            lambda each=each: controller(Web)(each), TypeError, "reconcile is given a Web, and says config: ConfigMap"
        )
    assert controller(Web)(Right)


LAZY = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from kubewright import Context

@controller(Web)
async def one(web: Web, ctx: Context) -> None: ...

@controller(Web)
class Two:
    async def reconcile(self, web: Web, ctx: Context) -> None: ...
    async def finalize(self, web: Web, ctx: Context) -> None: ...
"""


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated where they are written")
def test_what_is_imported_for_type_checkers_only_is_no_error() -> None:
    names = {"controller": controller, "Web": Web, "ConfigMap": ConfigMap}
    exec(compile(LAZY, "lazy.py", "exec", dont_inherit=True), names)
    wrong = compile(LAZY.replace("(web: Web", "(web: ConfigMap"), "lazy.py", "exec", dont_inherit=True)
    refused(lambda: exec(wrong, names), TypeError, "one is given a Web, and says web: ConfigMap")


def test_a_function_that_tells_nothing_of_its_parameters_is_taken_on_trust() -> None:
    controller(Web)(getattr)
