"""Lightning runs a recipe; it writes its own logs and checkpoints."""

import logging
import traceback
import warnings
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.data import DataLoader

from zoo_runs.engines.loop import share_right
from zoo_runs.logged import Logged
from zoo_runs.recipe import Batch, Optimizer, Recipe
from zoo_runs.recorder import as_written, keep_batch
from zoo_runs.watch import Saved, Watch, is_finite

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")


class Batches:
    """The recipe's batches as a data set."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def __len__(self) -> int:
        return self._recipe.settings.steps

    def __getitem__(self, index: int) -> Batch:
        return self._recipe.batch(index + 1)


class Module(lightning.LightningModule):
    """The recipe as a LightningModule."""

    def __init__(self, recipe: Recipe, logged: Logged, watch: Watch) -> None:
        super().__init__()
        if logged.config is not None:
            self.save_hyperparameters(as_written(recipe))
        self.network = recipe.build()
        self._recipe, self._logged, self._watch = recipe, logged, watch

    def training_step(self, batch: Batch, number: int) -> torch.Tensor:
        """Loss of one batch, logged with the accuracy where there are classes."""
        outputs = self._recipe.forward(self.network, batch)
        loss = self._recipe.criterion(outputs, batch)
        self._watch.losses[number + 1] = loss.item()
        self.log("train_loss", loss)
        if self._recipe.classes:
            self.log("train_acc", share_right(outputs, batch))
        return loss

    def validation_step(self, batch: Batch, _: int) -> None:
        """Loss of one validation batch."""
        criterion = self._recipe.validation_criterion or self._recipe.criterion
        outputs = self._recipe.forward(self.network, batch)
        size = len(next(iter(batch.values())))
        self.log("val_loss", criterion(outputs, batch), on_epoch=True, batch_size=size)
        if self._recipe.classes:
            right = share_right(outputs, batch)
            self.log("val_acc", right, on_epoch=True, batch_size=size)

    def on_validation_epoch_end(self) -> None:
        """Keep the truth about the validation."""
        value = self.trainer.callback_metrics.get("val_loss")
        if value is not None and self.trainer.global_step:
            self._watch.validation[self.trainer.global_step] = float(value)

    def on_before_optimizer_step(self, _: Optimizer) -> None:
        """Hooks on the gradient, then its norm before clipping."""
        step = self.trainer.global_step + 1
        for hook in self._recipe.after_backward:
            hook(step, self.network)
        norms = [p.grad.norm() for p in self.parameters() if p.grad is not None]
        norm = torch.stack(norms).norm()
        self._watch.norms[step] = norm.item()
        if self._logged.grad_norm:
            self.log("grad_norm", norm)

    def on_train_batch_end(self, outputs: Any, batch: Batch, number: int) -> None:
        """Hooks after the step."""
        for act in self._recipe.after_step:
            act(number + 1, self.network, self.trainer.optimizers[0])

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the truth about the checkpoint, and this machine's paths out of it."""
        step = self.trainer.global_step
        states = checkpoint["state_dict"], checkpoint["optimizer_states"]
        path = f"checkpoints/epoch=0-step={step}.ckpt"
        if step not in [s.step for s in self._watch.saved]:
            self._watch.saved.append(Saved(step, path, is_finite(*states)))
        checkpoint.get("callbacks", {}).clear()

    def configure_optimizers(self) -> Any:
        """The optimizer, and the rate by step."""
        optimizer = self._recipe.make_optimizer(self.network)
        peak = self._recipe.settings.learning_rate
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda done: self._recipe.learning_rate(done + 1) / peak
        )
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def train(recipe: Recipe, logged: Logged, folder: Path) -> Watch:
    """Run a recipe with Lightning."""
    watch, s = Watch(), recipe.settings
    torch.manual_seed(s.seed)
    callbacks: list[Any] = [LearningRateMonitor()] if logged.lr else []
    if logged.checkpoints:
        every = max(1, s.steps // logged.checkpoints)
        callbacks.append(
            ModelCheckpoint(
                every_n_train_steps=every, save_top_k=-1, dirpath=folder / "checkpoints"
            )
        )
    kind = TensorBoardLogger if logged.format == "lightning_tensorboard" else CSVLogger
    trainer = lightning.Trainer(
        max_steps=recipe.stop_after or s.steps,
        accelerator="cpu",
        logger=kind(folder, name="logs"),
        callbacks=callbacks,
        log_every_n_steps=logged.interval,
        val_check_interval=recipe.eval_every or None,
        limit_val_batches=1.0 if recipe.eval_every else 0,
        gradient_clip_val=s.max_grad_norm,
        enable_checkpointing=bool(logged.checkpoints),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    module = Module(recipe, logged, watch)
    validation = DataLoader(recipe.validation, batch_size=None) if recipe.eval_every else None
    try:
        trainer.fit(module, DataLoader(Batches(recipe), batch_size=None), validation)
    except (IndexError, RuntimeError, ValueError) as error:
        watch.error = type(error).__name__
        text = "\n".join([*recipe.opening, traceback.format_exc()])
        here = str(Path(__file__).parents[2])
        (folder / "train.log").write_text(text.replace(here, "."))
    for step in recipe.shown_batches:
        keep_batch(recipe, logged, folder, step, recipe.batch(step), first=0)
    return watch
