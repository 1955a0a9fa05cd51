"""Strand: what one file logged of one run, with the curve that tells runs apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from forensics.loading.curves import Curve, curve_of
from forensics.loading.intake import Source
from forensics.loading.places import (
    TRAINING,
    VALIDATION,
    Place,
    bare_name,
    place_of,
    split_of_name,
    without_rank,
)
from forensics.run import Series
from forensics.signals import Signal, classify, names_measure, normalise

_TRAINING_LOSS = (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH)
_DIVIDED = (
    *(Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.TRAIN_ACCURACY, Signal.TRAIN_ERROR),
    *(Signal.LOSS_COMPONENT, Signal.OTHER),
)
"""Quantities that mean something else in a folder of validation logs."""


@dataclass(frozen=True, eq=False)
class Strand:
    """The series of one run in one file."""

    source: Source
    place: Place
    series: tuple[Series, ...]
    label: str = ""
    """Name of the run inside the file, where the file holds several."""

    @property
    def format(self) -> str:
        """Name of the reader: sources of one format may be attempts, of several never."""
        return self.source.format

    @property
    def stem(self) -> str:
        """File name without its suffixes and without the rank."""
        return without_rank(bare_name(self.source.path))

    @cached_property
    def tag(self) -> str:
        """The training loss by which the strand is compared, '' where it logged none."""
        losses = [s for s in self.series if classify(s.tag) in _TRAINING_LOSS and len(s.step)]
        order = {Signal.TRAIN_LOSS: 1, Signal.TRAIN_LOSS_EPOCH: 0}
        best = max(
            losses,
            key=lambda s: (order[classify(s.tag)], not names_measure(s.tag), len(s.step)),
            default=None,
        )
        return normalise(best.tag) if best else ""

    @cached_property
    def curve(self) -> Curve | None:
        """The training loss, each step once; None where none was logged."""
        pieces = [s for s in self.series if normalise(s.tag) == self.tag and len(s.step)]
        return curve_of(pieces) if self.tag else None


def strands_of(sources: Sequence[Source]) -> list[Strand]:
    """Split the sources by the run labels inside them and put each in its place.

    Where a folder or file named after validation lies beside a training log, its tags get the
    prefix ``val/``; where there is none beside it, it is a run that happens to be called so.
    """
    homes = _trainer_homes(sources)
    places = {source.path: _place(source, homes) for source in sources}
    trained = {places[s.path].home for s in sources if _trains(s) and places[s.path].split != "val"}
    found = []
    for source in sources:
        place = places[source.path]
        if place.split == "val" and place.home not in trained and not _scalars_branch(source):
            place = place_of(source.path, homes, splits=False)
        found += _split_by_run(source, place)
    return found


def _trains(source: Source) -> bool:
    return any(classify(s.tag) in _TRAINING_LOSS for s in source.reading.series)


def _trainer_homes(sources: Sequence[Source]) -> frozenset[str]:
    """Folders in which a Hugging Face Trainer wrote: dated folders below are its attempts."""
    homes = set()
    for source in sources:
        folder = str(PurePosixPath(source.path).parent)
        own = PurePosixPath(source.path).name in ("trainer_state.json", "training_args.bin")
        if own:
            homes.add(place_of(source.path).home)
        elif "/runs/" in f"/{folder}" and "logging_nan_inf_filter" in str(
            source.reading.settings.keys()
        ):
            homes.add(folder.rpartition("runs")[0].rstrip("/"))
    return frozenset(homes)


def _place(source: Source, homes: frozenset[str]) -> Place:
    place = place_of(source.path, homes)
    branch = _scalars_branch(source)
    if branch is None:
        return place
    above = str(PurePosixPath(source.path).parent.parent / "x")
    outer = place_of(above, homes)
    return replace(outer, bound=True, split=split_of_name(branch) or branch)


def _scalars_branch(source: Source) -> str | None:
    """What ``add_scalars`` was given as the name of a curve: the folder ends in it.

    It writes the tag ``loss`` for the curve ``val`` to the folder ``loss_val/``.
    """
    tags = {series.tag for series in source.reading.series}
    folder = PurePosixPath(source.path).parent.name
    if len(tags) != 1 or "tfevents" not in source.path:
        return None
    main = tags.pop().replace("/", "_").replace(" ", "_")
    return folder.removeprefix(f"{main}_") if folder.startswith(f"{main}_") else None


def _split_by_run(source: Source, place: Place) -> list[Strand]:
    series = [_named_after_split(s, place) for s in source.reading.series if _is_kept(s, place)]
    labels = list(dict.fromkeys(s.run for s in series))
    named = [label for label in labels if label]
    if len(named) < 2:
        return [Strand(source, place, tuple(series), named[0] if named else "")]
    common = [s for s in series if not s.run]
    return [
        Strand(source, place, (*(s for s in series if s.run == label), *common), label)
        for label in named
    ]


def _is_kept(series: Series, place: Place) -> bool:
    """False for the final values that ``add_hparams`` writes as points of step 0."""
    return not (place.closing and len(series.step) <= 1)


def _named_after_split(series: Series, place: Place) -> Series:
    if place.split in ("", "train") or classify(series.tag) not in _DIVIDED:
        return series
    if normalise(series.tag).replace("_", "/").split("/")[0] in VALIDATION | TRAINING:
        return series
    if place.split == "val":
        return replace(series, tag=f"val/{series.tag}")
    return replace(series, tag=f"{series.tag}/{place.split}")
