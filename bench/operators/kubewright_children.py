"""As `kubewright_operator`, with one applied and owned ConfigMap for each widget."""

from kubewright_operator import Widget

from kubewright import Context, ObjectMeta, Operator, controller
from kubewright.models.core.v1 import ConfigMap


@controller(Widget, owns=[ConfigMap], workers=16)
async def reconcile(widget: Widget, ctx: Context) -> None:
    revision = str(widget.spec.revision)
    await ctx.apply(ConfigMap(metadata=ObjectMeta(name=widget.metadata.name), data={"revision": revision}))
    widget.status.revision = widget.spec.revision
    widget.status.summary = f"{len(widget.spec.settings)} settings"


operator = Operator("bench-kubewright", controllers=[reconcile])
