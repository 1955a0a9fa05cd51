"""The dictionary of lines that prove something by themselves.

A rule is asked only about lines that hold one of its words. One false kind is worse than a
missing one: each pattern asks for the phrase that the program prints when the thing happens, and
``_TALK`` drops lines that merely speak of it (advice, settings, switches).
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
    r"(?i:\b(?:to (?:avoid|prevent)|in case of|if you (?:get|run|see|encounter|hit|want)|might|may (?:cause|lead|"
    r"result|run|be)|could (?:cause|lead|result)|can (?:cause|lead|result)|will (?:check|be checked|stop if|abort if|"
    r"terminate)|check(?:ing)? for|checks? whether|detect_anomaly|--[\w-]*(?:nan|inf|oom)\w*)\b"
    r".{0,40}(?:out of memory|oom|nan|inf\b|non-?finite|overflow|killed|resume)"
    r"|(?:nan|inf|finite|overflow|resume|oom)\w*['\"]?\s*(?:[:=]|\.{3,})\s*['\"]?(?:true|false|none|null)\b)"
)


def _rule(kind: TextKind, words: str, pattern: str) -> Rule:
    return Rule(kind, tuple(words.split("|")), re.compile(f"(?i:{pattern})"))


_ENDINGS = r"(?:abort|stopp?ing|stopped|exiting|exit\b|terminat|ending training|giving up)"
_BAD = r"(?:\bnan\b|\bnans\b|\binf\b|\binfinit\w*|non-?_?finite|not finite)"

RULES: tuple[Rule, ...] = (
    _rule(
        TextKind.OUT_OF_MEMORY,
        "out of memory|outofmemory|oom when|allocate memory|bad_alloc|alloc_failed|memoryerror|resource_exhausted",
        r"(?:CUDA|HIP|MPS backend|XPU|device|GPU|NPU)\b.{0,30}out of memory|OutOfMemoryError|OOM when allocating|"
        r"RESOURCE_EXHAUSTED: .*out of memory|(?:can't|cannot|not enough|unable to) allocate memory|std::bad_alloc|"
        r"_STATUS_ALLOC_FAILED|^(?:\[\w+\]:? )?MemoryError\b|^RuntimeError: .*out of memory",
    ),
    _rule(
        TextKind.TIME_LIMIT,
        "time limit|walltime|wall time|wall-time|term_runlimit",
        r"due to time limit|exceeded (?:its |the )?(?:wall ?-?time|time limit)|"
        r"walltime \d+\S* exceeded limit|TERM_RUNLIMIT",
    ),
    _rule(
        TextKind.KILLED,
        "kill|segmentation fault|bus error|exitcode|signal|preempt|node failure|cancelled at",
        r"^(?:\S+: line \d+:\s+\d+ )?Killed\b(?! by user)|Signals?\.SIG(?:KILL|TERM|SEGV|BUS|ABRT)|"
        r"Signal \d+ \(SIG(?:KILL|TERM|SEGV|BUS|ABRT)\)|exit ?code\s*: -(?:6|7|9|11|15)\b|"
        r"oom[-_ ]kill(?:er|ed)?\b|Out of memory: Kill(?:ed)? process|received signal (?:15|9|SIG(?:TERM|KILL))|"
        r"Segmentation fault|Fatal Python error: (?:Segmentation|Aborted|Bus)|\bBus error\b|"
        r"CANCELLED AT \S+(?: \*\*\*)?\s*$|CANCELLED AT \S+ DUE TO (?:PREEMPTION|NODE FAIL\w*)|due to preemption",
    ),
    _rule(
        TextKind.LOST_PEER,
        "nccl|watchdog|connection reset|connection closed|timed out|timeout|heartbeat|gloo|broken pipe",
        r"Watchdog caught collective operation timeout|NCCL (?:error|Error) (?:in|at|[0-9])|NCCL error:|"
        r"nccl(?:System|Remote|Internal|UnhandledCuda|Unhandled)\w*Error|NCCL communicator was aborted|"
        r"Connection (?:reset|closed) by (?:remote )?peer|gloo\W.*(?:time[d ]*out|connect)|"
        r"(?:DistStoreError|DistNetworkError|RendezvousTimeoutError|RendezvousConnectionError)|"
        r"Timed out (?:initializing|waiting|after) .*(?:rank|barrier|store|process|client|worker|node)|"
        r"rendezvous\w* .*tim(?:ed|e) ?out|lost (?:connection to|heartbeat).*(?:rank|node|worker|agent)|"
        r"(?:rank|worker|node) \S+ .*heartbeat tim",
    ),
    _rule(
        TextKind.DISK_FULL,
        "no space left|quota exceeded|pytorchstreamwriter",
        r"No space left on device|Disk quota exceeded|PytorchStreamWriter failed writing file",
    ),
    _rule(
        TextKind.LABEL_OUT_OF_RANGE,
        "n_classes|is out of bounds|outside the valid range|num_classes",
        r"Assertion `?t(?:arget)? >= 0 && t(?:arget)? < n_classes|Target -?\d+ is out of bounds|"
        r"label value of -?\d+ which is outside the valid range|Class values must be smaller than num_classes",
    ),
    _rule(
        TextKind.INDEX_OUT_OF_RANGE,
        "index out of range in self|srcselectdimsize|is not in [0|index out of bounds",
        r"index out of range in self|srcIndex < srcSelectDimSize|\[[\d, ]*\] = -?\d+ is not in \[0, \d+\)|"
        r"Assertion `.*(?:index|ind)\b.*`? failed.*index out of bounds|index out of bounds.*Assertion|"
        r"`-?sizes?\[i\] <= index && index < sizes?\[i\].*index out of bounds",
    ),
    _rule(TextKind.DEVICE_ASSERT, "device-side assert", r"device-side assert triggered"),
    _rule(
        TextKind.HARDWARE_ERROR,
        "xid|ecc error|uncorrectable|fallen off the bus|hardware error",
        r"\bXid\b\s*(?:\(PCI|error|\d)|uncorrectable (?:ECC|NVLink|memory)|double[- ]bit ECC|"
        r"GPU has fallen off the bus|\[Hardware Error\]|ECC error (?:encountered|detected|on)",
    ),
    _rule(
        TextKind.LOSS_SCALE_MINIMUM,
        "loss scale|grad_scale is too small|loss_scale",
        r"loss scale (?:is )?already at minimum|Minimum loss scale reached|grad_scale is too small|"
        r"loss.scale .{0,30}(?:at|reached|below) (?:its |the )?minimum",
    ),
    _rule(
        TextKind.NON_FINITE_ABORT,
        "nan|inf|finite|invalid loss",
        r"Loss became infinite or NaN at iteration|found NaN in local|Unexpected result (?:nan|inf)|"
        r"is not finite\b.{0,40}at step|(?:nan|inf\w*) loss encountered|Invalid loss, terminating|"
        r"Loss is (?:-?inf\w*|nan)\b.{0,5}(?:stopp?ing|exit|abort|terminat|training stop)|NaN persisted|"
        r"loss returned in .{0,30} is nan or inf|is not finite\. Previous best|"
        r"returned nan values in its \d+th output|nonfinite_guard:\s*abort|"
        rf"(?:loss|grad\w*)\b.{{0,40}}{_BAD}.{{0,60}}\b{_ENDINGS}|\b{_ENDINGS}\w*\b.{{0,60}}{_BAD}.{{0,40}}(?:loss|grad)|"
        rf"{_BAD} (?:training )?(?:loss|grad\w*)\b.{{0,40}}\b{_ENDINGS}|"
        r"^(?:\w+\.)*(?:FloatingPointError|ValueError|RuntimeError|AssertionError|Exception): .{0,60}"
        rf"(?:(?:loss|grad\w*)\b.{{0,40}}{_BAD}|{_BAD}.{{0,40}}\b(?:loss|grad))",
    ),
    _rule(
        TextKind.NON_FINITE_GUARD,
        "nan|inf|finite",
        rf"nonfinite_guard:\s*skip|\bskip(?:ping|ped|s)?\b.{{0,60}}{_BAD}|{_BAD}.{{0,60}}\bskip(?:ping|ped|s)?\b|"
        r"Loss NaN/Inf detected|\brecovering from .*\b(?:nan|inf)\b",
    ),
    _rule(
        TextKind.RESUMED,
        "resum|loaded checkpoint|continuing training|restor|loading model from|starting training from",
        r"\bresum(?:ing|ed) (?:the )?(?:training |run |model |state )?(?:from|at|epoch|iter|step)\b(?!\W*(?:none|false|null)\b)|"
        r"\bresumed? (?:from )?checkpoint\b(?!\W*(?:none|false|null)\b)|\bresume from (?:checkpoint|epoch|step|iter\w*|/)|"
        r"(?:successfully )?loaded checkpoint\b.{0,200}(?:\bepoch\b|iteration|updates|step)|"
        r"continuing training from|restor(?:ing|ed) (?:all )?states? from|restor(?:ing|ed) (?:from )?checkpoint|"
        r"loading model from \S*checkpoint-\d+|starting training from iteration [1-9]",
    ),
    _rule(
        TextKind.SCHEDULER_NOT_RESTORED,
        "scheduler",
        r"(?:could not|couldn't|cannot|failed to|unable to|not) (?:find|load|restor\w*|resum\w*).{0,40}scheduler|"
        r"scheduler(?: state)?(?:_dict)?.{0,30}(?:not (?:found|restored|loaded|saved)|missing|was reset|"
        r"will (?:be )?(?:re-?initiali[sz]ed|start from scratch))|no scheduler state",
    ),
    _rule(
        TextKind.OPTIMIZER_NOT_RESTORED,
        "optimizer|optim_state",
        r"(?:could not|couldn't|cannot|failed to|unable to|not) (?:find|load|restor\w*|resum\w*).{0,40}optimizer|"
        r"optimizer(?: states?)?(?:_dict)?.{0,30}(?:not (?:found|restored|loaded|saved)|missing|was reset|"
        r"will (?:be )?(?:re-?initiali[sz]ed|start from scratch))|no optimizer state|"
        r"parameter group that doesn't match the size of optimizer's group|will not load any (?:optimizer|checkpoints)",
    ),
    _rule(
        TextKind.WEIGHTS_NOT_LOADED,
        "newly initialized|missing key|missing_keys|size mismatch",
        r"newly initialized|Missing key\(s\) in state_dict|missing[_ ]keys\W{0,4}[\[({]\s*['\"]|size mismatch for \S+: copying",
    ),
    _rule(
        TextKind.SEQUENCE_TOO_LONG,
        "sequence length is longer",
        r"(?:Token indices )?sequence length is longer than the specified maximum",
    ),
    _rule(
        TextKind.CHECKPOINT_SAVED,
        "saving|saved",
        r"\b(?:saving|saved)\b(?: \w+){0,4} ?\b(?:checkpoint|ckpt|snapshot|model|state)\w*\b(?!\W*(?:none|false)\b)",
    ),
    _rule(
        TextKind.INTERRUPTED,
        "keyboardinterrupt|interrupted by user|^c",
        r"\bKeyboardInterrupt\b|interrupted by (?:the )?user|^\^C",
    ),
    _rule(
        TextKind.RUN_FINISHED,
        "train|exits successfully|early|wallclock_cap|epochs completed|time limit reached|exiting program|trainer",
        r"\btraining (?:is )?(?:completed?|finished|done)\b(?! for epoch)|\b(?:finished|completed|done) training\b(?! epoch| for epoch)|"
        r"['\"]train_runtime['\"]|Process \d+ exits successfully|`max_(?:epochs|steps)=\S+` reached|"
        r"^Training time:? \d|Total training time: \d|\[after training is done\]|\d+ epochs completed in|"
        r"stopping_early: wallclock_cap|exiting program (?:at|after) |Time limit reached\. Elapsed|"
        r"Epoch \d+: early stopping|\bearly stopp(?:ing|ed)\b.{0,20}(?:triggered|activated|at epoch)|"
        r"Signaling Trainer to stop",
    ),
    _rule(
        TextKind.RUN_STARTED,
        "running training|start training|starting training|training started",
        r"\*{3,} Running training \*{3,}|^\W*(?:start(?:ing)? (?:the )?training|training started)\b(?! from iteration)",
    ),
)

_STEP_STATED = re.compile(
    r"(?i:\b(?:iteration|iter|global[ _]step|planned_step|step)s?\s*[:=#]?\s*(?P<a>\d+)|checkpoint[-_](?P<b>\d+)\b|"
    r"@\s*(?P<c>\d+) updates|(?P<d>\d+) (?:iterations|steps|updates)\b)"
)


def stated_step(line: str) -> int | None:
    """The step that a line names, as in ``loaded checkpoint … at iteration 500``."""
    match = _STEP_STATED.search(line)
    return int(next(text for text in match.groups() if text)) if match else None
