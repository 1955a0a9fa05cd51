# ruff: noqa: E501 - the lines of logs are long
import math

import pytest

from forensics.readers._text.counters import Role
from forensics.readers._text.grammar import read_line
from forensics.readers._text.layout import Kind

NOTHING_LOGGED = """
Loaded model with 2489730 parameters
created 10 samples
Sampling completed after 608.7139055728912 secs
lr_scheduler milestones: Counter({3000: 1, 6000: 1})   gamma: 0.500000
Saving model checkpoint to out/checkpoint-500
(0): Conv2d(3, 64, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)
seed:42
model_params:34756187
tie_embeddings:True embed_lr:0.05 head_lr:0.0 matrix_lr:0.04 scalar_lr:0.04
train_batch_tokens:524288 train_seq_len:1024 iterations:20000 warmup_steps:20
learning_rate: 0.0001
max_grad_norm: 1.0
loss_weight: 0.5
warmup_step:1/20
Total Epochs: 180
number of parameters: 123.59M
Best val loss 0.512 at epoch 3
Validation loss decreased (0.532 --> 0.512).  Saving model ...
EarlyStopping counter: 3 out of 10
  BATCH  : 16384 tok/step  seq=2048
[2026-03-18 14:38:12] node1-0:871784:871848 [5] ibvwrap.c:94 NCCL WARN Call to ibv_open_device failed
W0318 14:37:59.159000 871689 torch/distributed/run.py:852] Setting OMP_NUM_THREADS to be 1
Test: EMA  [ 10/196]  eta: 0:00:10  loss: 0.5 (0.5)  acc1: 80.1 (80.1)
Test:  Total time: 0:00:12 (0.0611 s / it)
2026-11-30 22:44:17.295694: Yayy! New best EMA pseudo Dice: 0.3892
2026-11-30 22:44:17.295694: the loss 0.5 is low
accuracy 0.91
 Sanity Checking DataLoader 0:  50%|#####     | 1/2 [00:00<00:00, 70.10it/s, loss=3.1]
""".strip().split("\n")


@pytest.mark.parametrize("line", NOTHING_LOGGED)
def test_what_logs_nothing_is_left_alone(line: str) -> None:
    assert read_line(line) is None


def parts(line: str) -> tuple[dict[str, float], dict[Role, float]]:
    """Values by tag and counters by role."""
    reading = read_line(line)
    assert reading is not None
    values: dict[str, float] = {}
    counters: dict[Role, float] = {}
    for column, (start, end) in zip(reading.layout.columns, reading.spans, strict=True):
        number = float(line[start:end].replace(",", "")) * column.scale
        if column.role is Role.VALUE:
            values[column.tag] = number
        else:
            counters[column.role] = number
    return values, counters


# line, some of its values, its counters
LOGGED = [
    (
        "iter 100: loss 3.1234, time 135.42ms, mfu 36.91%",
        {"loss": 3.1234, "time": 135.42, "mfu": 36.91},
        {Role.COUNT: 100},
    ),
    (
        "step:125/3375 val_loss:4.85424 train_time:56.129s step_avg:449.03ms",
        {"val_loss": 4.85424, "train_time": 56.129, "step_avg": 449.03},
        {Role.COUNT: 125, Role.TOTAL: 3375},
    ),
    ("s:0 trl:11.0 lr:0.000001 norm:15.37", {"trl": 11.0, "lr": 1e-6, "norm": 15.37}, {Role.COUNT: 0}),
    (
        "step    1/100 | loss 7.312345 (+nanz)| norm 2.1234 (+0.12z)| lr 1.00e-04 | 200.12 ms",
        {"loss": 7.312345, "norm": 2.1234, "lr": 1e-4},
        {Role.COUNT: 1, Role.TOTAL: 100},
    ),
    (
        "Epoch [3/10], Step [100/600], Loss: 0.1234",
        {"Loss": 0.1234},
        {Role.EPOCH: 3, Role.COUNT: 100, Role.TOTAL: 600},
    ),
    (
        "Epoch 119 iteration 1240/1263: training loss 0.151",
        {"training loss": 0.151},
        {Role.EPOCH: 119, Role.COUNT: 1240, Role.TOTAL: 1263},
    ),
    (
        "Train: 0 [  50/1251 (  4%)]  Loss: 6.95 (6.97)  Time: 0.312s,  820.1/s  LR: 1.000e-06",
        {"Loss": 6.95, "Loss (avg)": 6.97, "LR": 1e-6},
        {Role.EPOCH: 0, Role.COUNT: 50, Role.TOTAL: 1251},
    ),
    (
        "Epoch: [115]  [1298/1299]  eta: 0:00:00  lr: 0.001435  loss: 6.59 (6.61)  "
        "loss_scale: 8192.0 (8646.06)  max mem: 3000",
        {"lr": 0.001435, "loss": 6.59, "loss (avg)": 6.61, "loss_scale": 8192.0, "max mem": 3000},
        {Role.EPOCH: 115, Role.COUNT: 1298, Role.TOTAL: 1299},
    ),
    (
        "2026-08-22 10:00:00 | INFO | train_inner | epoch 001:    100 / 5000 loss=8.123, ppl=278.4, "
        "num_updates=100, lr=1.25e-05, gnorm=2.345, clip=0, loss_scale=128",
        {"loss": 8.123, "ppl": 278.4, "lr": 1.25e-5, "gnorm": 2.345, "clip": 0, "loss_scale": 128},
        {Role.EPOCH: 1, Role.COUNT: 100, Role.TOTAL: 5000, Role.GLOBAL: 100},
    ),
    (
        "2026-08-22 10:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8.1 | num_updates 100",
        {"val loss": 8.1},
        {Role.EPOCH: 1, Role.GLOBAL: 100},
    ),
    (
        "[08/22 10:00:00 d2.utils.events]:  eta: 1:23:45  iter: 19  total_loss: 5.123  loss_cls: 1.2  "
        "data_time: 0.1  lr: 1.9981e-05  max_mem: 3000M",
        {"total_loss": 5.123, "loss_cls": 1.2, "data_time": 0.1, "lr": 1.9981e-05, "max_mem": 3000},
        {Role.COUNT: 19},
    ),
    (
        "2026/08/22 10:00:00 - mmengine - INFO - Iter(train) [   50/40000]  lr: 1.9e-03  "
        "eta: 1 day, 2:03:04  time: 0.5  memory: 3000  loss: 1.25",
        {"lr": 1.9e-3, "time": 0.5, "memory": 3000, "loss": 1.25},
        {Role.COUNT: 50, Role.TOTAL: 40000},
    ),
    (
        "[rank0]:[titan] 2026-08-22 10:00:00,123 - root - INFO - step: 10  loss:  8.12345  "
        "grad_norm:  1.2345  memory: 42.10GiB(44.32%)  tps: 6,543  tflops: 312.10  mfu: 31.56%",
        {"loss": 8.12345, "grad_norm": 1.2345, "memory": 42.1, "tps": 6543, "tflops": 312.1, "mfu": 31.56},
        {Role.COUNT: 10},
    ),
    ("    optim/LR (group 0)=0.0001", {"optim/LR (group 0)": 0.0001}, {}),
    ("    train/CE loss=2.345", {"train/CE loss": 2.345}, {}),
    ("    throughput/device/TPS=12,345", {"throughput/device/TPS": 12345}, {}),
    (
        "Step 12 | loss:1.2345 lr:2e-05 tokens_per_second_per_gpu:1234.5",
        {"loss": 1.2345, "lr": 2e-5, "tokens_per_second_per_gpu": 1234.5},
        {Role.COUNT: 12},
    ),
    (
        "Training epoch 0, iteration 9/99 | lr: 1e-05 | global_batch_size: 8 | global_step: 9 | "
        "reduced_train_loss: 2.3 | train_step_timing in s: 0.5",
        {"lr": 1e-5, "reduced_train_loss": 2.3, "train_step_timing in s": 0.5},
        {Role.EPOCH: 0, Role.COUNT: 9, Role.TOTAL: 99, Role.GLOBAL: 9},
    ),
    (
        "completed step: 10, seconds: 0.5, TFLOP/s/device: 100.1, total_weights: 8192, loss: 10.8",
        {"seconds": 0.5, "loss": 10.8},
        {Role.COUNT: 10},
    ),
    (
        "step:1 - global_seqlen/min:100.0 - actor/pg_loss:-0.1 - actor/grad_norm:1.2",
        {"global_seqlen/min": 100.0, "actor/pg_loss": -0.1, "actor/grad_norm": 1.2},
        {Role.COUNT: 1},
    ),
    (
        " [2026-08-22 10:00:00.123456] iteration      100/  500000 | consumed samples:        25600 | "
        "elapsed time per iteration (ms): 1234.5 | learning rate: 1.500000E-05 | lm loss: 9.123456E+00 | "
        "loss scale: 65536.0 | grad norm: 1.234 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        {
            "consumed samples": 25600,
            "elapsed time per iteration (ms)": 1234.5,
            "learning rate": 1.5e-05,
            "lm loss": 9.123456,
            "loss scale": 65536,
            "grad norm": 1.234,
            "number of skipped iterations": 0,
        },
        {Role.COUNT: 100, Role.TOTAL: 500000},
    ),
    (
        " validation loss at iteration 1000 | lm loss value: 2.31E+00 | lm loss PPL: 1.0E+01 |",
        {"lm loss value": 2.31, "lm loss PPL": 10.0},
        {Role.COUNT: 1000},
    ),
    (
        "[2023-04-18 03:36:02,682] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=3, "
        "lr=[5e-05, 5e-05], mom=[(0.9, 0.95), (0.9, 0.95)]",
        {"skipped": 3, "lr": 5e-5, "mom": 0.9},
        {Role.COUNT: 10},
    ),
    (
        "epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=1.5, MemAllocated=4.34GB",
        {"micro_step": 20, "RunningAvgSamplesPerSec": 1.5, "MemAllocated": 4.34},
        {Role.EPOCH: 0, Role.GLOBAL: 10},
    ),
    (
        "| epoch   1 |   200/ 2928 batches | lr 5.00 | ms/batch 12.81 | loss  7.51 | ppl  1900.1",
        {"lr": 5.0, "loss": 7.51, "ppl": 1900.1},
        {Role.EPOCH: 1, Role.COUNT: 200, Role.TOTAL: 2928},
    ),
    ("[1,  2000] loss: 2.179", {"loss": 2.179}, {Role.EPOCH: 1, Role.COUNT: 2000}),
    ("loss: 2.300000  [   64/60000]", {"loss": 2.3}, {Role.SAMPLES: 64, Role.TOTAL: 60000}),
    (
        "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.301234",
        {"Loss": 2.301234},
        {Role.EPOCH: 1, Role.SAMPLES: 640, Role.TOTAL: 60000},
    ),
    (
        "Epoch: [0][  10/5005]\tTime  0.512 ( 0.600)\tLoss 7.0000e+00 (7.0123e+00)\tAcc@1   0.00 (  0.12)",
        {"Loss": 7.0, "Loss (avg)": 7.0123, "Acc@1": 0.0},
        {Role.EPOCH: 0, Role.COUNT: 10, Role.TOTAL: 5005},
    ),
    (
        "Iter 10: Train loss 2.345, Learning Rate 1.000e-05, Tokens/sec 500.1, Trained Tokens 4500",
        {"Train loss": 2.345, "Learning Rate": 1e-5, "Trained Tokens": 4500},
        {Role.COUNT: 10},
    ),
    ("0/1000 (epoch 0.010), train_loss = 4.1", {"train_loss": 4.1}, {Role.COUNT: 0, Role.TOTAL: 1000, Role.EPOCH: 0.01}),
    ("INFO:tensorflow:loss = 0.5, step = 100 (1.2 sec)", {"loss": 0.5}, {Role.COUNT: 100}),
    (
        "Saving dict for global step 100: accuracy = 0.9, global_step = 100, loss = 0.3",
        {"val accuracy": 0.9, "val loss": 0.3},
        {Role.GLOBAL: 100},
    ),
    ("Epoch 1 | Train: loss 0.5 acc 0.7 | Val: loss 0.6 acc 0.65", {"loss": 0.5, "val loss": 0.6, "val acc": 0.65}, {Role.EPOCH: 1}),
    (
        "[Epoch 1/10] [Batch 20/100] [D loss: 0.5, acc: 50%] [G loss: 0.7]",
        {"D loss": 0.5, "G loss": 0.7},
        {Role.EPOCH: 1, Role.COUNT: 20, Role.TOTAL: 100},
    ),
    (
        "Epoch 1, batch 100, global_batch_idx: 100, batch size: 50, loss[loss=0.5, simple_loss=0.4, "
        "over 1000.00 frames. ], tot_loss[loss=0.6, simple_loss=0.5, over 2000.00 frames. ], lr: 2.94e-02",
        {"loss": 0.5, "simple_loss": 0.4, "tot_loss/loss": 0.6, "tot_loss/simple_loss": 0.5, "lr": 0.0294},
        {Role.EPOCH: 1, Role.COUNT: 100, Role.GLOBAL: 100},
    ),
    ("0: step 10 loss 5.5", {"loss": 5.5}, {Role.COUNT: 10}),
    ("100: loss=2.3", {"loss": 2.3}, {Role.COUNT: 100}),
    ("chosen (higher is better) : 2.8, acc (higher is better) : 0.49", {"acc": 0.49}, {}),
    ("Test: [ 77/78]  Time: 0.5 (0.5)  Loss:  1.1 ( 1.2)  Acc@1: 75.0 (76.0)", {"val Loss": 1.2, "val Acc@1": 76.0}, {Role.PART: 77}),
    ("step 500 | consumed_tokens: 1.05M | lm_loss: 10.5", {"consumed_tokens": 1.05e6, "lm_loss": 10.5}, {Role.COUNT: 500}),
    ("2026-08-22T10:00:00.123Z step 5 loss 2.5", {"loss": 2.5}, {Role.COUNT: 5}),
    ("Aug 22 10:00:00 node7 train[123]: step 5 loss 2.5", {"loss": 2.5}, {Role.COUNT: 5}),
    ("Loss at step 100: 2.34", {"Loss": 2.34}, {Role.COUNT: 100}),
    ("loss (step 100): 2.34", {"loss": 2.34}, {Role.COUNT: 100}),
    ("train loss at iteration 100 is 2.5", {"train loss": 2.5}, {Role.COUNT: 100}),
    ("{'loss': 2.5, 'global_step/max_steps': '10/12', 'lr': 1e-05}", {"loss": 2.5, "lr": 1e-5}, {Role.GLOBAL: 10}),
    ('{"epoch": 1, "update": 0.5, "loss": "8.1", "num_updates": "100"}', {"loss": 8.1}, {Role.EPOCH: 1, Role.GLOBAL: 100}),
    ('{"loss": 2.5, "step": 10, "lr": 1e-05}', {"loss": 2.5, "lr": 1e-5}, {Role.COUNT: 10}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "values", "counters"), LOGGED, ids=[case[0][:40] for case in LOGGED]
)
def test_lines_are_read_by_their_structure(
    line: str, values: dict[str, float], counters: dict[Role, float]
) -> None:
    found, counted = parts(line)
    assert {tag: found.get(tag) for tag in values} == values
    assert counted == counters


@pytest.mark.parametrize(
    "spelling", ["nan", "NaN", "inf", "-inf", "Infinity", "-Infinity", "'nan'", '"NaN"']
)
def test_non_finite_numbers_are_read_however_they_are_spelled(spelling: str) -> None:
    (found, _) = parts(f"step: 3, loss: {spelling}, lr: 0.1")
    expected = float(spelling.strip("'\""))
    assert found["loss"] == expected or (math.isnan(found["loss"]) and math.isnan(expected))


def test_what_is_glued_to_a_number_is_no_loss() -> None:
    (found, _) = parts("step:0/10 train_loss:2.5 train_time:0ms step_avg:nanms")
    assert found["train_loss"] == 2.5
    assert math.isnan(found["step_avg"])


def test_a_number_that_another_rank_cut_is_not_taken() -> None:
    (found, _) = parts("step: 10 loss: 2.step: 10 loss: 2.31")
    assert found == {"loss": 2.31}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{'loss': 2.3, 'learning_rate': 4.9e-05, 'epoch': 0.01}", Kind.DICT),
        ("{'loss': '2.3', 'learning_rate': '4.9e-05', 'epoch': '0.01'}", Kind.DICT),
        ("{'train_runtime': 4.9, 'train_loss': 4.1, 'epoch': 3.0}", Kind.FINAL),
        (" 42%|████▏     | 42/100 [00:12<00:17,  3.40it/s, loss=2.3]", Kind.BAR),
        ("6/6 ━━━━━━━━━━ 0s 5ms/step - loss: 0.65 - val_loss: 0.72", Kind.KERAS),
        ("6/6 [=========] - 1s 3ms/step - loss: 0.65", Kind.KERAS),
        ("6/6 - 0s - 4ms/step - loss: 0.65", Kind.KERAS),
    ],
)
def test_what_printed_a_line_is_known_where_it_matters(line: str, kind: Kind) -> None:
    reading = read_line(line)
    assert reading is not None
    assert reading.layout.kind is kind


def test_the_final_loss_of_a_run_is_not_one_of_a_step() -> None:
    (found, _) = parts("{'train_runtime': 4.9, 'train_loss': 4.1, 'epoch': 3.0}")
    assert "train_loss" not in found
    assert found["train_loss (run mean)"] == 4.1


@pytest.mark.parametrize(
    "line",
    ["[" * 5000, "(" * 5000 + "1", "loss=" * 2000, "1 " * 4000, "a:" * 4000 + "1", "- " * 4000],
)
def test_hostile_lines_are_read_in_time(line: str) -> None:
    assert read_line(line) is None or read_line(line) is not None


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("INFO loss: 0.5 lr: 0.1", ["loss", "lr"]),
        ("INFO lr: [1e-05] loss: 0.3", ["lr", "loss"]),
        ("INFO Loss: nan lr: 0.1", ["Loss", "lr"]),
        ("INFO eval: loss 0.5", ["val loss"]),
        ("2024-01-01 10:00:00.123 | INFO     | __main__:churn:45 - epoch 3 loss 0.4", ["loss"]),
        ("2024-01-01 10:00:00.123 | SUCCESS  | pkg.loop:fit:145 - step=7 loss=0.4", ["loss"]),
        ("2024-01-01 10:00:00.123 | INFO | __main__:<module>:12 - step 3 loss 0.4", ["loss"]),
        ("2024-01-01 10:00:00,123 INFO trainer: [1/12][20] loss: 0.4", ["loss"]),
    ],
)
def test_who_logged_a_line_is_no_quantity(line, tags):
    reading = read_line(line)
    assert reading is not None
    assert reading.layout.tags == tags


@pytest.mark.parametrize("brackets", ["[1/12][20]", "[1/12] [20/107]", "(1/12)(20)"])
def test_epoch_and_step_in_brackets(brackets):
    reading = read_line(f"{brackets} train_loss: 0.5")
    assert reading is not None
    assert [c.role.value for c in reading.layout.columns][:2] == ["epoch", "count"]
    assert reading.layout.tags == ["train_loss"]
