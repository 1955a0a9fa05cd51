"""Megatron's own format: one folder for each rank of model parallelism, with one torch file."""

from forensics.checkpoints._megatron._joining import RankTensors, join_model_ranks
from forensics.checkpoints._megatron._layout import RankFiles, rank_files

__all__ = ["RankFiles", "RankTensors", "join_model_ranks", "rank_files"]
