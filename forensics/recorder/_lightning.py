"""The recorder inside a Trainer of Lightning."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

try:
    from lightning.pytorch import Callback
except ImportError:  # the package under its older name
    from pytorch_lightning import Callback  # type: ignore[assignment,unused-ignore]

if TYPE_CHECKING:
    from forensics.recorder import Recorder


class LightningCallback(Callback):
    """Takes each batch as the training step gets it, gradients before they are clipped."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder, self._step = recorder, 0

    def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
        """Note the random state and the step under which this batch will be logged."""
        loop = trainer.fit_loop.epoch_loop
        self._step = getattr(loop, "_batches_that_stepped", trainer.global_step)
        self._recorder.begin()

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        """Measure the gradients: accumulated, unscaled, not clipped."""
        self._recorder.gradients(pl_module)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, *_: Any
    ) -> None:
        """Look at the step."""
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        self._recorder.step(self._step, batch, loss, scaler=scaler)
