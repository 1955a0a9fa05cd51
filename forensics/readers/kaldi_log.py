"""What a Kaldi program prints about one iteration: ``train.7.1.log``, ``compute_prob_valid.7.log``.

::

    # nnet3-train … "nnet3-am-copy --raw=true --learning-rate=0.0079 exp/7.mdl -|" …
    LOG (nnet3-train[5.5]:…) Overall average objective function for 'output' is -1.3 over 99 frames.
    # Ended (code 0) at Mon Nov 30 23:47:16 UTC 2026, elapsed time 1 seconds

The objective is the better the higher it is: its negative is the loss. The iteration is told by
the name of the file alone; `forensics.loading.iterations` puts the files of a run together.
"""

import re
from collections.abc import Iterator

import numpy as np

from forensics.errors import UnreadableFile
from forensics.readers import text_log
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._text.numerals import NUMBER, to_float
from forensics.run import Series, TextEvidence, TextKind

FORMAT = "Kaldi log"
_NAME = re.compile(
    r"(?P<part>train|compute_prob_(?:train|valid))\.(?P<n>\d{1,7}|final)(?:\.\d+)?\.log"
)
_KALDI = re.compile(rb"^(?:LOG|WARNING|ERROR) \([\w-]+\[\d+\.\d+[^\]]*\]:", re.MULTILINE)
_OVERALL = re.compile(
    r"Overall (?P<what>average objective function|log-likelihood|log-probability|accuracy) "
    rf"for '(?P<output>[\w.-]+)' is (?:{NUMBER} \+ {NUMBER} = )?(?P<value>{NUMBER}),? (?:per|over) "
)
_RATE = re.compile(rf"^#.*--learning-rate=(?P<value>{NUMBER})")
_ENDED = re.compile(r"^# Ended \(code (?P<code>\d+)\)")
_ERROR = re.compile(r"^(?:ERROR|ASSERTION_FAILED) \([\w-]+\[")
_MAIN = "output"
_TAGS = {
    ("train", "loss"): "train_loss",
    ("train", "accuracy"): "train_accuracy",
    ("compute_prob_valid", "loss"): "valid_loss",
    ("compute_prob_valid", "accuracy"): "valid_accuracy",
    ("compute_prob_train", "loss"): "negative_objective_on_a_part_of_train",
    ("compute_prob_train", "accuracy"): "train_accuracy",
}


def sniff(probe: Probe) -> bool:
    """Named after an iteration, and in the words of a Kaldi program."""
    return _NAME.fullmatch(probe.path.name) is not None and _KALDI.search(probe.head) is not None


def read(probe: Probe, progress: Progress) -> Reading:
    """Read what the iteration came to, and how its program ended.

    Raises:
        UnreadableFile: It could not be opened.
    """
    named = _NAME.fullmatch(probe.path.name)
    told = text_log.read(probe, progress)
    if named is None:
        raise UnreadableFile(f"{probe.source}: not named after an iteration")
    step = int(named["n"]) if named["n"].isdigit() else None
    lines = _lines(probe)
    points = dict(_points(named["part"], lines)) if step is not None else {}
    text = [t for t in told.text if t.kind is not TextKind.RUN_STARTED]
    text = [TextEvidence(t.kind, t.text, t.source, t.line, step) for t in text]
    return Reading(
        series=tuple(
            Series(tag, np.array([step]), np.array([value]), probe.source)
            for tag, value in points.items()
        ),
        text=(*text, *_ending(lines, probe.source, step)),
    )


def _lines(probe: Probe) -> list[str]:
    return probe.path.read_bytes().decode("utf-8", "replace").splitlines()


def _points(part: str, lines: list[str]) -> Iterator[tuple[str, float]]:
    """Tag and value of each quantity; of one that comes twice the last counts."""
    for line in lines:
        rate = _RATE.match(line) if part == "train" else None
        if rate is not None:
            yield "lr", to_float(rate["value"])
        found = _OVERALL.search(line)
        if found is not None:
            scored = found["what"] == "accuracy"
            tag = _TAGS[part, "accuracy" if scored else "loss"]
            tag = tag if found["output"] == _MAIN else f"{tag}/{found['output']}"
            value = to_float(found["value"])
            yield tag, value if scored else -value


def _ending(lines: list[str], source: str, step: int | None) -> Iterator[TextEvidence]:
    """That the program ended, and how: in Kaldi's own words where it failed."""
    failed = [(n, line) for n, line in enumerate(lines, 1) if _ERROR.match(line)]
    for number, line in enumerate(lines, 1):
        ended = _ENDED.match(line)
        if ended is not None and int(ended["code"]) == 0:
            yield TextEvidence(TextKind.RUN_FINISHED, line[:400], source, number, step)
        elif ended is not None:
            at, why = failed[0] if failed else (number, line)
            yield TextEvidence(TextKind.TRACEBACK, why[:400], source, at, step)


READER = Reader(FORMAT, 35, sniff, read)
