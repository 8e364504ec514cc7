"""As `kubewright_operator`, with BENCH_KINDS kinds and a controller for each; all but Widget have no objects."""

import os
import types
from typing import Any

from kubewright_operator import WidgetSpec, WidgetStatus, reconcile

from kubewright import Context, Operator, Resource, controller, resource


def another(number: int) -> object:
    made = types.new_class(f"Gadget{number}", (Resource[WidgetSpec, WidgetStatus],))
    kind = resource(group="bench.example.com", version="v1")(made)

    @controller(kind, workers=16)
    async def follow(gadget: Any, ctx: Context) -> None:
        gadget.status.revision = gadget.spec.revision

    return follow


more = [another(number) for number in range(1, int(os.environ["BENCH_KINDS"]))]
operator = Operator("bench-kubewright", controllers=[reconcile, *more])
