"""One writer per log format: rows of a step and its quantities to files."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

Row = dict[str, float]
"""Quantity to value; the keys are `QUANTITIES`, those not logged at this step are absent."""
QUANTITIES = ("loss", "grad_norm", "lr", "loss_scale", "accuracy", "val_loss", "val_accuracy")


class Writer(Protocol):
    """Takes rows until it is closed."""

    def write(self, step: int, row: Row) -> None:
        """Write what was logged at a step."""

    def close(self) -> None:
        """Finish the file."""


class CsvWriter:
    """A CSV with a column per quantity, empty where nothing was logged."""

    def __init__(self, path: Path, names: dict[str, str], extra: tuple[str, ...] = ()) -> None:
        self._file = path.open("w", newline="")
        self._names, self._extra = names, extra
        self._csv = csv.writer(self._file)
        self._columns: list[str] = []

    def write(self, step: int, row: Row) -> None:
        """One line; the first one decides on the columns."""
        if not self._columns:
            self._columns = [*row, *(q for q in self._extra if q not in row)]
            self._csv.writerow(["step", *(self._names.get(c, c) for c in self._columns)])
        cells = (f"{row[c]:.6g}" if c in row else "" for c in self._columns)
        self._csv.writerow([step, *cells])

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JsonLines:
    """One JSON object a line."""

    def __init__(self, path: Path, names: dict[str, str]) -> None:
        self._file, self._names = path.open("w"), names

    def write(self, step: int, row: Row) -> None:
        """One line."""
        named = {self._names.get(k, k): float(f"{v:.6g}") for k, v in row.items()}
        self._file.write(json.dumps({"step": step, **named}) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JsonHistory:
    """One JSON file with the list of all rows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[dict[str, Any]] = []

    def write(self, step: int, row: Row) -> None:
        """Keep the row."""
        self._rows.append({"step": step, **row})

    def close(self) -> None:
        """Write the file."""
        self._path.write_text(json.dumps(self._rows))


class TensorBoard:
    """An event file."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._events = SummaryWriter(str(folder))

    def write(self, step: int, row: Row) -> None:
        """One scalar a quantity."""
        for name, value in row.items():
            part, plain = ("val", name[4:]) if name.startswith("val_") else ("train", name)
            self._events.add_scalar(f"{part}/{plain}", value, step)

    def close(self) -> None:
        """Close the file."""
        self._events.close()


class Text:
    """Lines of text in a style of their own."""

    def __init__(self, say: Callable[[str], None], style: Callable[[int, Row], str]) -> None:
        self._say, self._style = say, style

    def write(self, step: int, row: Row) -> None:
        """One line for training, one for validation."""
        training = {k: v for k, v in row.items() if not k.startswith("val_")}
        validation = {k: v for k, v in row.items() if k.startswith("val_")}
        for part in (training, validation):
            if part:
                self._say(self._style(step, part))

    def close(self) -> None:
        """Nothing to finish."""


def _digits(value: float) -> str:
    return f"{value:.2e}" if value and not 1e-3 < abs(value) < 1e6 else f"{value:.4f}"


def nano(step: int, row: Row) -> str:
    """``iter 10: loss 2.3012, grad_norm 1.0312, lr 1.00e-03``."""
    if "val_loss" in row:
        return f"step {step}: val loss {row['val_loss']:.4f}"
    return f"iter {step}: " + ", ".join(f"{k} {_digits(v)}" for k, v in row.items())


def pairs(step: int, row: Row) -> str:
    """``step: 10 loss: 2.3012 lr: 1.00e-03``."""
    return f"step: {step} " + " ".join(f"{k}: {_digits(v)}" for k, v in row.items())


def equals(step: int, row: Row) -> str:
    """``INFO step=10 loss=2.3012``."""
    second = step % 60, step // 60 % 60
    stamp = f"2025-03-04 10:{second[1]:02d}:{second[0]:02d}"
    return f"{stamp} INFO step={step} " + " ".join(f"{k}={_digits(v)}" for k, v in row.items())


def bars(step: int, row: Row) -> str:
    """``| step 10 | loss 2.3012 | lr 1.00e-03 |``."""
    cells = [f"{k.replace('_', ' ') if k != 'lr' else k}: {_digits(v)}" for k, v in row.items()]
    return f"step {step:6d} | " + " | ".join(cells)


STYLES = {"text_iter": nano, "text_pairs": pairs, "text_equals": equals, "text_bars": bars}


def open_writer(kind: str, folder: Path, say: Callable[[str], None]) -> Writer:
    """The writer of a format in a run's folder."""
    if kind == "csv":
        return CsvWriter(folder / "metrics.csv", {"loss": "train_loss"}, ("val_loss",))
    if kind == "csv_wide":
        names = {"loss": "train/loss", "lr": "learning_rate", "val_loss": "eval/loss"}
        return CsvWriter(folder / "history.csv", names, ("val_loss", "val_accuracy"))
    if kind == "jsonl":
        return JsonLines(folder / "metrics.jsonl", {"loss": "train_loss"})
    if kind == "json":
        return JsonHistory(folder / "history.json")
    if kind == "tensorboard":
        return TensorBoard(folder / "tensorboard")
    return Text(say, STYLES[kind])


def mean(values: list[float]) -> float:
    """Mean, NaN as soon as one is."""
    return math.fsum(values) / len(values) if all(map(math.isfinite, values)) else sum(values)
