"""Folders of Hugging Face's Trainer and accelerate: weights, ``optimizer.pt``, ``scheduler.pt``.

The optimizer knows its parameters by number; the weights, in a file of their own, give the names.
"""

import re
from pathlib import Path

from forensics.checkpoints._base import Opened, Opener

_SIGNS = (
    r"trainer_state\.json|(?:pytorch_model|model|adapter_model|diffusion_pytorch_model)"
    r"(?:-\d{5}-of-\d{5})?\.(?:safetensors|bin)(?:\.index\.json)?|"
    r"optimizer\.(?:pt|bin)|pytorch_model_fsdp_\d+|optimizer_\d+|random_states_\d+\.pkl"
)


def sniff(path: Path) -> bool:
    """A folder with files under the names that transformers and accelerate use."""
    return path.is_dir() and any(re.fullmatch(_SIGNS, one.name) for one in path.iterdir())


def open_folder(path: Path) -> Opened:
    """Open all its files as one save.

    Raises:
        UnreadableFile: None of them could be read.
    """
    from forensics.checkpoints._save_folder import opened_folder, read_folder

    return opened_folder(path, "hugging face", list(read_folder(path)))


OPENER = Opener("hugging face", 30, sniff, open_folder)
