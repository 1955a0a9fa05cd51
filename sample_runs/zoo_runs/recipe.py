"""A training as a value: model, data, loss and settings; a fault is an edit of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

Batch = dict[str, Tensor]
Optimizer = torch.optim.Optimizer


@dataclass
class Settings:
    """What a script would write into its configuration."""

    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    steps: int = 400
    batch_size: int = 16
    warmup_steps: int = 0
    schedule: str = "constant"
    """constant, linear or cosine, after the warm-up."""
    weight_decay: float = 0.01
    max_grad_norm: float | None = 1.0
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    precision: str = "fp32"
    gradient_accumulation_steps: int = 1
    world_size: int = 1
    seed: int = 0
    extra: dict[str, Any] = field(default_factory=dict)
    """What the model and the data are, in the words of such scripts."""

    def rate(self, step: int) -> float:
        """Learning rate of a step, counted from 1."""
        if step <= self.warmup_steps:
            return self.learning_rate * step / self.warmup_steps
        done = (step - self.warmup_steps) / max(1, self.steps - self.warmup_steps)
        if self.schedule == "linear":
            return self.learning_rate * (1 - done)
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1 + float(torch.cos(torch.tensor(done * torch.pi))))
        return self.learning_rate


@dataclass
class Resume:
    """A process that stopped and a second one that went on from an earlier checkpoint."""

    saved: int
    """The last step of the checkpoint that is loaded."""
    stopped: int
    """The last step of the first process."""
    restore: Callable[[Optimizer, dict[str, Any]], None] = lambda o, state: o.load_state_dict(state)
    """What the second process makes of the optimizer's state."""
    rate: Callable[[int], float] | None = None
    """Learning rate of the second process by step; None: it goes on."""
    first_batch: int | None = None
    """Number of the batch with which the second process begins; None: the next one."""
    text: str = ""
    """A line that it prints."""


@dataclass
class Recipe:
    """One training, before it is run."""

    family: str
    engine: str
    """loop (plain torch), hf or lightning."""
    settings: Settings
    build: Callable[[], nn.Module]
    batch: Callable[[int], Batch]
    """Number of a (micro-)batch, counted from 1, to its tensors; repeatable."""
    forward: Callable[[nn.Module, Batch], Tensor]
    criterion: Callable[[Tensor, Batch], Tensor]
    validation: list[Batch] = field(default_factory=list)
    validation_criterion: Callable[[Tensor, Batch], Tensor] | None = None
    classes: bool = False
    """True where labels (batch,) are classes, of which an accuracy can be told."""
    eval_every: int = 0
    """Steps between validations; 0: none."""
    rate: Callable[[int], float] | None = None
    optimizer: Callable[[nn.Module], Optimizer] | None = None
    after_backward: list[Callable[[int, nn.Module], None]] = field(default_factory=list)
    after_step: list[Callable[[int, nn.Module, Optimizer], None]] = field(default_factory=list)
    measures: dict[str, Callable[[nn.Module], float]] = field(default_factory=dict)
    """Further quantities that the script logs."""
    divide: bool = True
    """Whether accumulated and reduced gradients are divided by their number."""
    unscale_first: bool = True
    """Whether gradients are unscaled before they are clipped."""
    shown: Callable[[float], float] = float
    """What the script logs for a loss."""
    loss_name: str = "loss"
    """What the script calls it."""
    first_scale: float = 2.0**16
    growth_interval: int = 100
    """Of the loss scale; torch's own 2,000 steps are longer than these runs."""
    resume: Resume | None = None
    stop_after: int | None = None
    """The last step before the process is ended from outside."""
    opening: list[str] = field(default_factory=list)
    """Lines that the script prints before it trains."""
    closing: list[str] = field(default_factory=list)
    """Lines that the script, or what ended it, prints last."""
    needs_text: bool = False
    """True where what is printed belongs to the evidence."""
    shown_batches: range = range(0)
    """Steps whose batches a run would keep that keeps any."""

    def learning_rate(self, step: int) -> float:
        """Learning rate of a step, counted from 1."""
        return (self.rate or self.settings.rate)(step)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Training loss of a batch, a scalar."""
        return self.criterion(self.forward(model, batch), batch)

    def validation_loss(self, model: nn.Module) -> float:
        """Mean loss over the validation set in evaluation mode."""
        model.eval()
        criterion = self.validation_criterion or self.criterion
        with torch.no_grad():
            losses = [criterion(self.forward(model, b), b).item() for b in self.validation]
        model.train()
        return sum(losses) / len(losses) if losses else float("nan")

    def make_optimizer(self, model: nn.Module) -> Optimizer:
        """The optimizer that the settings name."""
        if self.optimizer is not None:
            return self.optimizer(model)
        return optimizer_of(list(model.parameters()), self.settings)


def optimizer_of(parameters: list[Any], s: Settings) -> Optimizer:
    """SGD with momentum 0.9, Adam or AdamW over parameters or groups of them."""
    if s.optimizer == "sgd":
        return torch.optim.SGD(
            parameters, lr=s.learning_rate, momentum=0.9, weight_decay=s.weight_decay
        )
    kind = torch.optim.Adam if s.optimizer == "adam" else torch.optim.AdamW
    return kind(
        parameters,
        lr=s.learning_rate,
        betas=s.betas,
        eps=s.eps,
        weight_decay=s.weight_decay,
        fused=True,
    )
