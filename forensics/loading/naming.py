"""Names the runs of a folder that holds several: what ``--run`` takes."""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from forensics.loading.places import bare_name
from forensics.loading.strands import Strand
from forensics.natural_order import natural_key


def names_of(runs: Sequence[Sequence[Strand]]) -> list[str]:
    """One name for each run: its folder, its file, or the label in its file; '' for a single run.

    The shortest of these that tells all runs apart; where none does, the file and the label.
    """
    if len(runs) == 1:
        return [""]
    proposals = [_proposals(strands) for strands in runs]
    names = ["" for _ in runs]
    for level in range(len(proposals[0])):
        taken = Counter(p[level] for p in proposals)
        for number, proposal in enumerate(proposals):
            name = proposal[level]
            if not names[number] and name and taken[name] == 1 and name not in names:
                names[number] = name
    return [
        name or _numbered(p[-1], number)
        for number, (name, p) in enumerate(zip(names, proposals, strict=True))
    ]


def _proposals(strands: Sequence[Strand]) -> tuple[str, ...]:
    first = max(strands, key=lambda s: len(s.curve.step) if s.curve is not None else 0)
    home = min((s.place.home for s in strands), key=lambda h: (h.count("/"), natural_key(h)))
    file = str(PurePosixPath(first.source.path).parent / bare_name(first.source.path))
    labelled = f"{home}/{first.label}".strip("/") if first.label else ""
    return home or "", labelled, file, first.source.path, f"{first.source.path}:{first.label}"


def _numbered(name: str, number: int) -> str:
    return f"{name}#{number + 1}"
