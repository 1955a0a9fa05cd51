"""Data order: the data came unshuffled, twice, or in another mixture; the weights are sound.

What it claims:
    Neighbouring batches resemble each other (no shuffle, a weak one, blocks by source), a resume
    replays samples seen before, or a phase of the data begins. The loss follows the data.

How it shows:
    The training loss steps to another level, or oscillates with the epoch, while validation stays.
    After a resume it is lower than before, and jumps back up where the unseen data begin: that
    jump is the end of a mistake, not its start.

For:
    A shift that validation does not share; a drop at a resume; a rise where the attempt before had
    stopped; events at the start of epochs; shuffling switched off. Accuracies of batches in a row
    near 0 and others near 1: each stretch holds one class. Captured batches that hold one class
    after the other.
    - The loss jumps in equal distances and falls in between.
    - Most batches are wholly wrong though others were wholly right.

Against:
    Validation that moves too; a gradient norm that grew before; a jump up right at the resume.

What to do:
    Shuffle with a generator that depends on the epoch, restore the position of the sampler, and
    log the mean loss of each source.

References:
    Marin 32B retrospective (level shift with validation flat). Stas Bekman, ML Engineering,
    training loss patterns. huggingface/accelerate pull request 4071 (epoch of the sampler).
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_data as data
from forensics.causes import _looks_resume as resume
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_gradients import gradient_grew
from forensics.causes._looks_learning import accuracy_below_chance, accuracy_swings
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_periodic import jumps_in_step
from forensics.causes._looks_spike import gradient_built_up, recurs_each_epoch
from forensics.causes._resumes import resume_step
from forensics.causes._where import onset_words
from forensics.findings import Change, Outcome
from forensics.phrasing import at_step


def _verify(case: Case) -> str:
    at = resume_step(case)
    where = onset_words(case) if at is None else f"{onset_words(case)} and {at_step(at)}"
    return (
        f"Log the sample numbers of 50 batches around {where} and look for repeats and for one "
        "source alone. With one checkpoint, compare the loss of a batch from before and one from "
        "after: if the data differ, so do the losses at the same weights."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Shuffle over the whole data set, with a new order for each epoch (set_epoch).",
        "Save and restore the position of the sampler with each checkpoint.",
        "When a new phase of data begins, mix it in gradually and warm the rate up again.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    return (Change("shuffle", False, True),) if case.config.shuffle is False else ()


CAUSE = Cause(
    name="data_order",
    title="Order of the data",
    family=Family.DATA,
    prior=0.3,
    claim="The loss follows the order of the data (unshuffled, repeated or shifted); the weights "
    "are sound.",
    clues=(
        *explains(
            (
                Outcome.SPIKED_RECOVERED,
                Outcome.SPIKED_UNRECOVERED,
                Outcome.DIVERGED,
            ),
            (Outcome.STALLED, Outcome.VALIDATION_FAILED, Outcome.HEALTHY),
        ),
        Clue("train_only_shift", data.level_shift_train_only, STRONG, -STRONG, group="shift"),
        Clue("began_as_step", data.began_as_step, STRONG, group="shift"),
        Clue("jumps_in_step", jumps_in_step, DECISIVE, group="turns"),
        Clue("accuracy_below_chance", accuracy_below_chance, DECISIVE, group="turns"),
        Clue("dropped_at_resume", resume.dropped_at_resume, STRONG, group="drop"),
        Clue("rose_at_old_end", resume.rose_at_old_end, STRONG),
        Clue("jumped_at_resume", resume.jumped_up_at_resume, -MODERATE, group="drop"),
        Clue("epoch_starts", data.events_at_epoch_starts, STRONG, -WEAK, group="epoch"),
        Clue("recurs_each_epoch", recurs_each_epoch, MODERATE, group="epoch"),
        Clue("accuracy_swings", accuracy_swings, DECISIVE + STRONG, -WEAK, group="turns"),
        Clue("sorted", batches.in_all_batches(Oddity.LABELS_SORTED), DECISIVE + STRONG, -MODERATE),
        Clue("one_class", batches.shows(Oddity.CLASS_COUNTS), MODERATE),
        Clue("not_shuffled", data.not_shuffled, STRONG, -MODERATE),
        Clue("gradient_grew", gradient_grew, -MODERATE, group="gradient"),
        Clue("gradient_built_up", gradient_built_up, -STRONG, group="gradient"),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=(
        "the sample numbers or sources of the batches around the event",
        "the loss of one checkpoint on batches from before and after it",
    ),
)
