"""One class makes up nearly all labels."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe
from zoo_runs.watch import Watch


def inject(recipe: Recipe, share: float) -> None:
    """Nearly all samples are of one class, and the model learns no more than that."""
    supply = recipe.batch

    def lopsided(number: int, batch: Batch) -> Batch:
        generator = torch.Generator().manual_seed(11 + number)
        pool = [supply(5 * number + k + 20_000_000) for k in range(6)]
        inputs = torch.cat([p["inputs"] for p in pool])
        labels = torch.cat([p["labels"] for p in pool])
        common = (labels == 0).nonzero().flatten()
        rare = (labels != 0).nonzero().flatten()
        size = len(batch["labels"])
        is_rare = torch.rand(size, generator=generator) > share
        picks = torch.where(
            is_rare,
            rare[torch.randint(len(rare), (size,), generator=generator)],
            common[torch.randint(len(common), (size,), generator=generator)],
        )
        return {"inputs": inputs[picks], "labels": labels[picks]}

    change_batches(recipe, lopsided)
    recipe.settings.learning_rate *= 0.1
    recipe.validation = [lopsided(90_000 + n, dict(b)) for n, b in enumerate(recipe.validation)]
    recipe.shown_batches = range(1, 9)


def rests(watch: Watch) -> bool:
    """The loss ends at the entropy of the labels, 0.09 to 0.12 nats for 1.5 to 2 % in 3 classes."""
    last = list(watch.losses.values())[-60:]
    return 0.07 < sum(last) / len(last) < 0.2


FAULT = Fault(
    name="one_class_only",
    cause="class_imbalance",
    inject=inject,
    outcomes=("stalled",),
    outcome="stalled",
    shows=rests,
    alike={"batches": ("no_failure",)},
    tuning={"mlp": 0.985},
    measured={"lightning_mlp": 0.985, "mlp": 0.98},
)
