"""Queries and keys that grow without bound."""

from torch import nn

from zoo_runs.edits import change_model
from zoo_runs.families.char_gpt import Block, CharGpt
from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe, optimizer_of

FACTOR = 40.0
"""By which queries and keys learn faster than the rest."""


def blocks(model: nn.Module) -> list[Block]:
    """Attention blocks of a model."""
    assert isinstance(model, CharGpt)
    return [b for b in model.blocks if isinstance(b, Block)]


def prepare(recipe: Recipe) -> None:
    """Normalised queries and keys, whose projections may well have a rate of their own."""
    recipe.settings.steps, recipe.settings.schedule = 350, "constant"

    def normalise(model: nn.Module) -> None:
        for block in blocks(model):
            block.qk_norm = True

    change_model(recipe, normalise)
    recipe.measures["max_attn_logit"] = lambda model: max(b.largest_logit for b in blocks(model))

    def fast_attention(model: nn.Module) -> Optimizer:
        fast = [b.qkv.weight for b in blocks(model)]
        rest = [p for p in model.parameters() if all(p is not f for f in fast)]
        groups = [{"params": rest}, {"params": fast, "factor": FACTOR}]
        return optimizer_of(groups, recipe.settings)

    recipe.optimizer = fast_attention


def inject(recipe: Recipe, shown: bool) -> None:
    """Queries and keys are not normalised, and their product grows until attention is a switch."""
    build = recipe.build

    def plain() -> nn.Module:
        model = build()
        for block in blocks(model):
            block.qk_norm = False
        return model

    recipe.build = plain
    if not shown:
        recipe.measures.clear()


FAULT = Fault(
    name="attention_grows",
    cause="attention_logit_growth",
    prepare=prepare,
    inject=inject,
    outcomes=("spiked_unrecovered", "diverged", "stalled", "spiked_recovered"),
    tuning={"char_gpt": True, "post_norm_gpt": True},
    measured={"char_gpt": True, "char_gpt:hidden": False},
    accept=("learning_rate_too_high",),
    alike={"checkpoints": ("label_misalignment",)},
    leaves={"checkpoints": 8},
)
