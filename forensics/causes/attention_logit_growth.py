"""Attention-logit growth: queries and keys grow until attention is a hard switch.

What it claims:
    Nothing bounds the product of queries and keys. Over hundreds to thousands of steps the logits
    of a few heads grow to where softmax is saturated (and, in 16 bits, its inputs overflow); small
    changes of the weights then change the output completely.

How it shows:
    Spikes that recover at first and come closer together, then one that does not, or a jump to a
    stable, higher level; gradients of infinity while the loss is still finite. Another optimizer, a
    reset of its state or a lower rate only delay it.

For:
    - A largest attention logit above 100 (watch), 1,000 (harm), 10,000 (diverged).
    - Growing or thickening spikes late in training; a jump to a stable level.
    - Infinite gradients in bf16; relapse after the rate was lowered.
    - Query and key weights that grow more than the others from checkpoint to checkpoint, or are
      many times as large as they.

Against:
    - Queries and keys are normalised, or the logits capped.
    - Logged logits that stay small; a model without attention.
    - The first steps of training: growth takes time.

What to do:
    Normalise queries and keys (a warm start costs a short re-warm-up), or rescale the projections
    of the worst heads by sqrt(100 / largest logit) as QK-clip does; resume from well before the
    first spike. Lowering the rate or raising weight decay on the projections did not work in the
    reports below.

References:
    - Small-scale proxies, arXiv 2309.14322: logits above 1e4 always diverged; QK-norm cures it.
    - M. Dehghani et al., Scaling Vision Transformers to 22 Billion Parameters, arXiv 2302.05442.
    - Kimi K2, arXiv 2507.20534: QK-clip at 100, no spike in 15.5 T tokens.
    - Marin 32B retrospective: other optimizers relapsed, QK-norm stopped the spikes.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_activations import (
    activations_grow,
    attention_logits_harmful,
    attention_logits_watched,
)
from forensics.causes._looks_break import beyond_reason, out_of_calm
from forensics.causes._looks_gradients import gradient_infinite_first
from forensics.causes._looks_growth import query_key_grew, query_key_large
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_loss_shape import escalating, settled_higher
from forensics.causes._looks_model import attention_used, qk_normalised
from forensics.causes._looks_outcome import BROKE, broke_early, ended, explains
from forensics.causes._looks_precision import half_precision
from forensics.causes._looks_rest import frequencies_unlearned
from forensics.causes._looks_resume import soon_after_resume
from forensics.causes._looks_schedule import lowered_in_vain
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    return (
        f"With {changes.restart_from(case)} and an earlier checkpoint, record max(q @ k.T / "
        "sqrt(d)) of each head on one batch: a few heads above 1,000, and much lower before, "
        "confirm it; scaling their Wq and Wk down should bring the loss back."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Add normalisation of queries and keys and resume from {changes.restart_from(case)} with "
        f"a re-warm-up of {changes.longer_warmup(case).after:,} steps.",
        "Or rescale Wq and Wk of each head whose largest logit exceeds 100 by sqrt(100 / logit) "
        "after each step.",
        "Compute attention logits and softmax in fp32, and log their maximum by head.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    return (Change("qk_norm", qk_normalised(case).holds, True),)


CAUSE = Cause(
    name="attention_logit_growth",
    title="Attention logits growing without bound",
    family=Family.MODEL,
    prior=0.2,
    claim="The attention logits of a few heads grew until attention saturated, and training broke "
    "on it.",
    clues=(
        *explains((*BROKE, Outcome.STALLED), rarely=(Outcome.SPIKED_RECOVERED,)),
        Clue("stalled", ended(Outcome.STALLED), -MODERATE, group="outcome"),
        Clue(
            "logits_harmful", attention_logits_harmful, DECISIVE + MODERATE, -STRONG, group="logits"
        ),
        Clue("logits_watched", attention_logits_watched, STRONG, -STRONG, group="logits"),
        Clue("activations_grow", activations_grow, MODERATE, group="logits"),
        Clue("queries_normalised", qk_normalised, -STRONG, WEAK),
        Clue("attention_used", attention_used, WEAK, -DECISIVE),
        Clue("settled_higher", settled_higher, MODERATE, group="shape"),
        Clue("escalating", escalating, MODERATE, group="shape"),
        Clue("gradient_infinite_first", gradient_infinite_first, WEAK, group="overflow"),
        Clue("out_of_calm", out_of_calm, -MODERATE, group="break"),
        Clue("beyond_reason", beyond_reason, -STRONG, group="break"),
        Clue("soon_after_resume", soon_after_resume, -MODERATE),
        Clue("frequencies_unlearned", frequencies_unlearned, -STRONG),
        Clue("half_precision", half_precision, -WEAK, group="overflow"),
        Clue("lowered_in_vain", lowered_in_vain, MODERATE),
        Clue("early", broke_early, -MODERATE, WEAK),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG),
        Clue("query_key_grew", query_key_grew, MODERATE, -WEAK, group="weights"),
        Clue("query_key_large", query_key_large, DECISIVE, group="weights"),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=(
        "The largest attention logit of each head on one batch, in two checkpoints (a replay).",
    ),
)
