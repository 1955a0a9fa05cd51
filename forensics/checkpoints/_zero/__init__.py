"""DeepSpeed's ZeRO: flat vectors, split over ranks, cut into named tensors again."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._zero._folder import read_tag as read_tag
    from forensics.checkpoints._zero._layout import Layout as Layout
    from forensics.checkpoints._zero._layout import is_tag_folder as is_tag_folder
    from forensics.checkpoints._zero._layout import layout_of as layout_of
    from forensics.checkpoints._zero._universal import is_universal as is_universal
    from forensics.checkpoints._zero._universal import read_universal as read_universal

__getattr__ = on_use(
    __name__,
    {
        "_folder": ("read_tag",),
        "_layout": ("Layout", "is_tag_folder", "layout_of"),
        "_universal": ("is_universal", "read_universal"),
    },
)
