"""The changes that are tried one at a time, the most telling first."""

from collections.abc import Iterator
from dataclasses import dataclass

from forensics.replay.knobs import Knobs
from forensics.replay.plan import Failure
from forensics.replay.session import Session
from forensics.replay_facts import Variant

WARMUP_SHARE = 0.5
"""Share of the stretch before the onset over which the rate rises in the warm-up that is tried."""
LEAST_WARMUP, MOST_WARMUP = 20, 1000


@dataclass(frozen=True)
class Change:
    """One variable changed."""

    variant: Variant
    setting: str
    before: str
    after: str
    knobs: Knobs

    @property
    def words(self) -> str:
        """A few words for a list of what was left out."""
        return f"{self.setting} {self.after}"


def variants(session: Session) -> Iterator[Change]:
    """Every change that makes sense for this run."""
    if session.plan.failure is Failure.NONE:
        # Nothing to remove; what comes closest to the log may still tell.
        yield from _scale(session)
        return
    yield from _data(session)
    yield from _rate(session)
    yield from _clipping(session)
    yield from _precision(session)
    yield from _adam(session)
    yield from _scale(session)


def _data(session: Session) -> Iterator[Change]:
    suspect = session.suspect
    if suspect is not None and session.plan.failure is not Failure.STALLS:
        yield Change(
            Variant.SKIP_BATCH,
            "batch",
            f"step {suspect} trained on",
            "skipped",
            Knobs(skip=frozenset({suspect})),
        )


def _rate(session: Session) -> Iterator[Change]:
    step = session.suspect if session.suspect is not None else session.next_step
    rate = max(session.rates.at(step))
    for variant, part in ((Variant.RATE_THIRD, 3), (Variant.RATE_TENTH, 10)):
        yield Change(variant, "lr", f"{rate:.3g}", f"{rate / part:.3g}", Knobs(rate=1 / part))
    if session.plan.failure is Failure.STALLS:
        more = f"{10 * rate:.3g}"
        yield Change(Variant.RATE_TEN_TIMES, "lr", f"{rate:.3g}", more, Knobs(rate=10.0))
    if session.start is None or (session.updates or 0) < MOST_WARMUP:
        steps = _warmup(session, step)
        yield Change(
            Variant.WARMUP,
            "warm-up",
            f"{session.plan.settings.warmup_steps or 0} steps",
            f"{steps} steps to the same peak",
            Knobs(warmup=steps),
        )


def _warmup(session: Session, step: int) -> int:
    ahead = int(WARMUP_SHARE * max(0, session.plan.last_step - session.next_step) * 0.2)
    return min(MOST_WARMUP, max(LEAST_WARMUP, step - session.next_step, ahead))


def _clipping(session: Session) -> Iterator[Change]:
    settings = session.plan.settings
    before = f"{settings.clip:g}" if settings.clip else "none"
    if not settings.clip or settings.clip > 1.0:
        yield Change(Variant.CLIP_ONE, "clip", before, "1", Knobs(clip=1.0))
    p90 = settings.clip_p90
    if p90 and (not settings.clip or p90 < 0.9 * settings.clip):
        yield Change(
            Variant.CLIP_P90, "clip", before, f"{p90:.3g} (p90 of this run)", Knobs(clip=p90)
        )


def _precision(session: Session) -> Iterator[Change]:
    kind = session.plan.settings.precision
    if kind in ("fp16", "bf16"):
        yield Change(Variant.FLOAT32, "precision", kind, "fp32", Knobs(precision="fp32"))
    if kind == "fp16":
        yield Change(Variant.BFLOAT16, "precision", kind, "bf16", Knobs(precision="bf16"))


def _adam(session: Session) -> Iterator[Change]:
    groups = session.optimizer.param_groups
    if not any("betas" in group for group in groups):
        return
    beta2, eps = groups[0]["betas"][1], groups[0]["eps"]
    if session.updates:
        yield Change(
            Variant.FRESH_MOMENTS,
            "optimizer state",
            "as saved",
            "fresh",
            Knobs(fresh_moments=True),
        )
        if session.plan.resumed_at:
            yield Change(
                Variant.FROM_STEP_ONE,
                "Adam's step",
                str(session.updates),
                "1 (moments kept)",
                Knobs(from_step_one=True),
            )
    if beta2 > 0.95:
        yield Change(Variant.BETA2, "beta2", f"{beta2:g}", "0.95", Knobs(beta2=0.95))
    yield Change(Variant.EPSILON, "epsilon", f"{eps:g}", f"{eps * 1e4:g}", Knobs(eps=eps * 1e4))
    decay = max(float(group.get("weight_decay", 0.0)) for group in groups)
    if decay > 0:
        yield Change(Variant.NO_DECAY, "weight decay", f"{decay:g}", "0", Knobs(weight_decay=0.0))


def _scale(session: Session) -> Iterator[Change]:
    """The gradient as it would be had accumulation or the ranks summed instead of averaged."""
    settings = session.plan.settings
    counts = (
        (Variant.MICRO_BATCHES_SUMMED, "gradient of the micro-batches", settings.grad_accum),
        (Variant.RANKS_SUMMED, "gradient of the ranks", settings.world_size),
    )
    for variant, setting, count in counts:
        if count and count > 1:
            knobs = Knobs(gradient_scale=float(count))
            yield Change(variant, setting, "averaged", f"summed over {count}", knobs)
