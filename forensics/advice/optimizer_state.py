"""Whether the optimizer state of the checkpoint to resume from may be kept."""

from forensics.advice._moments import began_anew, doubtful_optimizer
from forensics.case import Case
from forensics.checkpoint_facts import CheckpointFacts
from forensics.verdict import CheckpointVerdict


def judge_optimizer(case: Case, checkpoint: CheckpointVerdict) -> tuple[bool | None, str]:
    """Judge the optimizer state of one checkpoint.

    Returns:
        True to load it, False to start the moments anew, None where it was not looked at; and why.
    """
    facts = None if case.survey is None else case.survey.of(checkpoint.path)
    if facts is None:
        return None, "its optimizer state was not looked at"
    if not facts.trained:
        return _none_kept(facts)
    if doubt := doubtful_optimizer(case, checkpoint.path):
        return False, f"{doubt}: start the moments anew, with a warm-up"
    if missing := _missing(case, checkpoint):
        return False, f"{missing}: start the moments anew, with a warm-up"
    if text := began_anew(case, facts):
        return True, f"{text}; by now it is that of this run again, but set the schedule by the run"
    return True, _sound(facts)


def _none_kept(facts: CheckpointFacts) -> tuple[bool | None, str]:
    if facts.optimizer:
        return None, "the optimizer keeps no moments"
    return False, "it holds no optimizer state: the moments start anew, so use a warm-up"


def _missing(case: Case, checkpoint: CheckpointVerdict) -> str:
    lost = [
        t.name
        for t in case.tensors or ()
        if t.checkpoint == checkpoint.path and t.missing and t.role in ("exp_avg", "exp_avg_sq")
    ]
    return f"the moments of {len(lost):,} tensors cannot be read" if lost else ""


def _sound(facts: CheckpointFacts) -> str:
    exact = [m for m in facts.moments if m.exact]
    if not exact:
        return "its optimizer state is finite"
    return f"its moments are finite and within Adam's bound in all {len(exact):,} tensors"
