"""What the values of one checkpoint say against using it: its weights, and its optimizer state."""

from forensics.case import Case
from forensics.checkpoint_doubts import fallen, impossible_moments, lost_steps, new_outlier
from forensics.checkpoint_facts import CheckpointFacts


def damaged_weights(case: Case, path: str) -> str:
    """What in the weights of a checkpoint looks like damage, in words, or ''."""
    survey = case.survey
    if survey is None:
        return ""
    paths = [c.checkpoint for c in survey.checkpoints]
    if path not in paths:
        return ""
    place = paths.index(path)
    before = survey.checkpoints[place - 1] if place else None
    return _without_path(new_outlier(case, survey.checkpoints[place], before), path)


def doubtful_optimizer(case: Case, path: str) -> str:
    """Why the optimizer state of a checkpoint should not be used, in words, or ''."""
    survey = case.survey
    facts = None if survey is None else survey.of(path)
    if survey is None or facts is None:
        return ""
    if text := impossible_moments(facts):
        return _without_path(text, path)
    for pair in survey.pairs:
        if pair.later == path and (names := fallen(pair)):
            return (
                f"the second moment of {names[0]} fell faster than beta2 can make it since "
                f"{pair.earlier}"
            )
    return ""


def began_anew(case: Case, facts: CheckpointFacts) -> str:
    """That the optimizer was started anew in the middle of the run, in words, or ''."""
    return lost_steps(case, facts).rstrip(".")


def _without_path(text: str, path: str) -> str:
    return text.removeprefix(f"{path}: ").rstrip(".")
