import pytest

from forensics.checkpoints import DType, Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import (
    array,
    assert_same_moments,
    assert_same_state,
    raw,
    torch_bytes,
    weights,
)

torch = pytest.importorskip("torch")


def saved(value, path, **options):
    torch.save(value, path, **options)
    return open_checkpoint(path)


def test_text_under_torchs_suffix_is_no_checkpoint(tmp_path):
    (tmp_path / "model.pt").write_text("not a checkpoint, whatever it is called")
    with pytest.raises(UnreadableFile, match=r"model\.pt: is no checkpoint of a known format"):
        open_checkpoint(tmp_path / "model.pt")


def test_a_save_without_tensors_has_none(tmp_path):
    opened = saved({"epoch": 3, "note": "nothing"}, tmp_path / "x.pt")
    assert (opened.tensors, opened.notes, opened.state.epoch) == ((), (), 3)


@pytest.mark.parametrize("which", [0, 1], ids=["zip", "stream"])
class TestWholeSave:
    @pytest.fixture
    def opened(self, torch_files, which):
        return open_checkpoint(torch_files[which])

    def test_every_tensor_is_found_byte_for_byte(self, opened, net):
        assert_same_state(opened, net[0].state_dict())
        assert not opened.notes

    def test_moments_have_the_parameters_names(self, opened, net):
        names = [name for name, _ in net[0].named_parameters()]
        assert_same_moments(opened, names, net[1].state_dict()["state"])

    def test_roles(self, opened):
        roles = {name: tensor.role for name, tensor in weights(opened).items()}
        assert roles["norm.running_mean"] == roles["norm.num_batches_tracked"] == Role.BUFFER
        assert roles["norm.weight"] == roles["first.bias"] == Role.PARAM

    def test_the_state_of_training(self, opened, net):
        state = opened.state
        assert (state.global_step, state.epoch) == (123, 4.0)
        assert state.param_groups[0]["lr"] == net[1].param_groups[0]["lr"]
        assert state.param_groups[0]["betas"] == [0.9, 0.999]
        assert state.scheduler["last_epoch"] == 3
        assert (state.scaler["scale"], state.scaler["_growth_tracker"]) == (1024.0, 3)
        assert state.settings["name"] == "tiny"


@pytest.mark.parametrize("new", [True, False])
def test_a_bare_state_dict_keeps_its_names(net, tmp_path, new):
    path = tmp_path / "pytorch_model.bin"
    opened = saved(net[0].state_dict(), path, _use_new_zipfile_serialization=new)
    assert_same_state(opened, net[0].state_dict())


@pytest.mark.parametrize("new", [True, False])
def test_a_whole_module_is_read_without_its_class(net, tmp_path, new):
    opened = saved(net[0], tmp_path / "m.pt", _use_new_zipfile_serialization=new)
    assert_same_state(opened, net[0].state_dict())
    assert weights(opened)["norm.running_var"].role is Role.BUFFER


def test_a_module_inside_a_save_keeps_its_names(tmp_path):
    inner = torch.nn.Module()
    inner.model = torch.nn.Linear(2, 3)
    opened = saved({"model": inner, "epoch": 1}, tmp_path / "m.pt")
    assert set(weights(opened)) == {"model.weight", "model.bias"}


DTYPES = {
    "float64": DType.F64, "float32": DType.F32, "float16": DType.F16, "bfloat16": DType.BF16,
    "float8_e4m3fn": DType.F8_E4M3, "float8_e5m2": DType.F8_E5M2,
    "float8_e4m3fnuz": DType.F8_E4M3FNUZ, "float8_e5m2fnuz": DType.F8_E5M2FNUZ,
    "complex64": DType.C64, "complex128": DType.C128, "int64": DType.I64, "int32": DType.I32,
    "int16": DType.I16, "int8": DType.I8, "uint8": DType.U8, "uint16": DType.U16,
    "uint32": DType.U32, "uint64": DType.U64, "bool": DType.BOOL,
}  # fmt: skip


@pytest.mark.parametrize("new", [True, False])
def test_every_element_type(tmp_path, new):
    torch.manual_seed(0)
    tensors = {name: (torch.randn(3, 4) * 3).to(getattr(torch, name)) for name in DTYPES
               if new or "uint" not in name or name == "uint8"}  # fmt: skip
    opened = saved({"model": tensors}, tmp_path / "t.pt", _use_new_zipfile_serialization=new)
    found = weights(opened)
    assert {name: found[name].dtype for name in tensors} == {n: DTYPES[n] for n in tensors}
    for name, tensor in tensors.items():
        assert raw(found[name]) == torch_bytes(tensor), name


def test_views_are_never_laid_out(tmp_path):
    base = torch.arange(12.0).reshape(3, 4)
    value = {
        "model": {
            "base": base,
            "tied": base,
            "turned": base.t(),
            "expanded": torch.ones(1).expand(1000, 1000),
            "row": base[1],
            "columns": base[:, 1:3],
            "empty": torch.zeros(0, 5),
            "scalar": torch.tensor(2.5),
        }
    }
    found = weights(saved(value, tmp_path / "v.pt"))
    assert found["base"].storage == found["tied"].storage == found["turned"].storage
    assert sum(extent.nbytes for extent in found["expanded"].extents) == 4
    assert found["expanded"].size == 1_000_000
    assert found["row"].storage != found["base"].storage
    assert raw(found["row"]) == torch_bytes(base[1])
    assert raw(found["columns"]) == torch_bytes(base[:, 1:3])
    assert (found["empty"].extents, found["empty"].missing) == ((), "")
    assert array(found["scalar"]) == 2.5


def test_an_average_of_the_weights_is_a_model_of_its_own(net, tmp_path):
    averaged = {name: value.clone() for name, value in net[0].state_dict().items()}
    opened = saved({"state_dict_ema": averaged, "state_dict": net[0].state_dict()}, tmp_path / "x")
    names = set(weights(opened))
    assert {"first.weight", "state_dict_ema.first.weight"} <= names
    assert len(names) == 2 * len(averaged)


def test_each_optimizer_of_several_finds_its_own_model(tmp_path):
    models = {"generator": torch.nn.Linear(2, 3), "discriminator": torch.nn.Linear(3, 1)}
    save = {name: model.state_dict() for name, model in models.items()}
    for name, model in models.items():
        optimizer = torch.optim.Adam(model.parameters())
        sum(p.sum() for p in model.parameters()).backward()
        optimizer.step()
        save[f"opt_{name[:3]}"] = optimizer.state_dict()
    opened = saved(save, tmp_path / "gan.pt")
    steps = opened.state.optimizer_steps
    assert set(steps) == {f"{m}.{p}" for m in models for p in ("weight", "bias")}
    assert not opened.notes


def test_numbers_saved_as_tensors_are_read(tmp_path):
    save = {"model": {"w": torch.ones(2)}, "iter_num": torch.tensor(17), "loss": torch.tensor(0.5)}
    opened = saved(save, tmp_path / "c.pt")
    assert opened.state.global_step == 17
    assert {t.name: t.role for t in opened.tensors} == {
        "w": Role.PARAM, "iter_num": Role.OTHER, "loss": Role.OTHER}  # fmt: skip


def test_big_endian_archives(tmp_path):
    import io
    import zipfile

    torch.save({"w": torch.tensor([1.0, -2.0])}, tmp_path / "le.pt")
    swapped = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "le.pt") as old, zipfile.ZipFile(swapped, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif "/data/" in name and "serialization" not in name:
                data = data[3::-1] + data[:3:-1]
            new.writestr(name, data)
    (tmp_path / "be.pt").write_bytes(swapped.getvalue())
    assert list(array(weights(open_checkpoint(tmp_path / "be.pt"))["w"])) == [1.0, -2.0]


def test_compressed_archives_are_read_by_a_decoder(tmp_path):
    import zipfile

    torch.save({"w": torch.arange(1000.0), "v": torch.arange(1000.0)[10:20]}, tmp_path / "s.pt")
    with (
        zipfile.ZipFile(tmp_path / "s.pt") as old,
        zipfile.ZipFile(tmp_path / "z.pt", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    found = weights(open_checkpoint(tmp_path / "z.pt"))
    assert found["w"].decoder.startswith("deflate:")
    assert list(array(found["w"])) == list(range(1000))
    assert list(array(found["v"])) == list(range(10, 20))


def test_a_thousand_tensors(tmp_path):
    state = {f"layers.{i}.weight": torch.full((8,), float(i)) for i in range(1000)}
    opened = saved(state, tmp_path / "many.pt")
    assert [array(t)[0] for t in opened.tensors] == [float(i) for i in range(1000)]


def test_mixed_precision_copies_are_the_parameters_masters(net, tmp_path):
    model, optimizer, _ = net
    copies = [[p.detach().double().float() for p in model.parameters()]]
    save = {
        "model": {k: v.half() for k, v in model.state_dict().items()},
        "optimizer": {"optimizer": optimizer.state_dict(), "fp32_from_fp16_params": copies},
    }
    opened = saved(save, tmp_path / "apex.pt")
    masters = {t.name: raw(t) for t in opened.tensors if t.role is Role.MASTER}
    assert masters == {n: torch_bytes(p) for n, p in model.named_parameters()}
    assert not [t for t in opened.tensors if t.role is Role.OTHER]


def test_two_optimizers_share_one_model_as_in_a_gan(tmp_path):
    model = torch.nn.ModuleDict({n: torch.nn.Linear(3, 3) for n in ("first", "second")})
    states = []
    for name in ("second", "first"):
        optimizer = torch.optim.Adam(model[name].parameters())
        model[name](torch.ones(1, 3)).sum().backward()
        optimizer.step()
        optimizer.step()
        states.append(optimizer.state_dict())
    states[0]["state"][0]["step"] = torch.tensor(9.0)
    save = {"state_dict": model.state_dict(), "optimizer_states": states}
    opened = saved(save, tmp_path / "gan.ckpt")
    expected = {f"{m}.{p}" for m in model for p in ("weight", "bias")}
    assert set(opened.state.optimizer_steps) == expected
    assert len(opened.state.param_groups) == 2


def test_what_is_no_plain_tensor(tmp_path):
    value = {
        "sparse": torch.eye(3).to_sparse(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "meta": torch.empty(3, device="meta"),
        "never": None,
    }
    found = weights(saved({"model": value}, tmp_path / "odd.pt"))
    assert list(array(found["sparse"])) == [1.0, 1.0, 1.0]
    assert list(array(found["parameter"])) == [1.0, 1.0]
    assert "meta device" in found["meta"].missing
    assert "never" not in found


def test_a_scripted_module(net, tmp_path):
    torch.jit.save(torch.jit.script(net[0]), tmp_path / "jit.pt")
    assert_same_state(open_checkpoint(tmp_path / "jit.pt"), net[0].state_dict())


def test_the_step_in_the_history_of_fairseq(tmp_path):
    save = {
        "model": {"w": torch.ones(2)},
        "optimizer_history": [{"num_updates": 5}, {"num_updates": 9}],
    }
    assert saved(save, tmp_path / "f.pt").state.global_step == 9


@pytest.mark.parametrize("key", ["best_model_state_dict", "model_ema", "teacher"])
def test_other_weights_keep_their_key(tmp_path, key):
    save = {"model": {"w": torch.ones(2)}, key: {"w": torch.zeros(2)}, "rng_state": torch.ones(5)}
    opened = saved(save, tmp_path / "o.pt")
    assert {t.name: t.role for t in opened.tensors} == {
        "w": Role.PARAM, f"{key}.w": Role.PARAM, "rng_state": Role.OTHER}  # fmt: skip
