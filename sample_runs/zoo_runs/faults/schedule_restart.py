"""A resume at which the schedule begins anew."""

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe, Resume


def prepare(recipe: Recipe) -> None:
    """A decaying rate; stop at 70 % and resume there."""
    at = at_share(recipe, 0.7)
    recipe.settings.schedule = "cosine"
    recipe.settings.learning_rate *= {"char_gpt": 4, "char_lstm": 10}.get(recipe.family, 8)
    recipe.settings.warmup_steps = max(20, recipe.settings.warmup_steps)
    recipe.resume = Resume(saved=at, stopped=at, text=f"resuming from step {at}")


def inject(recipe: Recipe, _: None) -> int:
    """The scheduler is not restored: the rate goes through its warm-up to the peak again."""
    assert recipe.resume is not None
    saved = recipe.resume.saved
    recipe.resume.rate = lambda step: recipe.settings.rate(step - saved)
    return saved + 1


FAULT = Fault(
    name="schedule_anew",
    cause="schedule_restart",
    prepare=prepare,
    inject=inject,
    told_by=("lr",),
    outcomes=("spiked_unrecovered", "spiked_recovered", "diverged", "stalled"),
    tuning={"char_gpt": None, "regression": None},
    measured={"char_lstm": None, "regression": None},
    leaves={"lr": True},
)
