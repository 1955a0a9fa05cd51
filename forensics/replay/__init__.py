"""Replay: runs the suspect batch again and proves or refutes what the logs suggest.

`make_plan` decides what to replay and `run_replay` does it in a process of its own; torch is
imported there and nowhere else. One file in ``experiments`` adds one experiment.
"""

from forensics.replay.launch import check_call, run_replay
from forensics.replay.plan import ReplayPlan, Start
from forensics.replay.planning import make_plan

__all__ = ["ReplayPlan", "Start", "check_call", "make_plan", "run_replay"]
