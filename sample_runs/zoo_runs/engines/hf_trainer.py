"""The Trainer of transformers runs a recipe; it writes its own state, checkpoints and output."""

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.utils import logging

from zoo_runs.logged import Logged
from zoo_runs.recipe import Recipe
from zoo_runs.recorder import keep_batch
from zoo_runs.watch import Saved, Watch, is_finite

logging.disable_progress_bar()
DROPPED = ("rng_state.pth",)


class Rows:
    """The recipe's batches as a data set of rows in their order."""

    def __init__(self, recipe: Recipe) -> None:
        s = recipe.settings
        self._recipe, self._size = recipe, s.batch_size
        self._count = s.steps * s.gradient_accumulation_steps * s.batch_size

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        batch = self._recipe.batch(index // self._size + 1)
        return {name: tensor[index % self._size] for name, tensor in batch.items()}


class Observer(TrainerCallback):
    """Does what the recipe does after a step, and keeps the truth about each."""

    def __init__(self, recipe: Recipe, watch: Watch, losses: list[float]) -> None:
        self._recipe, self._watch, self._losses = recipe, watch, losses

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The mean loss of the step's micro-batches, then the hooks."""
        self._watch.losses[state.global_step] = sum(self._losses) / max(1, len(self._losses))
        self._losses.clear()
        for act in self._recipe.after_step:
            act(state.global_step, kwargs["model"], kwargs["optimizer"])
        if state.global_step == self._recipe.stop_after:
            control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The validation loss."""
        self._watch.validation[state.global_step] = kwargs["metrics"]["eval_loss"]

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The checkpoint and whether it is finite."""
        states = kwargs["model"].state_dict(), kwargs["optimizer"].state_dict()
        path = f"checkpoint-{state.global_step}"
        self._watch.saved.append(Saved(state.global_step, path, is_finite(*states)))


def arguments(recipe: Recipe, logged: Logged, folder: Path) -> TrainingArguments:
    """The recipe's settings in the Trainer's words."""
    s = recipe.settings
    saves = bool(logged.checkpoints)
    return TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=s.batch_size,
        per_device_eval_batch_size=32,
        gradient_accumulation_steps=s.gradient_accumulation_steps,
        max_steps=s.steps,
        learning_rate=s.learning_rate,
        lr_scheduler_type={"constant": "constant_with_warmup"}.get(s.schedule, s.schedule),
        warmup_steps=s.warmup_steps,
        weight_decay=s.weight_decay,
        max_grad_norm=s.max_grad_norm or 0.0,
        adam_beta1=s.betas[0],
        adam_beta2=s.betas[1],
        adam_epsilon=s.eps,
        logging_steps=logged.interval,
        save_strategy="steps" if saves else "no",
        save_steps=max(1, s.steps // logged.checkpoints) if saves else s.steps,
        eval_strategy="steps" if recipe.eval_every else "no",
        eval_steps=recipe.eval_every or None,
        train_sampling_strategy="sequential",
        use_cpu=True,
        seed=s.seed,
        disable_tqdm=True,
        report_to="tensorboard" if logged.format == "hf_tensorboard" else "none",
        dataloader_drop_last=True,
    )


def train(recipe: Recipe, logged: Logged, folder: Path) -> Watch:
    """Run a recipe with the Trainer, its output in ``train.log``."""
    watch, losses = Watch(), []
    torch.manual_seed(recipe.settings.seed)

    def loss_of(outputs: Any, labels: Tensor, **_: Any) -> Tensor:
        loss = recipe.criterion(outputs.logits, {"labels": labels})
        if loss.requires_grad:
            losses.append(loss.item())
        return loss

    with output(folder / "train.log"):
        for line in recipe.opening:
            print(line)
        trainer = Trainer(
            recipe.build(),
            arguments(recipe, logged, folder),
            train_dataset=Rows(recipe),
            eval_dataset=[{k: v[0] for k, v in b.items()} for b in recipe.validation] or None,
            compute_loss_func=loss_of,
            callbacks=[Observer(recipe, watch, losses)],
        )
        if recipe.optimizer is not None:
            trainer.optimizer = recipe.optimizer(trainer.model)
        _run(trainer, recipe, watch)
        for line in recipe.closing:
            print(line)
    _tidy(recipe, logged, folder)
    return watch


def _run(trainer: Trainer, recipe: Recipe, watch: Watch) -> None:
    try:
        trainer.train()
    except (IndexError, RuntimeError, ValueError) as error:
        watch.error = type(error).__name__
        print(traceback.format_exc().replace(str(Path(__file__).parents[2]), "."))
    if recipe.stop_after is None and not watch.error:
        trainer.save_state()
    shape = trainer.model.config.to_json_string()
    (Path(trainer.args.output_dir) / "config.json").write_text(shape)


@contextlib.contextmanager
def output(path: Path) -> Iterator[None]:
    """Everything printed inside goes to a file."""
    with path.open("w") as file, contextlib.redirect_stdout(file):
        yield


def _tidy(recipe: Recipe, logged: Logged, folder: Path) -> None:
    """Leave what this run is to leave."""
    if logged.format in ("hf_state", "hf_tensorboard") and not recipe.needs_text:
        (folder / "train.log").unlink()
    if logged.format in ("hf_text", "hf_tensorboard"):
        for state in folder.rglob("trainer_state.json"):
            state.unlink()
    if logged.config is None:
        (folder / "config.json").unlink()
    for name in DROPPED:
        for path in folder.rglob(name):
            path.unlink()
    for step in recipe.shown_batches:
        keep_batch(recipe, logged, folder, step, recipe.batch(step))
