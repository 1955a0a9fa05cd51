"""A resume that restores the weights and not the optimizer."""

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe, Resume


def prepare(recipe: Recipe) -> None:
    """Stop at 60 %, resume from a little before at the full rate."""
    saved = at_share(recipe, 0.55)
    recipe.settings.schedule = "constant"
    recipe.settings.learning_rate *= 8 if recipe.family == "char_lstm" else 3
    recipe.resume = Resume(
        saved=saved, stopped=at_share(recipe, 0.6), text=f"resuming from step {saved}"
    )


def inject(recipe: Recipe, _: None) -> int:
    """The second process loads the weights and starts Adam from empty moments."""
    assert recipe.resume is not None
    recipe.resume.restore = lambda optimizer, state: None
    return recipe.resume.saved + 1


FAULT = Fault(
    name="moments_lost",
    cause="resume_state_lost",
    prepare=prepare,
    inject=inject,
    told_by=("checkpoints",),
    outcomes=("spiked_recovered", "spiked_unrecovered"),
    tuning={"char_lstm": None, "regression": None},
    measured={"regression": None, "char_lstm": None},
    accept=("optimizer_state_corrupted",),
    leaves={"interval": 2},
)
