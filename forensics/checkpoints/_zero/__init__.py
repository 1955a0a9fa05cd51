"""DeepSpeed's ZeRO: flat vectors, split over ranks, cut into named tensors again."""

from forensics.checkpoints._zero._folder import read_tag
from forensics.checkpoints._zero._layout import Layout, is_tag_folder, layout_of
from forensics.checkpoints._zero._universal import is_universal, read_universal

__all__ = ["Layout", "is_tag_folder", "is_universal", "layout_of", "read_tag", "read_universal"]
