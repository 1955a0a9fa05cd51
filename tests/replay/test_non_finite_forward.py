import math

import pytest

from forensics.replay_facts import Phase
from tests.replay.planted import INF, Attention, F, Of, causal, found, gpt2, nn, torch


def test_fully_masked_row_in_attention():
    model = nn.ModuleDict({"block": Attention()})
    x, mask = torch.randn(2, 4, 8), causal(4)
    mask[2] = -INF
    operation = found(model, lambda: model["block"](x, mask).sum())
    assert operation.phase is Phase.FORWARD
    assert (operation.operation, operation.module) == ("_softmax", "block.softmax")
    assert operation.kind == "nan"
    assert "fully masked: 2 of 8 rows" in operation.culprit
    assert operation.inputs[0].startswith("float32 (2, 4, 4)")
    assert "planted.py:" in operation.location


def test_fully_masked_row_of_a_mask_in_the_batch():
    model = Attention()
    batch = (torch.randn(2, 4, 8), torch.full((4, 4), -INF))
    operation = found(model, lambda: model(*batch).sum(), batch=batch)
    assert (operation.operation, operation.module) == ("_softmax", "softmax")


def test_scores_beyond_half_precision_in_attention():
    model = Attention()
    nn.init.constant_(model.qkv.weight, 40.0)
    x = torch.ones(1, 4, 8)

    def loss():
        with torch.autocast("cpu", dtype=torch.float16):
            return model(x, causal(4)).float().mean()

    operation = found(model, loss)
    assert (operation.operation, operation.module) == ("bmm", "scores")
    assert operation.kind == "inf"
    assert "65504" in operation.culprit
    assert operation.inputs[0].startswith("float16 (1, 4, 8), ")
    assert operation.phase is Phase.FORWARD


def test_mask_multiplied_by_infinity():
    model = Attention()
    x, keep = torch.randn(1, 4, 8), torch.ones(4, 4).tril()
    operation = found(model, lambda: model(x, (1 - keep) * -INF).sum())
    assert (operation.operation, operation.phase) == ("mul", Phase.LOSS)
    assert "0 times an infinity" in operation.culprit


def test_log_of_zero_in_the_loss():
    model = nn.Linear(3, 2)
    x = torch.tensor([[1.0, 2.0, 3.0]])

    def loss():
        return -model(x).relu().mul(0).log().mean()

    operation = found(model, loss)
    assert (operation.phase, operation.operation, operation.module) == (Phase.LOSS, "log", "")
    assert operation.culprit == "log of 0: 2 of 2 values"
    assert operation.step == 7
    assert operation.precision == "fp32"


def test_mean_over_an_empty_mask():
    model = nn.Linear(3, 2)
    x, mask = torch.randn(4, 3), torch.zeros(4, 2)
    divided = found(model, lambda: (model(x) * mask).sum() / mask.sum())
    assert (divided.operation, divided.culprit) == ("div", "division of 0 by 0: 1 of 1 values")
    selected = found(model, lambda: model(x)[mask.bool()].mean())
    assert (selected.operation, selected.culprit) == ("mean", "the mean of an empty selection")


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_every_label_ignored(smoothing):
    model = nn.Linear(3, 5)
    x, labels = torch.randn(4, 3), torch.full((4,), -100)
    operation = found(model, lambda: F.cross_entropy(model(x), labels, label_smoothing=smoothing))
    assert (operation.phase, operation.module) == (Phase.LOSS, "")
    if smoothing:
        assert operation.operation in ("nll_loss_forward", "div")
    else:
        assert operation.operation == "nll_loss_forward"
        assert operation.culprit == "no label counts: all 4 are -100, the ignored label"


def test_every_label_ignored_inside_a_language_model():
    model = gpt2()
    ids = torch.randint(0, 50, (1, 8))
    operation = found(model, lambda: model(input_ids=ids, labels=torch.full_like(ids, -100)).loss)
    assert operation.operation == "nll_loss_forward"
    assert "no label counts" in operation.culprit


def test_label_whose_class_was_cut_off():
    model = nn.Linear(3, 4)
    x, cut = torch.randn(2, 3), torch.tensor([False, False, True, False])

    def loss():
        return F.cross_entropy(model(x).masked_fill(cut, -INF), torch.tensor([2, 0]))

    operation = found(model, loss)
    assert (operation.operation, operation.kind) == ("masked_fill", "inf")


def test_square_beyond_half_precision_in_a_normalisation():
    class Norm(nn.Module):
        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * 0 + x.pow(2).mean()

    model = nn.Sequential(nn.Linear(4, 4), Norm()).half()
    nn.init.constant_(model[0].weight, 100.0)
    x = torch.ones(2, 4, dtype=torch.float16)
    operation = found(model, lambda: model(x).float().sum())
    assert (operation.operation, operation.module, operation.kind) == ("pow", "1", "inf")
    assert operation.culprit == "the result is beyond 65504, the largest float16"


def test_layer_norm_beyond_half_precision():
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8)).half()
    nn.init.constant_(model[1].weight, 60000.0)
    x = torch.randn(2, 4).half()
    operation = found(model, lambda: model(x).float().sum())
    assert (operation.operation, operation.module) == ("native_layer_norm", "1")
    assert "65504" in operation.culprit


def test_batch_norm_over_one_sample_written_by_hand():
    class Norm(nn.Module):
        def forward(self, x):
            centred = x - x.mean(0)
            return centred * x.var(0, unbiased=False).rsqrt()

    model = nn.Sequential(nn.Linear(3, 4), Norm())
    operation = found(model, lambda: model(torch.randn(1, 3)).sum())
    assert (operation.operation, operation.module) == ("rsqrt", "1")
    assert operation.culprit == "inverse square root of 0: 4 of 4 values"


def test_layer_norm_of_a_constant_row_without_epsilon():
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4, eps=0.0))
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    operation = found(model, lambda: model(torch.randn(5, 3)).sum())
    assert (operation.operation, operation.module) == ("native_layer_norm", "1")
    assert operation.culprit == "a variance of 0 with epsilon 0"


def test_variance_of_a_single_sample():
    model = nn.Linear(3, 4)
    operation = found(model, lambda: model(torch.randn(1, 3)).std(0).sum())
    assert operation.operation == "std"
    assert operation.culprit == "the variance of a single value, which divides by 0"


def test_lstm_fed_by_a_division_by_zero():
    class Scaled(nn.Module):
        def forward(self, x):
            return x / x.abs().amax(-1, keepdim=True)

    model = nn.ModuleDict({"scale": Scaled(), "lstm": nn.LSTM(3, 4), "head": nn.Linear(4, 1)})
    x = torch.randn(5, 2, 3)
    x[1, 0] = 0
    operation = found(model, lambda: model["head"](model["lstm"](model["scale"](x))[0]).sum())
    assert (operation.operation, operation.module) == ("div", "scale")


def test_lstm_with_a_weight_that_is_nan():
    model = nn.Sequential(nn.LSTM(3, 4))
    model[0].weight_hh_l0.data[0, 0] = math.nan
    operation = found(model, lambda: model(torch.randn(5, 2, 3))[0].sum())
    assert (operation.operation, operation.module) == ("parameter", "0")
    assert operation.culprit == (
        "parameter 0.weight_hh_l0 is not finite before the step: 1 of 64 values NaN"
    )


def test_row_of_nan_in_an_embedding():
    model = nn.ModuleDict({"table": nn.Embedding(5, 3), "head": nn.Linear(3, 2)})
    model["table"].weight.data[4] = math.nan
    ids = torch.tensor([0, 4])
    operation = found(model, lambda: model["head"](model["table"](ids)).sum())
    assert (operation.phase, operation.operation) == (Phase.FORWARD, "parameter")
    assert operation.module == "table"
    assert "3 of 15 values NaN" in operation.culprit


def test_exponential_of_a_log_variance():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.log_variance = nn.Linear(3, 2), nn.Linear(3, 2)
            nn.init.constant_(self.log_variance.bias, 200.0)

        def forward(self, x):
            mean, spread = self.mean(x), (0.5 * self.log_variance(x)).exp()
            return mean + torch.randn_like(mean) * spread, mean, self.log_variance(x)

    model = nn.ModuleDict({"encoder": Encoder(), "decoder": nn.Linear(2, 3)})
    x = torch.randn(4, 3)

    def loss():
        z, mean, log_variance = model["encoder"](x)
        kl = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
        return F.mse_loss(model["decoder"](z), x) + kl

    operation = found(model, loss)
    assert (operation.phase, operation.operation) == (Phase.FORWARD, "exp")
    assert operation.module == "encoder"
    assert operation.culprit.startswith("an exponential of 1")
    assert "beyond 88.7 it overflows float32" in operation.culprit


@pytest.mark.parametrize(
    ("function", "name", "culprit"),
    [
        (lambda x: torch.logit(torch.sigmoid(x * 100)), "logit", "logit of exactly 0 or 1"),
        (lambda x: F.softplus(x * -200).log(), "log", "log of 0"),
        (lambda x: (x - 5).pow(0.5), "pow", "a negative number to a power that is no integer"),
        (lambda x: torch.acos(x * 3), "acos", "inverse sine or cosine of a number beyond 1"),
        (lambda x: (x - 5).sqrt(), "sqrt", "square root of a negative number"),
        (lambda x: x.clone().mul_(0).log_(), "log_", "log of 0"),
        (lambda x: 1 / (x - x), "reciprocal", "division by 0"),
        (lambda x: torch.atanh(x / x), "atanh", "atanh of exactly 1"),
    ],
)
def test_functions_that_leave_their_domain(function, name, culprit):
    model = nn.Sequential(Of(lambda m: m.w, w=None), Of(lambda _, x: function(x)))
    model[0].w = nn.Parameter(torch.tensor([1.0, 2.0]))
    operation = found(model, lambda: model[1](model[0]()).sum())
    assert (operation.operation, operation.module) == (name, "1")
    assert operation.culprit.startswith(culprit)


def test_batch_that_is_not_finite():
    model = nn.Linear(3, 2)
    batch = {"pixels": torch.ones(2, 3), "labels": torch.zeros(2, dtype=torch.long)}
    batch["pixels"][1, 2] = math.nan
    loss = lambda: F.cross_entropy(model(batch["pixels"]), batch["labels"])  # noqa: E731
    operation = found(model, loss, batch=batch)
    assert (operation.phase, operation.operation) == (Phase.INPUT, "input")
    assert operation.culprit == "input pixels is not finite before the step: 1 of 6 values NaN"
    assert operation.inputs == ("float32 (2, 3), 1 to 1, 1 of 6 values NaN",)
    unnamed = found(model, loss)
    assert unnamed.culprit == "a non-finite number that no operation of this step made"
    assert unnamed.operation == "addmm"


def test_compiled_model_is_watched_as_written():
    model = torch.compile(nn.Sequential(nn.Linear(2, 2), Of(lambda _, x: (x * 0).log())))
    operation = found(model, lambda: model(torch.ones(1, 2)).sum())
    assert (operation.operation, operation.module) == ("log", "1")


def test_check_that_stops_at_a_nan_gives_what_made_the_nan():
    model = nn.Sequential(nn.Linear(2, 2), Of(lambda _, x: (x * 0).log() * 0))

    def loss():
        logits = model(torch.ones(3, 2))
        return -torch.distributions.Categorical(logits=logits).log_prob(torch.zeros(3)).mean()

    operation = found(model, loss)
    assert (operation.operation, operation.module) == ("log", "1")


def test_targets_longer_than_the_outputs_of_ctc():
    model = nn.Linear(2, 3)
    labels, lengths = torch.tensor([[1, 2, 1]]), (torch.tensor([2]), torch.tensor([3]))

    def loss():
        return F.ctc_loss(model(torch.ones(2, 1, 2)).log_softmax(-1), labels, *lengths)

    operation = found(model, loss)
    assert operation.operation == "_ctc_loss"
    assert operation.culprit == "targets too long for the outputs: 1 of 1 samples"


def test_value_inside_a_wrapper_around_tensors():
    two = pytest.importorskip("torch.testing._internal.two_tensor")
    model = nn.Module()
    model.part = nn.Parameter(two.TwoTensor(torch.zeros(3), torch.zeros(3)))
    assert found(model, lambda: model.part.log().sum()).operation == "log"


def test_loss_computed_outside_of_torch():
    model = nn.Linear(2, 2)
    operation = found(model, lambda: torch.tensor(math.nan, requires_grad=True))
    assert operation.kind == "nan"
    assert "no operation of torch" in operation.culprit


def test_value_written_into_memory_of_the_callers():
    model = nn.Linear(2, 2)

    def loss():
        target = torch.full((3, 2), 7.0)
        torch.log(torch.zeros(3, 2), out=target)
        return (model(torch.ones(3, 2)) + target).sum()

    operation = found(model, loss)
    assert (operation.operation, operation.inputs) == ("log", ("float32 (3, 2), 0 to 0",))


def test_batch_of_any_structure_that_holds_itself():
    model = nn.Linear(2, 1)

    class Graph:
        def __init__(self):
            self.nodes = [torch.ones(2), {"far": (torch.tensor([1.0, -INF]),)}]
            self.itself = self

    batch = Graph()
    operation = found(model, lambda: model(batch.nodes[1]["far"][0]).sum() * 0.0, batch=batch)
    assert operation.operation == "mul"  # the infinity itself may be a mask
    assert operation.culprit == "0 times an infinity that was written on purpose"
    batch.nodes[1]["far"][0][0] = INF
    operation = found(model, lambda: model(batch.nodes[1]["far"][0]).sum(), batch=batch)
    assert operation.culprit.startswith("input nodes.1.far.0 is not finite")


def test_scripted_model():
    model = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Softplus()))
    operation = found(model, lambda: (model(torch.ones(1, 2)) * 0).log().sum())
    assert (operation.operation, operation.phase) == ("log", Phase.LOSS)


def test_infinities_of_both_signs_in_a_batch_are_no_mask():
    model = nn.Linear(2, 1)
    batch = [torch.tensor([[INF, 1.0], [-INF, 1.0]])]
    operation = found(model, lambda: model(batch[0]).sum(), batch=batch)
    assert (operation.phase, operation.operation) == (Phase.INPUT, "input")
    assert operation.culprit == "input 0 is not finite before the step: 2 of 4 values infinite"


def test_number_beyond_an_eight_bit_type():
    model = nn.Linear(4, 4)
    x = torch.ones(2, 4)

    def loss():
        return model(x).sum() + (x * 1e9).to(torch.float8_e5m2).float().sum()

    operation = found(model, loss)
    assert operation.operation == "_to_copy"
    assert operation.culprit == "the result is beyond 57344, the largest float8_e5m2"
