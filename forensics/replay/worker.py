"""The child process: loads the replay file, runs the battery, writes what it found so far.

``python -m forensics.replay.worker PLAN RESULTS TRACES CALL``; `forensics.replay.launch` starts it,
never by hand. Results are pickled `ReplayFacts`, one after each experiment, so that nothing is lost
when the user's code hangs or the machine runs out of memory.
"""

import faulthandler
import os
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from forensics.replay import adapters, ranks
from forensics.replay.alignment import align
from forensics.replay.devices import choose_device
from forensics.replay.errors import NotDone, ReplayError
from forensics.replay.experiments import battery
from forensics.replay.launch import ADAPTERS
from forensics.replay.memory import limit_memory
from forensics.replay.offline import stay_offline
from forensics.replay.plan import ReplayPlan
from forensics.replay.session import Session
from forensics.replay.spec import ReplaySpec, blame, load_spec
from forensics.replay_facts import LoadCheck, ReplayFacts

CALL = 4096
"""Bytes of the note on what runs."""


def main(plan_path: str, results_path: str, traces_path: str, call_path: str) -> None:
    """Run the battery of a plan."""
    plan: ReplayPlan = pickle.loads(Path(plan_path).read_bytes())
    # The user's code may go to another folder.
    plan = replace(plan, root=str(plan.folder.absolute()))
    started = time.monotonic()
    with (
        open(results_path, "ab") as results,
        open(traces_path, "w") as traces,
        open(call_path, "wb") as call,
    ):
        faulthandler.enable(traces)
        # A hang is named by the line it hangs on: the parent kills us some seconds after this.
        faulthandler.dump_traceback_later(plan.budget + 2, file=traces)
        stay_offline()
        _Battery(plan, results, started, call.fileno()).run()
        ranks.leave()
        faulthandler.cancel_dump_traceback_later()


class _Battery:
    """Facts as they grow."""

    def __init__(self, plan: ReplayPlan, results: IO[bytes], started: float, call: int) -> None:
        self._plan, self._results, self._started = plan, results, started
        self._call = call
        self._loads: dict[str, LoadCheck] = {}
        self._facts = ReplayFacts(
            source=plan.source,
            device="",
            precision=plan.settings.precision,
            seconds=0.0,
            budget=plan.budget,
            suspect_step=plan.suspect_step,
        )

    def run(self) -> None:
        """Everything, in order of cost."""
        try:
            session = self._session()
        except (ReplayError, NotDone) as error:
            loads = tuple(self._loads.values())
            self._add(failures=(*self._facts.failures, str(error)), loads=loads)
            return
        for experiment in battery():
            self._one(session, experiment)

    def _session(self) -> Session:
        plan = self._plan
        device, words = choose_device(plan.device)
        device = ranks.join(device)
        if device.type == "cpu":
            limit_memory()
        self._add(device=words)
        deadline = self._started + plan.budget
        session = Session(self._spec(), plan, device, deadline, self._loads)
        self._guarded(session, "aligning the steps", lambda: align(session))
        start = session.start
        self._add(
            checkpoint=start.path if start else "",
            checkpoint_step=start.step if start else None,
            next_step=session.next_step,
            alignment=session.alignment,
            loads=tuple(session.loads.values()),
        )
        return session

    def _spec(self) -> ReplaySpec:
        if self._plan.source in ADAPTERS:
            return adapters.adapted(self._plan)
        return load_spec(Path(self._plan.source), self._entering)

    def _entering(self, place: str) -> None:
        """Note which piece of the user's code runs now, for the parent of a dead child."""
        os.pwrite(self._call, place.encode("utf-8", "replace").ljust(CALL)[:CALL], 0)

    def _one(self, session: Session, experiment: Any) -> None:
        began = time.monotonic()

        def work() -> None:
            for fields in experiment.run(session):
                self._add(**fields)

        self._guarded(session, experiment.name, work)
        spent = time.monotonic() - began
        self._add(
            seconds_of={**self._facts.seconds_of, experiment.name: spent},
            loads=tuple(session.loads.values()),
        )

    def _guarded(self, session: Session, name: str, work: Any) -> None:
        try:
            work()
        except NotDone as why:
            self._add(left_out=(*self._facts.left_out, f"{name}: {why}"))
        except ReplayError as error:
            self._fail(str(error))
        except (MemoryError, RuntimeError, ValueError, TypeError) as error:
            self._fail(f"{name}: {blame(error, Path(session.spec.source), 'replaying')}")

    def _fail(self, words: str) -> None:
        if words not in self._facts.failures:
            self._add(failures=(*self._facts.failures, words))

    def _add(self, **fields: Any) -> None:
        seconds = time.monotonic() - self._started
        self._facts = replace(self._facts, **fields, seconds=seconds)
        pickle.dump(self._facts, self._results)
        self._results.flush()


if __name__ == "__main__":
    main(*sys.argv[1:5])
