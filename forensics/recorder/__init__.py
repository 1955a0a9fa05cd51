"""Keeps the last batches of a training, and saves them when it leaves its band.

::

    recorder = Recorder("runs/exp1")
    recorder.step(step, batch, loss, model)                  # after backward, before clipping
    trainer.add_callback(recorder.hf_callback(trainer))      # transformers
    Trainer(callbacks=[recorder.lightning_callback()])       # lightning

It writes ``batches/step_N.safetensors`` with a ``.json`` beside it, which `forensics` reads. While
all is well a step costs a copy of its batch and one wait for the loss. Nothing raises into the
training: what goes wrong here is warned of once.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.recorder._band import Bands
from forensics.recorder._never_raising import Once, never_raising

if TYPE_CHECKING:
    import torch
    from torch import nn

    from forensics.recorder._gradients import GradientNorms
    from forensics.recorder._kept import Kept


class Recorder:
    """A ring of the last batches, watched by the loss and the norm of the gradient."""

    def __init__(
        self,
        run_dir: str | Path,
        keep: int = 4,
        *,
        max_dumps: int = 8,
        max_memory: int = 1 << 28,
        max_disk: int = 1 << 30,
        loss_k: float = 7.0,
        grad_k: float = 6.0,
    ) -> None:
        """Watch a run.

        Args:
            run_dir: Its folder; of several ranks each writes into its ``rank_<K>/``.
            keep: Steps held in memory: the suspect one and, as controls, those before it.
            max_dumps: Times that they are saved at most.
            max_memory: Bytes of batches held at most; the oldest go first.
            max_disk: Bytes that the folder of saved batches may reach.
            loss_k: Height of the loss's band in robust standard deviations.
            grad_k: The same for the logarithm of the gradient norm.
        """
        from forensics.recorder._folder import Folder  # the first that needs torch
        from forensics.recorder._ring import Ring

        self._ring, self._folder = Ring(keep, max_memory), Folder(Path(run_dir), max_disk)
        self._bands, self._dumps_left = Bands(loss_k, grad_k), max_dumps
        self._random: dict[str, Any] = {}
        self._norms: GradientNorms | None = None
        self.warn = Once(__name__)

    @never_raising
    def begin(self) -> None:
        """Note the random state just before a forward pass; else it is that after the last step."""
        from forensics.recorder._randomness import random_states

        self._random = random_states()

    @never_raising
    def gradients(self, model: "nn.Module", scaler: Any = None) -> None:
        """Measure the gradients now, where they are gone or clipped by the time of `step`."""
        from forensics.recorder._gradients import gradient_norms

        self._norms = gradient_norms(model, scaler)

    @never_raising
    def step(
        self,
        step: int,
        batch: Any,
        loss: "torch.Tensor | float | None",
        model: "nn.Module | None" = None,
        grad_norm: "torch.Tensor | float | None" = None,
        scaler: Any = None,
    ) -> None:
        """Look at one step after its backward pass; with accumulation, at each micro-batch.

        Args:
            step: As the run numbers its logged losses; the same for all micro-batches of a step.
            batch: Tensors in any nesting of mappings and sequences.
            loss: Scalar.
            model: Its gradients are measured; give it where they are complete and not clipped.
            grad_norm: Of all gradients before clipping, where it is known already.
            scaler: The fp16 GradScaler: a step that it skips is no fault. Without ``grad_norm``
                the gradients are taken to carry its scale still.
        """
        from forensics.recorder._kept import measure

        if model is not None:
            self.gradients(model, scaler if grad_norm is None else None)
        norms, self._norms = self._norms, None
        kept = self._ring.add(step, batch, self._random)
        kept.norms = norms or kept.norms
        self._judge(kept, *measure(loss, grad_norm, norms), scaler)
        self._save(kept)
        self.begin()

    def _judge(self, kept: "Kept", loss: float | None, norm: float | None, scaler: Any) -> None:
        micro = len(kept.parts) - 1
        kept.losses.append(loss)
        if loss is not None and self._bands.loss_leaves(loss, micro):
            kept.left.append("loss")
        if norm is not None:
            kept.norm = norm
            # A scaler finds its scale by overflowing; at a scale of 1 there is none left to find.
            skipped = scaler is not None and not math.isfinite(norm) and scaler.get_scale() > 1
            if not skipped and self._bands.norm_leaves(norm, micro):
                kept.left.append("grad_norm")

    def _save(self, kept: "Kept") -> None:
        """Save the first step of a stay outside the band, with the controls from before it."""
        wanted = [kept] if kept.saved else []
        if kept.left and not kept.saved and self._ring.was_calm() and self._dumps_left > 0:
            self._dumps_left -= 1
            kept.saved = True
            wanted = list(self._ring.newest_first())
        for one in wanted:
            trouble = self._folder.save(one)
            if trouble:
                self.warn(f"batches are not saved: {trouble}")

    def hf_callback(self, trainer: Any) -> Any:
        """A callback for ``trainer.add_callback``.

        A Trainer shows its callbacks no batches, so its ``training_step`` is watched instead.
        """
        from forensics.recorder._hf import HFCallback

        return HFCallback(self, trainer)

    def lightning_callback(self) -> Any:
        """A callback for Lightning's Trainer."""
        from forensics.recorder._lightning import LightningCallback

        return LightningCallback(self)
