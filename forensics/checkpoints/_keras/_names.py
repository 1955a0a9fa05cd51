"""Names of a model's variables, as Keras shows them, from where its files keep them."""

import re
from collections import Counter
from collections.abc import Sequence

from forensics.checkpoints._hdf5 import Array

_BY_KIND = {
    "embedding": ("embeddings",),
    "layer_normalization": ("gamma", "beta"),
    "group_normalization": ("gamma", "beta"),
    "lstm_cell": ("kernel", "recurrent_kernel", "bias"),
    "gru_cell": ("kernel", "recurrent_kernel", "bias"),
    "simple_rnn_cell": ("kernel", "recurrent_kernel", "bias"),
}
"""Variables of a layer, in the order in which it makes them."""
_AFFINE = ("kernel", "bias")


def variable_names(arrays: Sequence[Array], *, whole: bool) -> list[str]:
    """``<layer>/<variable>`` for each array; its path in the file where that is not unique.

    Args:
        arrays: Those of the model.
        whole: False where some may be lost: a layer is then taken to have had all its variables.
    """
    paths = [array.path.removesuffix(":0") for array in arrays]
    beside = Counter(path.rpartition("/")[0] for path in paths)
    names = [
        _name(path, array.texts.get("name", ""), beside[path.rpartition("/")[0]] if whole else 4)
        for path, array in zip(paths, arrays, strict=True)
    ]
    return names if len(set(names)) == len(names) else [array.path for array in arrays]


def _name(path: str, layer: str, count: int) -> str:
    if path.startswith("model_weights/"):
        inside = path.split("/", 2)[2:]
        return inside[0] if inside else path
    folder, _, index = path.rpartition("/")
    if not folder.endswith("vars") or not index.isdecimal():
        return path
    group = folder.removesuffix("vars").strip("/").rpartition("/")[2]
    kind = re.sub(r"_\d+$", "", group)
    return f"{layer or group}/{_variable(kind, int(index), count)}"


def _variable(kind: str, index: int, count: int) -> str:
    names = _BY_KIND.get(kind, ())
    if kind == "batch_normalization":
        affine = ("gamma", "beta") if count == 4 else ("scale",) * (count - 2)
        names = (*affine, "moving_mean", "moving_variance")
    elif "dense" in kind or "conv" in kind:
        names = _AFFINE
    return names[index] if index < len(names) else str(index)
