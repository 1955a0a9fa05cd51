"""Tells which strands are of one run.

The rules, in the order in which they are applied:

1. **In one folder**, strands of one format that log the same tag are one run where they carry one
   label, one file name, or come from the ranks of one job; where they are copies of each other;
   where one continues another; and, for event files, always: a restart in the same folder is an
   attempt of the run. Else they are different runs.
2. **Of several formats** in one folder each usually logs the same run: where every format has one,
   all are one. Where a format has several, the others' go to the one they copy, or whose file
   name they share, or that they come closest to. Whole logs of one format that call their loss
   differently and are far apart are different runs.
3. **Parts** (a checkpoint's copy of the history, attempts, ranks) go to the run of their home.
4. **Between folders**, a folder and one below it that hold copies are one run, and so are two that
   hold copies in different formats; a restart (``version_1`` after ``version_0``) continues the run
   before it where it starts in the middle and near the level that was left; a single run below a
   folder with a log of another format is that log's run.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from forensics.loading.closeness import are_rivals, closest, share_points
from forensics.loading.curves import Relation, continues, differ_plainly, levels_match, relate
from forensics.loading.places import is_above, series_name
from forensics.loading.strands import Strand

Group = list[Strand]
MAX_GAP = 0.1
"""A restart in another folder may lack this share of the steps before it, lost at the crash."""
_MIN_COPIED = 5


def group(strands: Sequence[Strand]) -> list[Group]:
    """Partition strands that logged a training loss into runs, in the order of the strands."""
    homes: dict[str, list[Strand]] = {}
    for strand in strands:
        homes.setdefault(strand.place.home, []).append(strand)
    groups = [one for home in homes.values() for one in _within_home(home)]
    return _in_order(_between_homes(groups), strands)


def _in_order(groups: Iterable[Group], strands: Sequence[Strand]) -> list[Group]:
    place = {id(strand): number for number, strand in enumerate(strands)}
    sorted_groups = [sorted(one, key=lambda s: place[id(s)]) for one in groups]
    return sorted(sorted_groups, key=lambda one: place[id(one[0])])


def merge_where(groups: Sequence[Group], same: Callable[[Group, Group], bool]) -> list[Group]:
    """Join groups, transitively, where ``same`` says so of any two."""
    merged: list[Group] = []
    for one in groups:
        alike = [other for other in merged if same(other, one)]
        merged = [other for other in merged if other not in alike]
        merged.append([*(strand for other in alike for strand in other), *one])
    return merged


def _within_home(strands: Sequence[Strand]) -> list[Group]:
    free = [s for s in strands if not s.place.bound]
    parts = [s for s in strands if s.place.bound]
    groups = _across_formats(free)
    for part in parts:
        if groups:
            (closest(part, groups) or groups[0]).append(part)
        else:
            groups.append([part])
    return groups


def _across_formats(strands: Sequence[Strand]) -> list[Group]:
    """Rules 1 and 2: runs of one folder."""
    channels: dict[tuple[str, str, str], list[Group]] = {}
    for strand in strands:
        axis = strand.curve.axis if strand.curve else ""
        channels.setdefault((strand.format, strand.tag, axis), []).append([strand])
    runs = [merge_where(singles, _same_format) for singles in channels.values()]
    runs.sort(key=len, reverse=True)
    groups = runs[0] if runs else []
    for others in runs[1:]:
        for other in others:
            home = _partner(other, groups)
            if home is None:
                groups.append(other)
            else:
                home.extend(other)
    return groups


def _partner(one: Group, groups: Sequence[Group]) -> Group | None:
    """The run whose log in another format, or of another tag, this is."""
    if len(groups) == 1 and not any(are_rivals(a, b) for a in one for b in groups[0]):
        return groups[0]
    return closest(one[0], groups)


def _same_format(one: Group, other: Group) -> bool:
    return any(_are_one_run(a, b) for a in one for b in other)


def _are_one_run(one: Strand, other: Strand) -> bool:
    """Rule 1, of two strands of one folder, format and tag."""
    if one.label != other.label and one.label and other.label:
        return False
    if one.label and one.label == other.label:
        return True
    if one.stem == other.stem and one.source is not other.source:
        return True  # train.out and train.err, or train_rank0.log and train_rank1.log
    if "tfevents" in one.source.path and _folder(one) == _folder(other):
        return True
    return _follow(one, other) or _are_copies(one, other) or share_points(one, other)


def _folder(strand: Strand) -> str:
    return strand.source.path.rpartition("/")[0]


def _are_copies(one: Strand, other: Strand) -> bool:
    if one.curve is None or other.curve is None or differ_plainly(one.curve, other.curve):
        return False
    return relate(one.curve, other.curve) is Relation.COPY


def _follow(one: Strand, other: Strand) -> bool:
    a, b = one.curve, other.curve
    return a is not None and b is not None and (continues(a, b) or continues(b, a))


def _between_homes(groups: Sequence[Group]) -> list[Group]:
    """Rule 4."""
    merged = merge_where(groups, _are_copies_elsewhere)
    merged = _restarts(merged)
    return _only_children(merged)


def _are_copies_elsewhere(one: Group, other: Group) -> bool:
    return any(_is_copy_elsewhere(a, b) for a in one for b in other)


def _is_copy_elsewhere(one: Strand, other: Strand) -> bool:
    a, b = one.place.home, other.place.home
    if a == b or one.curve is None or other.curve is None:
        return False
    if not (is_above(a, b) or is_above(b, a)) and (
        one.format == other.format or min(len(one.curve.step), len(other.curve.step)) < _MIN_COPIED
    ):
        return False
    return relate(one.curve, other.curve) is Relation.COPY


def _restarts(groups: Sequence[Group]) -> list[Group]:
    """Join a run with the one it continues: of several that it may, the last in order."""
    kept: list[Group] = []
    for later in groups:
        before = [g for g in kept if _restarted(g, later)]
        if before:
            before[-1].extend(later)
        else:
            kept.append(list(later))
    return kept


def _restarted(earlier: Group, later: Group) -> bool:
    return any(
        a.curve is not None
        and b.curve is not None
        and a.place.home != b.place.home
        and series_name(a.place.home) == series_name(b.place.home)
        and continues(a.curve, b.curve, max_gap=MAX_GAP)
        and levels_match(a.curve, b.curve)
        for a in earlier
        for b in later
    )


def _only_children(groups: Sequence[Group]) -> list[Group]:
    """Join a log with the only run below its folder, where the formats differ."""
    merged = [list(one) for one in groups]
    for one, other in combinations(groups, 2):
        upper, lower = sorted((one, other), key=lambda g: len(_home(g)))
        below = [g for g in merged if _home(g) != _home(upper) and is_above(_home(upper), _home(g))]
        beside = [g for g in merged if _home(g) == _home(upper)]
        formats = {s.format for s in upper} & {s.format for s in lower}
        if len(below) == len(beside) == 1 and below[0][0] is lower[0] and not formats:
            merged = [g for g in merged if g is not below[0]]
            beside[0].extend(lower)
    return merged


def _home(one: Group) -> str:
    return min((s.place.home for s in one), key=len)
