"""Megatron's own format: one folder for each rank of model parallelism, with one torch file."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._megatron._joining import RankTensors as RankTensors
    from forensics.checkpoints._megatron._joining import join_model_ranks as join_model_ranks
    from forensics.checkpoints._megatron._layout import RankFiles as RankFiles
    from forensics.checkpoints._megatron._layout import rank_files as rank_files

__getattr__ = on_use(
    __name__,
    {
        "_joining": ("RankTensors", "join_model_ranks"),
        "_layout": ("RankFiles", "rank_files"),
    },
)
