"""Policies judged by their return, and games of two networks that are over; and what is neither."""

import numpy as np
import pytest

from forensics.detectors import detect_all
from forensics.findings import EpisodeKind, Outcome
from forensics.outcome import judge
from forensics.run import Config
from tests import synth


def outcome_of(tags):
    timeline = synth.timeline_of(tags)
    episodes, _ = detect_all(timeline, Config())
    return judge(timeline, episodes), episodes


def noisy(level, scale, seed=0):
    return level + scale * np.random.default_rng(seed).standard_normal(len(level))


RISING = noisy(np.linspace(20, 140, 60), 3.0)
VALUE_LOSS = noisy(np.geomspace(0.05, 5.0, 60), 0.01)


# --- a policy -------------------------------------------------------------------------------


def test_a_loss_that_rises_with_the_return_is_health():
    judgement, _ = outcome_of({"train/loss": VALUE_LOSS, "rollout/ep_rew_mean": RISING})
    assert judgement.outcome is Outcome.HEALTHY
    assert "return rose" in judgement.reason


def test_a_spike_of_the_loss_under_a_rising_return_is_health():
    loss = np.full(60, 0.1)
    loss[50:] = 9.0
    judgement, _ = outcome_of({"train/loss": loss, "rollout/ep_rew_mean": RISING})
    assert judgement.outcome is Outcome.HEALTHY


@pytest.mark.parametrize("seed", range(8))
def test_a_flat_noisy_return_is_left_open(seed):
    reward = noisy(np.full(200, 0.4), 0.1, seed)
    judgement, episodes = outcome_of({"loss": noisy(np.zeros(200), 1e-3), "reward": reward})
    assert judgement.outcome is Outcome.UNKNOWN
    assert "return" in judgement.headline
    assert not [e for e in episodes if e.kind is EpisodeKind.RETURN_COLLAPSE]


def test_a_dip_that_comes_back_is_no_collapse():
    reward = RISING.copy()
    reward[30:36] = 20.0
    entropy = np.linspace(0.7, 0.001, 60)
    judgement, _ = outcome_of({"rollout/ep_rew_mean": reward, "train/entropy_loss": -entropy})
    assert judgement.outcome is Outcome.HEALTHY


def test_a_policy_that_settles_without_entropy_at_its_best_is_health():
    entropy = np.r_[np.linspace(0.7, 0.0, 30), np.zeros(30)]
    judgement, _ = outcome_of({"rollout/ep_rew_mean": RISING, "train/entropy_loss": -entropy})
    assert judgement.outcome is Outcome.HEALTHY


def test_a_fall_while_the_policy_still_explores_is_left_open():
    reward = noisy(np.r_[np.linspace(20, 140, 30), np.full(30, 30.0)], 2.0)
    judgement, _ = outcome_of({"rollout/ep_rew_mean": reward, "train/entropy_loss": -np.ones(60)})
    assert judgement.outcome is Outcome.UNKNOWN
    assert "come back" in judgement.headline


def test_what_preference_tuning_calls_rewards_is_no_return():
    chosen = noisy(np.linspace(0, -3, 100), 0.05)
    loss = noisy(np.linspace(0.69, 0.3, 100), 0.02)
    margins = noisy(np.linspace(0, 2, 100), 0.05)
    tags = {"loss": loss, "rewards/chosen": chosen, "rewards/margins": margins}
    judgement, episodes = outcome_of(tags)
    assert judgement.outcome is Outcome.HEALTHY
    assert not episodes


def test_a_few_returns_leave_the_loss_its_say():
    loss = noisy(np.geomspace(3, 0.5, 100), 0.01)
    steps = np.array([10, 50, 90])
    judgement, _ = outcome_of({"loss": loss, "reward": (steps, np.array([1.0, 0.5, 0.2]))})
    assert judgement.outcome is Outcome.HEALTHY


def test_a_return_that_fell_for_good_with_its_entropy_has_diverged():
    reward = noisy(np.r_[21.5, 13.5, np.full(38, 9.3)], 0.05)
    entropy = np.r_[0.2, np.full(39, 1e-8)]
    loss = noisy(np.geomspace(8, 0.3, 40), 0.01)
    tags = {"train/loss": loss, "rollout/ep_rew_mean": reward, "train/entropy_loss": -entropy}
    judgement, _ = outcome_of(tags)
    assert judgement.outcome is Outcome.DIVERGED
    assert judgement.onset_step in (1, 2)


def test_a_return_that_lost_most_of_what_it_had_gained_has_not_recovered():
    reward = noisy(np.r_[np.linspace(20, 140, 30), np.full(30, 40.0)], 2.0)
    entropy = np.r_[np.full(30, 0.7), np.full(30, 1e-5)]
    judgement, _ = outcome_of({"rollout/ep_rew_mean": reward, "train/entropy_loss": -entropy})
    assert judgement.outcome is Outcome.SPIKED_UNRECOVERED
    assert judgement.onset_step == 30


def test_far_below_a_beginner_for_half_of_the_run_has_diverged():
    reward = noisy(np.r_[np.linspace(21, 25, 10), np.full(50, 9.4)], 0.3)
    judgement, _ = outcome_of({"rollout/ep_rew_mean": reward, "train/loss": VALUE_LOSS})
    assert judgement.outcome is Outcome.DIVERGED


def test_a_loss_that_is_not_finite_comes_first():
    loss = np.r_[VALUE_LOSS[:40], np.full(20, np.nan)]
    judgement, _ = outcome_of({"train/loss": loss, "rollout/ep_rew_mean": RISING})
    assert judgement.outcome is Outcome.NON_FINITE


# --- a game ---------------------------------------------------------------------------------


def game(n, real, fake, d_loss, g_loss, noise=0.1):
    rng = np.random.default_rng(1)

    def around(level):
        return level * np.exp(noise * rng.standard_normal(n))

    return {
        "Loss_D": around(d_loss),
        "Loss_G": around(g_loss),
        "D(x)": np.clip(around(real), 0, 1),
        "D(G(z))": np.clip(around(fake), 0, 1),
    }


SWINGS = 1 + 0.9 * np.sin(np.arange(400) / 9)


@pytest.mark.parametrize("scores", [True, False])
def test_losses_that_swing_are_left_open(scores):
    tags = game(400, 0.6 * np.ones(400), 0.4 * np.ones(400), 1.2 * SWINGS, 1.5 * SWINGS)
    if not scores:
        tags = {tag: tags[tag] for tag in ("Loss_D", "Loss_G")}
    judgement, episodes = outcome_of(tags)
    assert judgement.outcome is Outcome.UNKNOWN
    assert "adversarial" in judgement.headline
    assert not episodes


def test_a_discriminator_that_only_leads_for_a_while_has_not_won():
    real, fake = np.full(400, 0.6), np.full(400, 0.4)
    real[50:300], fake[50:300] = 0.99, 0.001
    generator = np.where(real > 0.9, 7.0, 1.5)
    judgement, _ = outcome_of(game(400, real, fake, np.where(real > 0.9, 0.01, 1.2), generator))
    assert judgement.outcome is Outcome.UNKNOWN


def test_the_loss_of_a_critic_does_not_tell_who_is_ahead():
    critic = noisy(np.linspace(-5, -0.01, 400), 0.001)
    judgement, _ = outcome_of({"d_loss": critic, "g_loss": noisy(np.linspace(1, 9, 400), 0.1)})
    assert judgement.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("scores", [True, False])
def test_a_discriminator_that_is_sure_to_the_end_has_won(scores):
    after = np.arange(400) >= 30
    tags = game(
        400,
        np.where(after, 1.0, 0.6),
        np.where(after, 0.001, 0.4),
        np.where(after, 0.001, 1.2),
        np.where(after, np.linspace(3, 9, 400), 1.5),
        noise=0.02,
    )
    tags["D(x)"] = np.where(after, 0.999, 0.6)
    if not scores:
        tags = {tag: tags[tag] for tag in ("Loss_D", "Loss_G")}
    judgement, _ = outcome_of(tags)
    assert judgement.outcome is Outcome.DIVERGED
    assert 28 <= judgement.onset_step <= 34
    assert "discriminator has won" in judgement.reason


def test_a_generator_whose_loss_is_not_finite_comes_first():
    tags = game(100, 0.6 * np.ones(100), 0.4 * np.ones(100), np.ones(100), np.ones(100))
    tags["Loss_G"][60:] = np.nan
    judgement, _ = outcome_of(tags)
    assert judgement.outcome is Outcome.NON_FINITE


@pytest.mark.parametrize(
    "tag",
    [
        "rollout/ep_rew_mean",
        "charts/episodic_return",
        "env_runners/episode_return_mean",
        "episode_reward_mean",
        "critic/rewards/mean",
        "reward",
    ],
)
def test_a_return_by_any_name(tag):
    judgement, _ = outcome_of({"train/loss": VALUE_LOSS, tag: RISING})
    assert "return rose" in judgement.reason
