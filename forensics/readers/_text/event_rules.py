"""The dictionary of lines that prove something by themselves.

A rule is asked only about lines that hold one of its words. One false kind is worse than a
missing one: each phrase is what a program prints when the thing happens, and ``_TALK`` drops
lines that merely speak of it (advice, settings, switches).
"""

import re
from dataclasses import dataclass

from forensics.run import TextKind


@dataclass(frozen=True)
class Rule:
    """Lines of one kind."""

    kind: TextKind
    words: tuple[str, ...]
    """In lower case; one of them is in every such line."""
    pattern: re.Pattern[str]

    def holds(self, line: str) -> bool:
        """Whether the line proves it."""
        return self.pattern.search(line) is not None and _TALK.search(line) is None


_TALK = re.compile(
    "(?i:"
    r"\b(?:to (?:avoid|prevent)|in case of|if you (?:get|run|see|encounter|hit|want)|might"
    r"|(?:may|could|can) (?:cause|lead|result|run|be)|will (?:be checked|check|stop if|abort if|terminate)"
    r"|check(?:ing)? for|checks? whether|detect_anomaly)\b"
    r".{0,40}(?:out of memory|oom|nan|inf\b|non-?finite|overflow|killed|resume)"
    r"|--[\w-]*(?:nan|inf|oom)\w*|number of (?:skipped|nan) iterations"
    r"|(?:nan|inf|finite|overflow|resume|oom)\w*['\"]?\s*(?:[:=]|\.{3,})\s*['\"]?(?:true|false|none|null)\b"
    ")"
)


def _rule(kind: TextKind, words: tuple[str, ...], *phrases: str) -> Rule:
    return Rule(kind, words, re.compile("(?i:" + "|".join(phrases) + ")"))


_ENDING = r"(?:abort|stopp?ing|stopped|exiting|exit\b|terminat|ending training|giving up)\w*"
_BAD = r"(?:\bnans?\b|\binf\b|\binfinite\b|non-?_?finite|\bnot finite\b)"
_QUANTITY = r"(?:loss|grad\w*|norm)\b"
_UNIT_OF_WORK = r"(?:step|batch|update|iter\w*|optimizer|sample|example|loss|grad\w*)"
_NOT_DONE = (
    r"(?:could not|couldn't|cannot|failed to|unable to|not) (?:find|load|restor\w*|resum\w*)"
)
_ABSENT = (
    r".{0,30}(?:not (?:found|restored|loaded|saved)|missing|was reset"
    r"|will (?:be )?(?:re-?initiali[sz]ed|start from scratch))"
)
_NO_VALUE = r"(?!\W*(?:none|false|null)\b)"

RULES: tuple[Rule, ...] = (
    _rule(
        TextKind.OUT_OF_MEMORY,
        ("memory", "outofmemory", "oom when", "bad_alloc", "alloc_failed"),
        r"(?:CUDA|HIP|MPS backend|XPU|device|GPU|NPU)\b.{0,30}out of memory",
        r"OutOfMemoryError",
        r"OOM when allocating",
        r"RESOURCE_EXHAUSTED: .*out of memory",
        r"(?:can't|cannot|not enough|unable to) allocate memory",
        r"std::bad_alloc",
        r"_STATUS_ALLOC_FAILED",
        r"^(?:\[\w+\]:? )?MemoryError\b",
        r"^RuntimeError: .*out of memory",
    ),
    _rule(
        TextKind.TIME_LIMIT,
        ("time limit", "walltime", "wall time", "wall-time", "term_runlimit"),
        r"due to time limit",
        r"exceeded (?:its |the )?(?:wall[ -]?time|time limit)",
        r"walltime \d+\S* exceeded limit",
        r"TERM_RUNLIMIT",
    ),
    _rule(
        TextKind.KILLED,
        (
            "kill",
            "segmentation",
            "bus error",
            "exit",
            "sig",
            "preempt",
            "node fail",
            "cancelled at",
        ),
        r"^\S+: line \d+:\s+\d+ Killed\b",
        r"^Killed\s*$",
        r"Signals?\.SIG(?:KILL|TERM|SEGV|BUS|ABRT)",
        r"Signal \d+ \(SIG(?:KILL|TERM|SEGV|BUS|ABRT)\)",
        r"exit ?code\s*: -(?:6|7|9|11|15)\b",
        r"oom[-_ ]kill(?:er|ed)?\b",
        r"Out of memory: Kill(?:ed)? process",
        r"received signal (?:15|9|SIG(?:TERM|KILL))",
        r"Segmentation fault",
        r"Fatal Python error: (?:Segmentation|Aborted|Bus)",
        r"\bBus error\b",
        r"CANCELLED AT \S+(?: \*\*\*)?\s*$",
        r"CANCELLED AT \S+ DUE TO (?:PREEMPTION|NODE FAIL\w*)",
        r"due to preemption",
    ),
    _rule(
        TextKind.LOST_PEER,
        ("nccl", "watchdog", "connection", "timed out", "timeout", "heartbeat", "gloo", "dist"),
        r"Watchdog caught collective operation timeout",
        r"NCCL error(?: in| at|:| \d)",
        r"nccl(?:System|Remote|Internal|Unhandled)\w*Error",
        r"NCCL communicator was aborted",
        r"Connection (?:reset|closed) by (?:remote )?peer",
        r"gloo\W.*(?:time[d ]*out|connect)",
        r"(?:DistStore|DistNetwork|RendezvousTimeout|RendezvousConnection)Error",
        r"Timed out (?:initializing|waiting|after) .*(?:rank|barrier|store|process|client|worker|node)",
        r"rendezvous\w* .*tim(?:ed|e) ?out",
        r"lost (?:connection to|heartbeat).*(?:rank|node|worker|agent)",
        r"(?:rank|worker|node) \S+ .*heartbeat tim",
    ),
    _rule(
        TextKind.DISK_FULL,
        ("no space left", "quota exceeded", "pytorchstreamwriter"),
        r"No space left on device",
        r"Disk quota exceeded",
        r"PytorchStreamWriter failed writing file",
    ),
    _rule(
        TextKind.LABEL_OUT_OF_RANGE,
        ("n_classes", "is out of bounds", "outside the valid range", "num_classes"),
        r"Assertion `?t(?:arget)? >= 0 && t(?:arget)? < n_classes",
        r"Target -?\d+ is out of bounds",
        r"label value of -?\d+ which is outside the valid range",
        r"Class values must be smaller than num_classes",
    ),
    _rule(
        TextKind.INDEX_OUT_OF_RANGE,
        ("index out of range in self", "srcselectdimsize", "is not in [0", "index out of bounds"),
        r"index out of range in self",
        r"srcIndex < srcSelectDimSize",
        r"\[[\d, ]*\] = -?\d+ is not in \[0, \d+\)",
        r"Assertion `.*(?:index|ind)\b.*`? failed.*index out of bounds",
        r"index out of bounds.*Assertion",
        r"Assertion .*\bindex out of bounds",
    ),
    _rule(TextKind.DEVICE_ASSERT, ("device-side assert",), r"device-side assert triggered"),
    _rule(
        TextKind.HARDWARE_ERROR,
        ("xid", "ecc", "uncorrectable", "fallen off the bus", "hardware error"),
        r"\bXid\b\s*(?:\(PCI|error|\d)",
        r"uncorrectable (?:ECC|NVLink|memory)",
        r"double[- ]bit ECC",
        r"GPU has fallen off the bus",
        r"\[Hardware Error\]",
        r"ECC error (?:encountered|detected|on)",
    ),
    _rule(
        TextKind.LOSS_SCALE_MINIMUM,
        ("loss scale", "grad_scale is too small", "loss_scale"),
        r"loss scale (?:is )?already at minimum",
        r"Minimum loss scale reached",
        r"grad_scale is too small",
        r"loss.scale .{0,30}(?:at|reached|below) (?:its |the )?minimum",
    ),
    _rule(
        TextKind.NON_FINITE_ABORT,
        ("nan", "inf", "finite", "invalid loss"),
        r"Loss became infinite or NaN at iteration",
        r"found NaN in local",
        r"Unexpected result (?:nan|inf)",
        r"is not finite\b.{0,40}at step",
        r"(?:nan|inf\w*) loss encountered",
        r"Invalid loss, terminating",
        r"NaN persisted",
        r"loss returned in .{0,30} is nan or inf",
        r"is not finite\. Previous best",
        r"returned nan values in its \d+th output",
        r"nonfinite_guard:\s*abort",
        rf"{_QUANTITY}[^|]{{0,40}}{_BAD}[^|]{{0,60}}\b{_ENDING}",
        rf"\b{_ENDING}[^|]{{0,60}}{_BAD}[^|]{{0,40}}{_QUANTITY}",
        rf"{_BAD} (?:training )?{_QUANTITY}[^|]{{0,40}}\b{_ENDING}",
        rf"^[\w.]*(?:Error|Exception): [^|]{{0,60}}(?:{_QUANTITY}[^|]{{0,40}}{_BAD}|{_BAD}[^|]{{0,40}}{_QUANTITY})",
    ),
    _rule(
        TextKind.NON_FINITE_GUARD,
        ("nan", "inf", "finite"),
        r"nonfinite_guard:\s*skip",
        r"Loss NaN/Inf detected",
        r"\brecovering from .*\b(?:nan|inf)\b",
        rf"\bskipp(?:ing|ed)\b(?!\s*[:=]) [^|]{{0,20}}\b{_UNIT_OF_WORK}\b[^|]{{0,60}}{_BAD}",
        rf"{_BAD}[^|]{{0,60}}\bskipp(?:ing|ed)\b(?!\s*[:=])[^|]{{0,20}}\b{_UNIT_OF_WORK}\b",
        rf"{_BAD}[^|]{{0,40}}\b{_UNIT_OF_WORK}\b[^|]{{0,20}}\bskipped\b(?!\s*[:=])",
    ),
    _rule(
        TextKind.RESUMED,
        (
            "resum",
            "loaded checkpoint",
            "continuing training",
            "restor",
            "loading model from",
            "starting",
        ),
        r"\bresum(?:ing|ed) (?:the )?(?:training |run |model |state )?"
        rf"(?:from|at|epoch|iter|step)\b{_NO_VALUE}",
        rf"\bresumed? (?:from )?checkpoint\b{_NO_VALUE}",
        r"\bresume from (?:checkpoint|epoch|step|iter\w*|/)",
        r"loaded checkpoint\b.{0,200}(?:\bepoch\b|iteration|updates|step)",
        r"continuing training from",
        r"restor(?:ing|ed) (?:all )?states? from",
        r"restor(?:ing|ed) (?:from )?checkpoint",
        r"loading model from \S*checkpoint-\d+",
        r"starting training from iteration [1-9]",
    ),
    _rule(
        TextKind.SCHEDULER_NOT_RESTORED,
        ("scheduler",),
        rf"{_NOT_DONE}.{{0,40}}scheduler",
        rf"scheduler(?: state)?(?:_dict)?{_ABSENT}",
        r"no scheduler state",
    ),
    _rule(
        TextKind.OPTIMIZER_NOT_RESTORED,
        ("optimizer", "optim_state"),
        rf"{_NOT_DONE}.{{0,40}}optimizer",
        rf"optimizer(?: states?)?(?:_dict)?{_ABSENT}",
        r"no optimizer state",
        r"parameter group that doesn't match the size of optimizer's group",
        r"will not load any optimizer",
    ),
    _rule(
        TextKind.WEIGHTS_NOT_LOADED,
        ("newly initialized", "missing key", "missing_keys", "size mismatch"),
        r"newly initialized",
        r"Missing key\(s\) in state_dict",
        r"missing[_ ]keys\W{0,4}[\[({]\s*['\"]",
        r"size mismatch for \S+: copying",
    ),
    _rule(
        TextKind.SEQUENCE_TOO_LONG,
        ("sequence length is longer",),
        r"sequence length is longer than the specified maximum",
    ),
    _rule(
        TextKind.CHECKPOINT_SAVED,
        ("saving", "saved"),
        r"\b(?:saving|saved)\b(?: \w+){0,4} ?\b(?:checkpoint|ckpt|snapshot|model|state)\w*\b"
        + _NO_VALUE,
    ),
    _rule(
        TextKind.INTERRUPTED,
        ("keyboardinterrupt", "interrupted by", "^c"),
        r"\bKeyboardInterrupt\b",
        r"interrupted by (?:the )?user",
        r"^\^C",
    ),
    _rule(
        TextKind.RUN_FINISHED,
        ("train", "exits", "early", "epochs completed", "time limit", "exiting program"),
        r"\btraining (?:is )?(?:completed?|finished|done)\b(?! for epoch)",
        r"\b(?:finished|completed|done) training\b(?! epoch| for epoch)",
        r"['\"]train_runtime['\"]",
        r"Process \d+ exits successfully",
        r"`max_(?:epochs|steps)=\S+` reached",
        r"^Training time:? \d",
        r"Total training time: \d",
        r"\[after training is done\]",
        r"\d+ epochs completed in",
        r"stopping_early: wallclock_cap",
        r"exiting program (?:at|after) ",
        r"Time limit reached\. Elapsed",
        r"Epoch \d+: early stopping",
        r"\bearly stopp(?:ing|ed)\b.{0,20}(?:triggered|activated|at epoch)",
        r"Signaling Trainer to stop",
    ),
    _rule(
        TextKind.RUN_STARTED,
        ("running training", "start training", "starting training", "training started"),
        r"\*{3,} Running training \*{3,}",
        r"^\W*(?:start(?:ing)? (?:the )?training|training started)\b(?! from iteration)",
    ),
)

_STEP_STATED = re.compile(
    r"(?i:\b(?:iteration|iter|global[ _]step|planned_step|step)s?\s*[:=#]?\s*(?P<a>\d+)"
    r"|checkpoint[-_](?P<b>\d+)\b|@\s*(?P<c>\d+) updates|(?P<d>\d+) (?:iterations|steps|updates)\b)"
)


def stated_step(line: str) -> int | None:
    """The step that a line names, as in ``loaded checkpoint … at iteration 500``."""
    match = _STEP_STATED.search(line)
    return int(next(text for text in match.groups() if text)) if match else None
