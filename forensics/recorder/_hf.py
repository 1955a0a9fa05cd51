"""The recorder inside a Trainer of transformers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

if TYPE_CHECKING:
    from forensics.recorder import Recorder


class HFCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]  # what a Trainer accepts
    """Wraps ``training_step`` of a Trainer while it trains: callbacks are shown no batches."""

    def __init__(self, recorder: "Recorder", trainer: Any) -> None:
        self._recorder, self._trainer = recorder, trainer
        self._training_step = trainer.training_step

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Begin to watch."""
        self._trainer.training_step = self._watched

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Leave the Trainer as it was."""
        self._trainer.training_step = self._training_step

    def _watched(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        recorder, trainer = self._recorder, self._trainer
        seen = dict(inputs) if isinstance(inputs, Mapping) else inputs  # losses may pop the labels
        recorder.begin()
        loss = self._training_step(model, inputs, *args, **kwargs)
        complete = trainer.accelerator.sync_gradients
        recorder.step(
            trainer.state.global_step + 1,  # the step under which the Trainer will log it
            seen,
            loss,
            model if complete else None,
            scaler=trainer.accelerator.scaler,
        )
        return loss
