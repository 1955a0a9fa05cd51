"""Bad batch: corrupted samples in one batch gave one update that was far too large.

What it claims:
    One batch holds damaged or mislabelled samples (repeats, control characters, constant images,
    broken encodings). Its loss and its gradient are outliers in the same step; training before it
    was sound.

How it shows:
    The loss jumps to its full height in a single logged point, the gradient norm jumps in that
    very step, and the loss comes back within tens of steps. The same samples do it again at the
    same place of every epoch.

For:
    Damage in the captured batch of the step (repeats, noise, another scale, samples of one value)
    that other batches do not show. One logged point; gradient and loss in the same step, with a
    calm step before; at least twice the level; the same place of each epoch.
    - A peak above the loss of an untrained model.

Against:
    A captured batch in which nothing is odd. A gradient norm that grew over several steps (an
    update out of control does that); a slow climb to the peak; spikes at ever new places; a loss
    that does not come back; one of the first steps of the run, in which losses overshoot in health.

What to do:
    Look at the samples of the suspect steps. Skip or repair them; skip the batch before as well.
    A batch that is valid and merely hard is to be kept: see ``hard_but_valid_batch``, which logs
    alone can rarely tell from this one.

References:
    PaLM, arXiv 2204.02311, section 5.1 (restart 100 steps before, skip 200 to 500 batches).
    OLMo 2, arXiv 2501.00656, section 3 (repeated n-grams). Lightning's SpikeDetection skips the
    batch and the one before it.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_spike as spike
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_break import beyond_reason
from forensics.causes._looks_data import length_outlier
from forensics.causes._looks_last_finite import leapt_in_one_batch
from forensics.causes._looks_loss_shape import repeated_events
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_periodic import jumps_in_step
from forensics.causes._looks_replay_data import batch_bad_everywhere, damaged_batch
from forensics.causes._looks_resume import soon_after_resume
from forensics.causes._spikes import main_spike, suspect_steps
from forensics.causes._where import batch_words
from forensics.findings import Outcome
from forensics.phrasing import at_step

OTHER_FAULTS = (
    Oddity.NON_FINITE_INPUT,
    Oddity.LABEL_OUT_OF_RANGE,
    Oddity.TOKEN_OUT_OF_RANGE,
    Oddity.LABELS_ALL_MASKED,
    Oddity.OVERLONG,
)
"""What a batch may show that has a cause of its own."""


def _verify(case: Case) -> str:
    return (
        f"From the checkpoint before it, compute loss and gradient norm of {batch_words(case)} and "
        "of a neighbouring batch, then of both at a checkpoint at least 100 steps older. Bad at "
        "both checkpoints: the data. Bad at one only: the data met weights in a fragile state."
    )


def _fix(case: Case) -> list[str]:
    spike_found = main_spike(case)
    where = "the suspect step" if spike_found is None else at_step(spike_found.onset_step)
    return [
        f"Print the samples of {where}: source, length, labels, longest repeat, share of unusual "
        "characters or constant pixels.",
        "Remove or repair what is damaged, and filter the rest of the data by the same rule.",
        "Resume from the checkpoint before it and skip those batches.",
        "Keep a clip on the gradient norm, so that the next one does less harm.",
    ]


CAUSE = Cause(
    name="bad_batch",
    title="Bad batch",
    family=Family.DATA,
    prior=0.6,
    claim="One batch of damaged samples gave a loss and a gradient far outside the usual.",
    clues=(
        *explains(
            (Outcome.SPIKED_RECOVERED, Outcome.SPIKED_UNRECOVERED),
            (Outcome.DIVERGED, Outcome.NON_FINITE),
        ),
        Clue("one_point", spike.one_point, STRONG, -WEAK, group="shape"),
        Clue("sudden", spike.sudden, MODERATE, -STRONG, group="shape"),
        # Where the weights were ruined by it, its spike goes on to rise.
        Clue("leapt_in_one_batch", leapt_in_one_batch, DECISIVE, group="shape"),
        Clue("gradient_same_step", spike.gradient_same_step, STRONG, -WEAK, group="gradient"),
        Clue("gradient_built_up", spike.gradient_built_up, -STRONG, group="gradient"),
        Clue("tall", spike.tall, WEAK, -MODERATE, group="height"),
        Clue("above_untrained", spike.above_untrained, WEAK, -WEAK, group="untrained"),
        Clue("recurs_each_epoch", spike.recurs_each_epoch, MODERATE, -WEAK, group="recurrence"),
        Clue("repeated_events", repeated_events, -MODERATE, group="recurrence"),
        Clue("in_first_points", spike.in_first_points, -STRONG),
        Clue("soon_after_resume", soon_after_resume, -STRONG),
        Clue("jumps_in_step", jumps_in_step, -STRONG),
        Clue("beyond_reason", beyond_reason, -MODERATE),
        Clue("length_outlier", length_outlier, -STRONG),
        Clue("recovered_soon", spike.recovered_soon, WEAK, -STRONG),
        Clue("batch_damaged", batches.shows(*batches.DAMAGE), DECISIVE, group="batch"),
        Clue("batch_unusual", batches.shows(*batches.UNUSUAL), MODERATE, group="batch"),
        Clue("batch_sound", batches.is_sound, -MODERATE, group="batch"),
        Clue("batch_of_other_fault", batches.shows(*OTHER_FAULTS), -STRONG),
        proof("replay", damaged_batch),
        Clue("batch_bad_everywhere", batch_bad_everywhere, STRONG, -MODERATE),
    ),
    verify=_verify,
    fix=_fix,
    skip=suspect_steps,
    needs=(
        "the batch of the suspect step (batches/step_<N>.safetensors or a replay file)",
        "a replay of the same batch at the checkpoint before and at a much earlier one",
    ),
)
