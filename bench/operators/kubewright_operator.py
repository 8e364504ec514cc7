"""The benchmark's operator on Kubewright. Run: kubewright run bench/operators/kubewright_operator.py"""

from kubewright import Context, Model, Operator, Resource, controller, resource


class Setting(Model):
    enabled: bool
    value: str
    weight: int


class WidgetSpec(Model):
    revision: int
    settings: dict[str, Setting] = {}


class WidgetStatus(Model):
    revision: int = 0
    summary: str = ""


@resource(group="bench.example.com", version="v1")
class Widget(Resource[WidgetSpec, WidgetStatus]):
    """About 3 KB of custom resource."""


@controller(Widget, workers=16)
async def reconcile(widget: Widget, ctx: Context) -> None:
    widget.status.revision = widget.spec.revision
    widget.status.summary = f"{len(widget.spec.settings)} settings"


operator = Operator("bench-kubewright", controllers=[reconcile])
