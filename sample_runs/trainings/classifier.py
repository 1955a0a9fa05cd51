"""A Lightning classifier of twenty-dimensional points in four classes, and its data."""

from pathlib import Path
from typing import Any

import lightning
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

CLASSES, WIDTH = 4, 20


def points(seed: int, count: int, noise: float) -> TensorDataset:
    """Points (count, 20) and classes (count,); a share ``noise`` of the labels is drawn anew."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, WIDTH, generator=generator)
    score = torch.stack([x[:, k] * x[:, k + 4] + x[:, k + 8] for k in range(CLASSES)], dim=1)
    redrawn = torch.rand(count, generator=generator) < noise
    labels = torch.where(
        redrawn, torch.randint(CLASSES, (count,), generator=generator), score.argmax(dim=1)
    )
    return TensorDataset(x, labels)


def loader(data: TensorDataset, *, shuffle: bool, batch_size: int = 32) -> DataLoader[Any]:
    """Batches of points and labels."""
    return DataLoader(data, batch_size=batch_size, shuffle=shuffle)


class Classifier(lightning.LightningModule):
    """Two hidden layers; logs loss and accuracy of training and validation."""

    def __init__(self, *, hidden: int, learning_rate: float) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(
            nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, CLASSES),
        )  # fmt: skip

    def _look(self, batch: list[torch.Tensor], name: str, **how: bool) -> torch.Tensor:
        x, label = batch
        logits = self.layers(x)
        loss = cross_entropy(logits, label)
        self.log(f"{name}_loss", loss, **how)
        self.log(f"{name}_acc", (logits.argmax(dim=1) == label).float().mean(), **how)
        return loss

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        """Loss of one batch."""
        return self._look(batch, "train")

    def validation_step(self, batch: list[torch.Tensor], _: int) -> None:
        """Mean loss and accuracy of the validation set."""
        self._look(batch, "val", on_epoch=True)

    def on_before_optimizer_step(self, _: torch.optim.Optimizer) -> None:
        """Log the global gradient norm before clipping."""
        norms = [p.grad.norm() for p in self.parameters() if p.grad is not None]
        self.log("grad_norm", torch.stack(norms).norm())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """AdamW without weight decay."""
        return torch.optim.AdamW(
            self.parameters(), lr=self.hparams["learning_rate"], weight_decay=0.0
        )

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the checkpoint free of this machine's paths."""
        here = str(Path.cwd())
        for state in checkpoint.get("callbacks", {}).values():
            for key, value in state.items():
                if isinstance(value, str):
                    state[key] = value.replace(here, ".")
