"""A process that is ended from outside."""

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe

REASONS = {
    "memory": [
        "Traceback (most recent call last):",
        '  File "train.py", line 118, in <module>',
        "    loss.backward()",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total "
        "capacity of 79.15 GiB of which 1.02 GiB is free.",
    ],
    "kill": ["Killed"],
    "time": [
        "slurmstepd: error: *** JOB 481516 ON node12 CANCELLED AT 2025-03-04T22:00:13 "
        "DUE TO TIME LIMIT ***"
    ],
    "peer": [
        "[rank3]:[E304 10:41:07 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=2204, OpType=ALLREDUCE, Timeout(ms)=600000) ran for "
        "600011 milliseconds before timing out."
    ],
    "disk": ["OSError: [Errno 28] No space left on device: 'checkpoints/step_000400.pt'"],
}


def inject(recipe: Recipe, reason: str) -> None:
    """The process ends long before its plan, for a reason outside the training."""
    recipe.stop_after = at_share(recipe, 0.6)
    recipe.closing += REASONS[reason]
    recipe.needs_text = True


FAULT = Fault(
    name="killed",
    cause="process_killed",
    inject=inject,
    outcomes=("crashed",),
    outcome="crashed",
    tuning={"char_gpt": "memory", "cnn": "time", "mlp": "kill"},
    measured={"qwen2": "peer", "char_lstm": "time", "regression": "disk", "cnn": "memory"},
)
