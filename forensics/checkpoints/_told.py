"""What a file says of its own place in the training, its tensors left alone.

Frameworks keep the step beside the weights (``iter_num`` of nanoGPT, ``global_step`` of
Lightning, ``step`` of hand-written loops), and often the settings too.
"""

from pathlib import Path

from forensics.checkpoints._base import TrainingState
from forensics.checkpoints._contents._progress import read_progress
from forensics.checkpoints._torch_file import read_root
from forensics.errors import UnreadableFile


def told_by(path: Path) -> TrainingState:
    """Step, epoch and settings that a file of torch's keeps; an empty state where it has none.

    The scan says why a file cannot be read; here it has told nothing.
    """
    try:
        root, _ = read_root(path)
    except UnreadableFile:
        return TrainingState()
    return read_progress(root)
