"""Reads one tag folder (``global_step100``): weights, and the optimizer's flat vectors by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forensics.checkpoints._base import StoredTensor, TrainingState
from forensics.checkpoints._contents import Model, OptimizerState, Parts
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._single import read_or_note
from forensics.checkpoints._tensor_parallel import join_ranks
from forensics.checkpoints._torch_file import read_root
from forensics.checkpoints._zero._layout import Layout
from forensics.checkpoints._zero._model_states import ModelStates, read_model_states
from forensics.checkpoints._zero._optimizer_states import OptimizerRanks, read_optimizers
from forensics.errors import UnreadableFile
from forensics.found import Note


@dataclass(frozen=True, eq=False)
class _Rank:
    """What one rank of model parallelism wrote."""

    model: ModelStates
    optimizer: OptimizerRanks


def read_tag(layout: Layout) -> Iterator[Piece]:
    """The save, as pieces.

    Args:
        layout: Its files.
    """
    ranks, notes = _read_ranks(layout)
    yield from _pipeline(layout)
    for path in layout.experts:
        piece = read_or_note(path)
        yield replace(piece, parts=_relabelled(piece.parts, path.name.partition("_mp_rank")[0]))
    if not ranks:
        yield Piece("", Parts(), notes)
        return
    stage = max((rank.optimizer.stage for rank in ranks), default=0)
    parts = Parts((_weights(ranks),), tuple(_optimizers(ranks)), (), _state(ranks))
    kind = f"deepspeed zero-{stage}" if stage else "deepspeed"
    if not any(rank.model.tensors or rank.optimizer.vectors for rank in ranks):
        kind = ""  # nothing was read
    yield Piece(kind, parts, notes)
    for rank in ranks:  # where ZeRO is off, the optimizer lies in the file of the model
        if not rank.optimizer.vectors:
            yield Piece(kind, Parts(optimizers=rank.model.optimizers))


def _read_ranks(layout: Layout) -> tuple[list[_Rank], tuple[Note, ...]]:
    ranks: list[_Rank] = []
    notes: list[Note] = []
    for mp in sorted({*layout.models, *layout.optimizers}):
        roots: dict[int, Any] = {}
        for dp, path in layout.models.get(mp, {}).items():
            root = _root(path, notes)
            if root is not None:
                roots[dp] = root
        model = read_model_states(roots)
        files = layout.optimizers.get(mp, {})
        vectors = {dp: _root(path, notes) for dp, path in files.items()}
        optimizer = read_optimizers(vectors, model.shapes)
        if files and not model.shapes:
            text = "has no model states with the parameters' shapes; its vectors have no names"
            notes.append(Note(text, str(layout.folder)))
        if optimizer.absent:
            absent = ", ".join(map(str, optimizer.absent[:8]))
            text = (
                f"lacks the optimizer files of {len(optimizer.absent)} of {optimizer.world} ranks"
            )
            notes.append(Note(f"{text} ({absent}): it was not finished", str(layout.folder)))
        ranks.append(_Rank(model, optimizer))
    return ranks, tuple(notes)


def _root(path: Path, notes: list[Note]) -> Any:
    try:
        root, remarks = read_root(path)
    except (UnreadableFile, OSError) as error:
        notes.append(Note(str(error).removeprefix(f"{path}: "), str(path)))
        return None
    notes.extend(Note(remark, str(path)) for remark in remarks)
    return root if isinstance(root, dict) else {}


def _weights(ranks: Sequence[_Rank]) -> Model:
    return Model("", _keyed(join_ranks([rank.model.tensors for rank in ranks])))


def _optimizers(ranks: Sequence[_Rank]) -> Iterator[OptimizerState]:
    first = ranks[0].optimizer
    slots: dict[int | str, dict[str, Any]] = {}
    for slot in dict.fromkeys(slot for rank in ranks for slot in rank.optimizer.vectors):
        held = [rank.optimizer.vectors.get(slot, {}) for rank in ranks]
        for name, tensor in _keyed(join_ranks(held)).items():
            slots.setdefault(name, {})[slot] = tensor
    for rank in ranks:
        for name, step in rank.optimizer.steps.items():
            slots.setdefault(name, {})["step"] = step
    if slots:
        yield OptimizerState("optimizer", first.groups, slots)


def _keyed(pairs: Iterator[tuple[str, StoredTensor]]) -> dict[str, StoredTensor]:
    """By name; copies of one tensor that several ranks keep, by name and rank."""
    keyed: dict[str, StoredTensor] = {}
    for name, tensor in pairs:
        key = name if tensor.rank in (None, 0) else f"{name}@{tensor.rank}"
        keyed[key] = tensor
    return keyed


def _state(ranks: Sequence[_Rank]) -> TrainingState:
    state = ranks[0].model.state
    scaler: Mapping[str, Any] = ranks[0].optimizer.scaler
    return replace(state, scaler=state.scaler or scaler)


def _pipeline(layout: Layout) -> Iterator[Piece]:
    """Layers of a pipeline, each in a file of its own, named by its number."""
    by_rank: dict[int, dict[str, StoredTensor]] = {}
    notes: list[Note] = []
    for (mp, layer), path in sorted(layout.layers.items()):
        piece = read_or_note(path)
        notes.extend(piece.notes)
        for model in piece.parts.models:
            for name, tensor in model.tensors.items():
                by_rank.setdefault(mp, {})[f"{layer}.{name}"] = replace(
                    tensor, name=f"{layer}.{name}"
                )
    if by_rank or notes:
        joined = _keyed(join_ranks(list(by_rank.values()))) if by_rank else {}
        models = (Model("", joined),) if joined else ()
        yield Piece("deepspeed pipeline" if joined else "", Parts(models), tuple(notes))


def _relabelled(parts: Parts, label: str) -> Parts:
    return replace(parts, models=tuple(replace(model, label=label) for model in parts.models))
