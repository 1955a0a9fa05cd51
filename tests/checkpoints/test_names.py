import pytest

from forensics.checkpoints._names import (
    Named,
    is_companion,
    is_step_folder,
    is_unfinished,
    may_hold_weights,
    position,
)


@pytest.mark.parametrize(
    "name",
    [
        *("last.ckpt", "best.pt", "model_final.pth", "resnet50.pth", "llama-7b", "model_v2.pt"),
        *("adapter_model.bin", "pytorch_model.bin", "model.safetensors", "tmp.pth.tar"),
    ],
)
def test_a_name_without_a_position_gives_none(name):
    assert position(name) == Named()


@pytest.mark.parametrize(
    ("name", "step", "epoch"),
    [
        ("checkpoint-500", 500, None),
        ("step-20", 20, None),
        ("global_step500", 500, None),
        ("iter_0000100", 100, None),
        ("epoch=3-step=100.ckpt", 100, 3),
        ("epoch=3-val_loss=0.25.ckpt", None, 3),
        ("ckpt_100.pt", 100, None),
        ("model_000100.pth", 100, None),
        ("model_0004999.pth", 4999, None),
        ("model000100.pt", 100, None),
        ("ema_0.9999_000100.pt", 100, None),
        ("rl_model_10000_steps.zip", 10000, None),
        ("step-10k.pt", 10_000, None),
        ("checkpoint_3_1200.pt", 1200, 3),
        ("checkpoint12.pt", None, 12),
        ("checkpoint-12.pth", None, 12),
        ("checkpoint-12.pth.tar", None, 12),
        ("epoch_3.pth", None, 3),
        ("iter_4000.pth", 4000, None),
        ("100", 100, None),
        ("100.orbax-checkpoint-tmp-17", 100, None),
        ("tmp-checkpoint-100", 100, None),
        ("ckpt_step_200_rank1.pt", 200, None),
        ("run--val_loss=2.3-step=100-consumed_samples=5.0", 100, None),
    ],
)
def test_each_framework_numbers_its_own_way(name, step, epoch):
    assert position(name) == Named(step, epoch)


def test_folders_of_saves_and_of_experiments():
    saves = [
        "checkpoint-5",
        "step-5",
        "global_step5",
        "iter_0005",
        "epoch=1-step=5.ckpt",
        "step5-hf",
    ]
    experiments = ["step2_reward_model", "exp_5", "run1", "version_3", "seed-5", "stage1", "lr-5"]
    assert all(map(is_step_folder, saves))
    assert not any(map(is_step_folder, experiments))


def test_an_unfinished_save_says_so():
    unfinished = [
        "tmp-checkpoint-5",
        "checkpoint-5.tmp",
        "a/x.pt.tmp",
        "tmp.pth.tar",
        "m-unfinished",
    ]
    assert all(map(is_unfinished, unfinished))
    assert not any(map(is_unfinished, ["checkpoint-5", "a/tmpl_model.pt", "last.ckpt"]))


def test_what_lies_beside_the_weights_and_what_is_data():
    beside = ["optimizer.pt", "scheduler.pt", "rng_state_0.pth", "optim_000100.pt", "opt000100.pt"]
    assert all(map(is_companion, beside))
    assert not any(map(is_companion, ["model.pt", "last.ckpt", "optimus_prime_model.pt"]))
    data = [
        "train.bin",
        "data/dataset.pt",
        "tokens.npz",
        "features.pkl",
        "x.csv",
        "evaluations.npz",
    ]
    assert not any(map(may_hold_weights, data))
    weights = ["last.ckpt", "out/ckpt.pt", "weights/foo.pt", "model_000100.pth", "x/step_5.npz"]
    assert all(map(may_hold_weights, weights))


def test_a_number_that_does_not_say_what_it_counts_is_kept_as_such():
    assert [position(name).number for name in ("lstm_07.keras", "net-12-0.31.h5")] == [7, 12]
    assert position("ckpt_100.pt").number == 100
    assert position("step_100.pt").number is None
    assert [position(n).number for n in ("fold_1.pt", "seed-3.pt", "vit_patch_16.pt")] == [None] * 3


def test_any_stem_with_a_number_is_a_torch_file_unless_it_says_data():
    assert all(map(may_hold_weights, ("gcn_50.pt", "mynet_50.pth", "gcn_e50.pt", "a/b_net_5.pt")))
    data = ("data_0.pt", "train_1.pt", "graph_12.pt", "fold_1.pt", "notes_50.txt", "user_3.pkl")
    assert not any(map(may_hold_weights, data))
    assert position("gcn_50.pt").number == 50
    assert position("gcn_e50.pt") == Named(epoch=50)
    assert position("vit_patch16_e1e5.pt") == Named()


def test_only_what_is_called_a_checkpoint_needs_no_ending():
    assert all(map(may_hold_weights, ("checkpoint_50", "out/gan_ckpt_7", "checkpoint-100")))
    assert not any(map(may_hold_weights, ("model_50", "checkpoint", "checkpoint_50_notes", "x_5")))
