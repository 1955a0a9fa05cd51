# ruff: noqa: E501 - the lines of logs are long
from pathlib import Path

import pytest

from forensics.run import TextEvidence, TextKind
from tests.readers.text_logs import kinds, read, shown

HARMLESS = """
Checking for NaN in loss every 10 steps
check_for_nan_in_loss_and_grad ...................... True
terminate_on_nan: true
nonfinite_guard:True max_consecutive_skips:8
--exit-on-nan is set
skip_nan_batches=False
  warnings.warn('reduce the batch size to avoid CUDA out of memory')
If you run out of memory, lower the batch size
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
[W] Environment variable NCCL_ASYNC_ERROR_HANDLING is deprecated; use TORCH_NCCL_ASYNC_ERROR_HANDLING instead
NCCL WARN NET/IB : Unable to open device mlx5_an0
NCCL_TIMEOUT=1800
timeout: 1800
Volatile Uncorr. ECC | ECC errors: 0
Loading the pretrained tokenizer from /models/base
use_pretrained_model: True
resume: None
resume_from_checkpoint=None
auto_resume: False
Resume from: None
Killed tasks: 0
early_stopping_patience: 3
lr scheduler: cosine
optimizer: AdamW
missing keys: []
missing_keys=[], unexpected_keys=[]
<All keys matched successfully>
Starting training from iteration 0
loaded ImageNet weights from resnet50_epoch_90.pth
Loaded weights from vit_base_patch16_224.pth
Loading checkpoint shards: 100%
Loaded checkpoint best.pt for evaluation
Loading model from checkpoint epoch_12.pt for testing
Loading dataset state file 3
save_steps: 500
saved_losses: [1, 2]
training_started: false
Sending process 1234 closing signal SIGTERM
[rank0]:[W318 14:38:18.833454927 Utils.hpp:112] Warning: something harmless
index = 5
info: infinite data loader, skipping nothing
grad_norm: 1.5 | skipped: 0 | nan iterations: 0
Time limit: 24:00:00
Loss is finite, continuing
requires_grad: True
frozen parameters that require no grad: 12
""".strip().split("\n")


@pytest.mark.parametrize("line", HARMLESS)
def test_lines_that_merely_speak_of_it_prove_nothing(tmp_path: Path, line: str) -> None:
    reading = read(tmp_path, f"step 1 loss 2.5\n{line}\nstep 2 loss 2.4\n")
    assert kinds(reading) == []


PROOFS = [
    (TextKind.OUT_OF_MEMORY, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"),
    (TextKind.OUT_OF_MEMORY, "RuntimeError: CUDA error: out of memory"),
    (TextKind.OUT_OF_MEMORY, "ResourceExhaustedError: OOM when allocating tensor with shape[64,1024]"),
    (TextKind.OUT_OF_MEMORY, "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you"),
    (TextKind.KILLED, "Killed"),
    (TextKind.KILLED, "run.sh: line 5: 12345 Killed                  python train.py"),
    (TextKind.KILLED, "  traceback : Signal 9 (SIGKILL) received by PID 12345"),
    (TextKind.KILLED, "  exitcode  : -9 (pid: 12345)"),
    (TextKind.KILLED, "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch. Some of your processes"),
    (TextKind.KILLED, "subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGSEGV: 11>."),
    (TextKind.KILLED, "slurmstepd: error: *** JOB 123 ON node1 CANCELLED AT 2026-08-22T10:00:00 ***"),
    (TextKind.TIME_LIMIT, "slurmstepd: error: *** JOB 123 ON node1 CANCELLED AT 2026-08-22T10:00:00 DUE TO TIME LIMIT ***"),
    (TextKind.TIME_LIMIT, "=>> PBS: job killed: walltime 86407 exceeded limit 86400"),
    (TextKind.LOST_PEER, "[rank3]:[E822] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)"),
    (TextKind.LOST_PEER, "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/NCCLUtils.hpp:275"),
    (TextKind.LOST_PEER, "ncclSystemError: System call (e.g. socket, malloc) or external library call failed"),
    (TextKind.LOST_PEER, "RuntimeError: [/gloo/transport/tcp/pair.cc:525] Read error [10.0.0.1]:1234: Connection reset by peer"),
    (TextKind.DISK_FULL, "OSError: [Errno 28] No space left on device"),
    (TextKind.DEVICE_ASSERT, "RuntimeError: CUDA error: device-side assert triggered"),
    (TextKind.LABEL_OUT_OF_RANGE, "Loss.cu:250: nll_loss: block: [0,0,0], thread: [1,0,0] Assertion `t >= 0 && t < n_classes` failed."),
    (TextKind.LABEL_OUT_OF_RANGE, "IndexError: Target 10 is out of bounds."),
    (TextKind.INDEX_OUT_OF_RANGE, "IndexError: index out of range in self"),
    (TextKind.INDEX_OUT_OF_RANGE, "Indexing.cu:1284: block: [0,0,0], thread: [1,0,0] Assertion `srcIndex < srcSelectDimSize` failed."),
    (TextKind.HARDWARE_ERROR, "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."),
    (TextKind.HARDWARE_ERROR, "RuntimeError: CUDA error: uncorrectable ECC error encountered"),
    (TextKind.LOSS_SCALE_MINIMUM, "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."),
    (TextKind.LOSS_SCALE_MINIMUM, "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding."),
    (TextKind.NON_FINITE_ABORT, "FloatingPointError: Loss became infinite or NaN at iteration=500!"),
    (TextKind.NON_FINITE_ABORT, "Rank 0, node n, device 0, iteration 5: Unexpected result nan (message='found NaN in local forward loss calculation')"),
    (TextKind.NON_FINITE_ABORT, "RuntimeError: Loss or gradient norm is not finite (loss=nan, grad_norm=nan) at step 57"),
    (TextKind.NON_FINITE_ABORT, "RuntimeError: nan loss encountered at step 57"),
    (TextKind.NON_FINITE_ABORT, "Batch 3: Invalid loss, terminating training"),
    (TextKind.NON_FINITE_ABORT, "Loss is nan, stopping training"),
    (TextKind.NON_FINITE_ABORT, "RuntimeError: Training failed: NaN persisted"),
    (TextKind.NON_FINITE_ABORT, "WARNING: non-finite loss, ending training"),
    (TextKind.NON_FINITE_ABORT, "Monitored metric val_loss = nan is not finite. Previous best value was 0.500."),
    (TextKind.NON_FINITE_ABORT, "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output."),
    (TextKind.NON_FINITE_GUARD, "Skipping step 57 because the gradient norm is NaN"),
    (TextKind.NON_FINITE_GUARD, "WARNING non-finite gradients detected at step 57, skipping update"),
    (TextKind.NON_FINITE_GUARD, "Loss NaN/Inf detected (attempt 1/3), recovering from last.pt..."),
    (TextKind.RESUMED, "Resuming training from out/checkpoint-500"),
    (TextKind.RESUMED, "  successfully loaded checkpoint from /ckpt at iteration 5000"),
    (TextKind.RESUMED, "=> loaded checkpoint 'x.pth.tar' (epoch 3)"),
    (TextKind.RESUMED, "  Continuing training from global step 500"),
    (TextKind.RESUMED, "Restoring states from the checkpoint path at last.ckpt"),
    (TextKind.RESUMED, "Starting training from iteration 5000"),
    (TextKind.SCHEDULER_NOT_RESTORED, "Warning: could not load lr scheduler state from checkpoint"),
    (TextKind.OPTIMIZER_NOT_RESTORED, "optimizer state not found in checkpoint, starting fresh"),
    (TextKind.WEIGHTS_NOT_LOADED, "Some weights of BertModel were not initialized from the model checkpoint at x and are newly initialized: ['a']"),
    (TextKind.WEIGHTS_NOT_LOADED, "RuntimeError: Error(s) in loading state_dict: Missing key(s) in state_dict: \"a\""),
    (TextKind.WEIGHTS_NOT_LOADED, "missing keys: ['head.weight']"),
    (TextKind.PRETRAINED, "fine-tuning from base/model.safetensors"),
    (TextKind.PRETRAINED, "Loading the pretrained model from /models/base"),
    (TextKind.PRETRAINED, "INFO initialized from pre-trained GPT weights"),
    (TextKind.GRADIENTS_ABSENT, "UserWarning: None of the inputs have requires_grad=True. Gradients will be None"),
    (TextKind.GRADIENTS_ABSENT, "WARNING:tensorflow:Gradients do not exist for variables ['dense/kernel:0'] when minimizing the loss."),
    (TextKind.GRADIENTS_ABSENT, "Parameter indices which did not receive grad for rank 1: 12 13"),
    (TextKind.SEQUENCE_TOO_LONG, "Token indices sequence length is longer than the specified maximum sequence length for this model (600 > 512)."),
    (TextKind.CHECKPOINT_SAVED, "Saving model checkpoint to out/checkpoint-500"),
    (TextKind.CHECKPOINT_SAVED, "  successfully saved checkpoint at iteration 500 to /ckpt"),
    (TextKind.RUN_STARTED, "***** Running training *****"),
    (TextKind.RUN_FINISHED, "Training completed. Do not forget to share your model"),
    (TextKind.RUN_FINISHED, "[launch.py:347:main] Process 1234 exits successfully."),
    (TextKind.RUN_FINISHED, "`Trainer.fit` stopped: `max_epochs=3` reached."),
    (TextKind.RUN_FINISHED, "stopping_early: wallclock_cap train_time:600038ms"),
    (TextKind.INTERRUPTED, "KeyboardInterrupt"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "line"), PROOFS, ids=[f"{k.value}-{line[:30]}" for k, line in PROOFS]
)
def test_lines_that_prove_something(tmp_path: Path, kind: TextKind, line: str) -> None:
    reading = read(tmp_path, f"step 1 loss 2.5\nstep 2 loss 2.4\n{line}\n")
    (found,) = (e for e in reading.text if e.kind is kind)
    assert found.line == 3
    assert found.text == line.strip()[:400] or found.text in line


def test_every_kind_can_be_told() -> None:
    told = {kind for kind, _ in PROOFS} | {TextKind.OVERFLOW, TextKind.TRACEBACK}
    assert told == set(TextKind)


def traceback(error: str, prefix: str = "") -> str:
    lines = [
        "Traceback (most recent call last):",
        '  File "train.py", line 10, in <module>',
        "    step()",
        error,
    ]
    return "".join(f"{prefix}{line}\n" for line in lines)


def only(tmp_path: Path, text: str, kind: TextKind) -> list[TextEvidence]:
    return [e for e in read(tmp_path, text).text if e.kind is kind]


def test_a_traceback_is_told_by_its_last_line(tmp_path: Path) -> None:
    (found,) = only(
        tmp_path,
        "step 7 loss 2.5\n" + traceback("ValueError: bad shape (3, 4)"),
        TextKind.TRACEBACK,
    )
    assert (found.text, found.line, found.step) == ("ValueError: bad shape (3, 4)", 5, 7)


def test_a_traceback_of_each_rank_is_one(tmp_path: Path) -> None:
    lines = [
        traceback("torch.OutOfMemoryError: CUDA out of memory.", f"[rank{r}]: ").splitlines(
            keepends=True
        )
        for r in range(4)
    ]
    text = "".join(line for group in zip(*lines, strict=True) for line in group)
    assert [e.text for e in only(tmp_path, text, TextKind.TRACEBACK)] == [
        "torch.OutOfMemoryError: CUDA out of memory."
    ]
    assert len(only(tmp_path, text, TextKind.OUT_OF_MEMORY)) == 1


def test_a_chain_of_tracebacks_keeps_each(tmp_path: Path) -> None:
    text = (
        traceback("KeyError: 'a'")
        + "\nDuring handling of the above exception, another occurred:\n\n"
        + traceback("RuntimeError: b")
    )
    assert [e.text for e in only(tmp_path, text, TextKind.TRACEBACK)] == [
        "KeyError: 'a'",
        "RuntimeError: b",
    ]


def test_a_traceback_that_the_file_cuts_is_told(tmp_path: Path) -> None:
    text = 'step 7 loss 2.5\nTraceback (most recent call last):\n  File "train.py", line 10'
    (found,) = only(tmp_path, text, TextKind.TRACEBACK)
    assert (found.line, found.step) == (2, 7)


def test_an_interrupt_is_no_crash(tmp_path: Path) -> None:
    text = traceback("KeyboardInterrupt")
    assert only(tmp_path, text, TextKind.TRACEBACK) == []
    assert len(only(tmp_path, text, TextKind.INTERRUPTED)) == 1


def test_a_guard_gives_the_gradient_norm_it_printed(tmp_path: Path) -> None:
    text = (
        "step:1250/20000 train_loss:2.9255\n"
        "nonfinite_guard:skip planned_step:1294 stage:grad offending_rank:7 grad_norms:[inf,inf,inf] detail:x\n"
        "[rank5] nonfinite_grad planned_step:1302 param:gatenonfinite_guard:skip planned_step:1302 grad_norms:[nan,nan]\n"
        "nonfinite_guard:abort consecutive_skips:8 planned_step:1306\n"
    )
    reading = read(tmp_path, text)
    assert [(e.kind, e.step) for e in reading.text] == [
        (TextKind.NON_FINITE_GUARD, 1294),
        (TextKind.NON_FINITE_GUARD, 1302),
        (TextKind.NON_FINITE_ABORT, 1306),
    ]
    steps, values = shown(reading)["grad_norm"]
    assert steps == [1294, 1302]
    assert values[0] == float("inf")
    assert values[1] != values[1]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("Resuming training from out/checkpoint-500", 500),
        ("successfully loaded checkpoint from /c at iteration 5000", 5000),
        ("Loaded checkpoint x.pt (epoch 3 @ 1000 updates)", 1000),
        ("Continuing training from global step 500", 500),
        ("Restoring states from the checkpoint path at last.ckpt", 20),
    ],
)
def test_a_resume_knows_its_step_where_the_line_does(tmp_path: Path, line: str, step: int) -> None:
    (found,) = only(tmp_path, f"step 20 loss 2.5\n{line}\n", TextKind.RESUMED)
    assert found.step == step


def test_evidence_is_short_and_without_colours(tmp_path: Path) -> None:
    text = "\x1b[31mValueError: loss is NaN " + "x" * 5000 + "\x1b[0m\n"
    for evidence in read(tmp_path, text).text:
        assert len(evidence.text) <= 400
        assert "\x1b" not in evidence.text


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("2026-11-30 22:28:00,767 | Resumed from ckpt_001100.pt (step 1100)", 1100),
        ("Loaded checkpoint out/ckpt_step_400.pt", 10),
        ("Loading checkpoint from 'runs/a/epoch_12.pt'", 10),
        ("Resume training from ckpt-12.pth", 10),
        ("=> loaded checkpoint 'x.pth.tar' (epoch 5)", 10),
        ("Restored from checkpoint_500.pt", 500),
        ("Restoring model weights from ckpt/epoch_3.h5", 10),
        ("Resuming training from epoch 4", 10),
    ],
)
def test_a_resume_in_many_words(tmp_path: Path, line: str, step: int) -> None:
    reading = read(tmp_path, f"step 10 loss 2.5\n{line}\nstep 11 loss 2.4\n")
    assert [(e.kind, e.step) for e in reading.text] == [(TextKind.RESUMED, step)]
