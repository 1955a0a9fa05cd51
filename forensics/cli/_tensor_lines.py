"""A scanned checkpoint as lines of text; plain, for loading a table library takes longer."""

from collections.abc import Iterator, Sequence

from forensics.tensor_stats import TensorStats

MOST_ROWS = 40
_HEADINGS = ("tensor", "role", "type", "shape", "NaN", "Inf", "zero", "largest", "RMS", "mean")
_TEXT_COLUMNS = 4


def checkpoint_lines(tensors: Sequence[TensorStats], *, all_rows: bool) -> Iterator[str]:
    """A headline, and a line for each tensor, those that are poisoned first.

    Args:
        tensors: Of one checkpoint.
        all_rows: Show every tensor, however many there are.
    """
    yield _headline(tensors)
    order = sorted(tensors, key=lambda t: not t.is_poisoned)
    shown = order if all_rows else order[:MOST_ROWS]
    yield from _table([_HEADINGS, *map(_row, shown)])
    if len(shown) < len(order):
        yield f"  and {len(order) - len(shown):,} more (--all shows them, --csv FILE keeps them)"


def _headline(tensors: Sequence[TensorStats]) -> str:
    first = tensors[0]
    step = "" if first.step is None else f" (step {first.step})"
    bad = sum(t.is_poisoned for t in tensors)
    lost = sum(bool(t.missing) for t in tensors)
    nbytes = sum(t.nbytes for t in tensors if not t.shared)
    state = f"POISONED: {bad:,} of them hold NaN or infinity" if bad else "finite"
    unread = f"; {lost:,} not or not wholly read" if lost else ""
    return f"{first.checkpoint}{step}: {len(tensors):,} tensors, {_size(nbytes)}, {state}{unread}"


def _size(nbytes: int) -> str:
    value, units = float(nbytes), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.3g} {units[0]}"


def _row(tensor: TensorStats) -> tuple[str, ...]:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    name = tensor.name if tensor.rank is None else f"{tensor.name} (rank {tensor.rank})"
    if tensor.missing:
        name = f"{name} [{tensor.missing}]"
    bad = [f"{n:,}" if n else "" for n in (tensor.nan, tensor.pos_inf + tensor.neg_inf)]
    share = f"{100 * tensor.zero / tensor.size:.3g}%" if tensor.zero and tensor.size else ""
    values = (tensor.abs_max, tensor.rms, tensor.mean)
    return (
        _plain(name),
        tensor.role,
        tensor.dtype,
        shape,
        *bad,
        share,
        *(f"{v:.4g}" if v == v else "" for v in values),
    )


def _plain(name: str) -> str:
    """No control characters: a name comes from the file, and the line goes to a terminal."""
    return "".join(c if c.isprintable() else "?" for c in name)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if place < _TEXT_COLUMNS else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join(cells).rstrip()
