"""Label misalignment: the labels do not belong to the inputs they stand beside.

What it claims:
    Inputs and labels are paired wrongly: shuffled apart, shifted by one too many or one too few,
    joined on the wrong key. The model sees correct gradients of a wrong task.

How it shows:
    Shuffled: the loss falls to the entropy of the labels and stays, accuracy at chance, with a
    healthy gradient. Shifted twice: a pretrained model starts far too high and trains to a worse
    level. Not shifted: the answer stands in the input and the loss is next to zero at once.

For:
    A plateau at the level of guessing with a healthy gradient and an ordinary learning rate;
    accuracy at chance; a first loss above a uniform guess; a loss that vanishes at once.
    - Captured batches whose labels are the tokens of another place than the same or the next.

Against:
    A dead gradient (then nothing can be learned from any labels); a tiny learning rate; steady
    progress.
    - Not even the frequencies of the tokens were learned: the updates do not arrive.
    - Captured batches whose labels are the tokens of the same or of the next place.
    - New weights that cost far more than a guess before any step: labels cannot do that.
    - Queries and keys that have grown until attention no longer chooses.
    - Weights of impossible size, an epsilon above the gradients, layers that no gradient reaches.

What to do:
    Look at twenty samples with their labels, as the model gets them. Overfit one batch. Score the
    labels shifted by -1, 0, +1 and +2: the right shift has the lowest loss.

References:
    Karpathy, A Recipe for Training Neural Networks. huggingface/transformers issue 47394 and
    LlamaFactory issue 10457 (shifted twice).
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_activations import attention_logits_harmful
from forensics.causes._looks_batches import in_all_batches
from forensics.causes._looks_depth import moments_vanish
from forensics.causes._looks_first_loss import initial_far_above_chance, wrong_before_steps
from forensics.causes._looks_gradients import gradient_alive
from forensics.causes._looks_growth import query_key_large
from forensics.causes._looks_initial import units_alike, weights_oversized
from forensics.causes._looks_learning import (
    accuracy_at_chance,
    accuracy_high_and_flat,
    loss_vanished,
    rests_below_chance,
)
from forensics.causes._looks_learning_rate import (
    lr_above_range,
    lr_far_above_range,
    lr_tiny,
    lr_zero,
)
from forensics.causes._looks_moments import epsilon_dominates
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_data import labels_carry_nothing, labels_shifted
from forensics.causes._looks_rest import (
    frequencies_unlearned,
    overshot_at_first,
    rests_above_guess,
    rests_on_guessing,
    still_falls,
)
from forensics.causes._looks_settings import epsilon_large
from forensics.causes._looks_travel import hardly_moved, reach_short
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    shift = (
        ""
        if case.config.vocab_size is None and case.config.seq_len is None
        else (
            " For a language model, score one batch with its labels shifted by -1, 0, +1 and +2: "
            "the lowest loss must be at the shift the model expects."
        )
    )
    return (
        "Train on one batch of 16 samples for 200 steps with its own labels, then with the labels "
        f"permuted: only the first may be learned much faster.{shift}"
    )


def _fix(_: Case) -> list[str]:
    return [
        "Decode or draw twenty samples with their labels, from the loader and not from the files.",
        "Shift labels exactly once: in the collator or in the model.",
        "Apply one permutation to inputs and labels, and join tables on a key instead of a row.",
    ]


CAUSE = Cause(
    name="label_misalignment",
    title="Labels do not match their inputs",
    family=Family.DATA,
    prior=0.35,
    claim="Labels stand beside inputs they do not belong to, so there is nothing to learn but "
    "their frequencies.",
    clues=(
        *explains((Outcome.STALLED,), (Outcome.VALIDATION_FAILED, Outcome.OVERFIT)),
        Clue("rests_on_guessing", rests_on_guessing, MODERATE, -MODERATE, group="level"),
        Clue("loss_vanished", loss_vanished, DECISIVE, group="level"),
        Clue("below_chance", rests_below_chance, -STRONG),
        Clue("frequencies_unlearned", frequencies_unlearned, -STRONG),
        Clue("rests_above_guess", rests_above_guess, -MODERATE),
        Clue("overshot_at_first", overshot_at_first, -MODERATE),
        Clue("still_falls", still_falls, -WEAK),
        Clue("gradient_alive", gradient_alive, WEAK, -STRONG),
        Clue("units_alike", units_alike, -DECISIVE, group="weights"),
        Clue("weights_oversized", weights_oversized, -STRONG, group="weights"),
        Clue("epsilon_dominates", epsilon_dominates, -STRONG, group="epsilon"),
        Clue("epsilon_large", epsilon_large, -STRONG, group="epsilon"),
        Clue("moments_vanish", moments_vanish, -STRONG),
        Clue("hardly_moved", hardly_moved, -STRONG, group="rate"),
        Clue("reach_short", reach_short, -STRONG, group="rate"),
        Clue("rate_above_range", lr_above_range, -MODERATE, group="rate"),
        Clue("accuracy_at_chance", accuracy_at_chance, MODERATE, group="level"),
        Clue("accuracy_above_chance", accuracy_at_chance, 0.0, -STRONG, group="accuracy"),
        Clue("accuracy_high", accuracy_high_and_flat, -STRONG, group="accuracy"),
        Clue("first_above_chance", initial_far_above_chance, WEAK, group="first"),
        Clue("wrong_before_steps", wrong_before_steps, -STRONG, group="first"),
        Clue("query_key_large", query_key_large, -STRONG, group="attention"),
        Clue("attention_logits_large", attention_logits_harmful, -STRONG, group="attention"),
        Clue("rate_zero", lr_zero, -STRONG, group="rate"),
        Clue("rate_tiny", lr_tiny, -STRONG, group="rate"),
        Clue("rate_far_too_high", lr_far_above_range, -STRONG, group="rate"),
        Clue("shifted_in_batches", in_all_batches(Oddity.LABELS_SHIFTED), DECISIVE, -STRONG),
        proof("replay", labels_shifted),
        Clue("labels_carry_nothing", labels_carry_nothing, STRONG, -WEAK),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "a batch with its labels (batches/step_<N>.safetensors or a replay file)",
        "the loss of that batch with the labels shifted and permuted",
    ),
)
