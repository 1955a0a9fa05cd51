"""Hard but valid batch: a batch that is merely difficult, and is to be kept.

What it claims:
    The samples of one batch are correct and hard (another language, code, long answers, a rare
    class). The loss is higher there because there is more to learn.

How it shows:
    A single point a little above its neighbours, back at once, validation unmoved; again at the
    same place of each epoch, lower every time. With batches grouped by length it comes regularly.

For:
    A rise of less than half the level; quick return; the same place of each epoch; validation as
    before; batches grouped by length. A captured batch in which nothing is odd.

Against:
    Damage in the captured batch; a loss that doubles or more; a loss that stays up; validation that
    got worse.
    - A peak above the loss of an untrained model: what is merely hard is at worst unknown.

What to do:
    Nothing to the data. Look at the samples once, to be sure that they are what they should be.
    Removing hard samples makes the curve smoother and the model worse.

References:
    OLMo 2, arXiv 2501.00656, section 3 (the same sequence spikes in one order and not in another).
    Epochal sawtooth, arXiv 2410.10056.
"""

from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_spike as spike
from forensics.causes._base import (
    DECISIVE,
    MODERATE,
    PROVEN,
    STRONG,
    WEAK,
    Cause,
    Clue,
    Family,
    proof,
)
from forensics.causes._looks_outcome import ended, explains
from forensics.causes._looks_replay_data import valid_batch
from forensics.causes._where import batch_words
from forensics.findings import Outcome

FAILED_AS_A_WHOLE = (Outcome.STALLED, Outcome.OVERFIT, Outcome.VALIDATION_FAILED)


def _verify(case: Case) -> str:
    return (
        f"Read the samples of {batch_words(case)}: correct labels, right encoding, an ordinary "
        "length? Then compare their loss at an earlier and at a later checkpoint: a hard batch "
        "gets easier with training, a corrupted one does not."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Keep the samples.",
        "Shuffle more widely, so that hard samples of one source do not share a batch.",
        "Judge the curve by a mean over an epoch rather than by single steps.",
    ]


CAUSE = Cause(
    name="hard_but_valid_batch",
    title="Hard but valid batch",
    family=Family.DATA,
    prior=0.3,
    claim="The samples of the batch are correct and merely harder than the others.",
    clues=(
        *explains((Outcome.SPIKED_RECOVERED,)),
        # A batch that was hard for one step leaves a run as it was: something else made it fail.
        Clue("failed_otherwise", ended(*FAILED_AS_A_WHOLE), -PROVEN, group="outcome"),
        Clue("one_point", spike.one_point, STRONG, -WEAK, group="shape"),
        Clue("sudden", spike.sudden, MODERATE, -STRONG, group="shape"),
        Clue("gradient_built_up", spike.gradient_built_up, -STRONG),
        Clue("modest", spike.modest, STRONG, -WEAK, group="height"),
        Clue("tall", spike.tall, -MODERATE, group="height"),
        Clue("above_untrained", spike.above_untrained, -STRONG, WEAK, group="untrained"),
        Clue("recurs_each_epoch", spike.recurs_each_epoch, STRONG, -WEAK, group="recurrence"),
        Clue("lengths_grouped", spike.lengths_grouped, STRONG, group="recurrence"),
        Clue("recovered_soon", spike.recovered_soon, MODERATE, -STRONG, group="recovery"),
        Clue("in_first_points", spike.in_first_points, -STRONG),
        Clue("validation_unmoved", spike.validation_unmoved, WEAK, -MODERATE),
        Clue("batch_sound", batches.is_sound, MODERATE, -DECISIVE),
        proof("replay", valid_batch),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the batch of the suspect step, to read its samples",),
)
