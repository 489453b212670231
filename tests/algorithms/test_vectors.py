"""The algorithms' pieces against the vectors: figures made in float64 from the papers' formulas alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from clawctl.algorithms import clipping, grpo, kl, load, sft
from clawctl.algorithms.aggregation import row_weights
from clawctl.algorithms.statistics import group_advantages
from clawctl.errors import Usage

torch = pytest.importorskip("torch")
DATA = json.loads((Path(__file__).parents[1] / "data" / "algorithms.json").read_text())["vectors"]
VECTORS = {vector["name"]: vector for vector in DATA}


def named(prefix):
    return [pytest.param(v, id=v["name"]) for v in DATA if v["name"].startswith(prefix)]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    "vector", [p for p in named("grpo_adv_") if "rewards" in p.values[0]["inputs"] and "eps_values" not in p.values[0]["inputs"]]
)
def test_advantages(vector):
    given = vector["inputs"]
    options = {key: given[key] for key in ("ddof", "eps", "scale") if key in given}
    found = group_advantages(given["rewards"], given["groups"], **options)
    np.testing.assert_allclose(found, vector["expected"]["advantages"], atol=vector["tolerance"])


def test_advantages_of_an_affine_reward():
    vector = VECTORS["grpo_adv_affine_reward_invariance"]
    given = vector["inputs"]
    for side in "ab":
        found = group_advantages(given[f"rewards_{side}"], given["groups"], ddof=given["ddof"], eps=given["eps"])
        np.testing.assert_allclose(found, vector["expected"][f"advantages_{side}"], atol=vector["tolerance"])


def test_a_tiny_spread_is_damped_by_eps():
    vector = VECTORS["grpo_adv_near_zero_variance_eps_matters"]
    given, expected = vector["inputs"], vector["expected"]
    for eps, key in zip(given["eps_values"], ("advantages_eps_1e_4", "advantages_eps_1e_6"), strict=True):
        found = group_advantages(given["rewards"], given["groups"], eps=eps)
        np.testing.assert_allclose(found, expected[key], atol=vector["tolerance"])


def test_float_noise_is_no_signal():
    assert not group_advantages([0.1 + 0.2, 0.3, 0.3], ["g"] * 3, eps=0.0).any()
    assert not group_advantages([1e6 + 1e-5, 1e6], ["g"] * 2, eps=0.0).any()


def test_a_group_that_was_never_scored_beside_one_that_was():
    found = group_advantages([None, 1.0, None, 0.0], ["a", "b", "a", "b"])
    assert found[0] == found[2] == 0
    assert found[1] == -found[3] > 0


@pytest.mark.parametrize("vector", named("clip_higher_") + named("clip_symmetric_"))
def test_clip(vector):
    given = vector["inputs"]
    low, high = given.get("eps_low", given.get("eps")), given.get("eps_high", given.get("eps"))
    rho = tensor(given["ratios"])
    found = clipping.clipped_loss(rho, torch.full_like(rho, given["advantage"]), low, high)
    np.testing.assert_allclose(found.loss, vector["expected"]["token_loss"], atol=vector["tolerance"])


def test_a_token_counts_as_clipped_only_where_the_clip_is_active():
    vector = VECTORS["clip_fraction"]
    given, expected = vector["inputs"], vector["expected"]
    found = clipping.clipped_loss(tensor(given["ratios"]), tensor(given["advantages"]), given["eps_low"], given["eps_high"])
    assert found.low.int().tolist() == expected["low_clipped"]
    assert found.high.int().tolist() == expected["high_clipped"]
    assert float((found.low | found.high).double().mean()) == pytest.approx(expected["clip_fraction"])


def test_the_ratio_of_far_apart_policies_stays_finite():
    assert torch.isfinite(clipping.ratio(tensor([0.0, -1e4]), tensor([-1e4, 0.0]))).all()


@pytest.mark.parametrize("kind", kl.ESTIMATORS)
def test_kl_values(kind):
    vector = VECTORS[f"kl_{kind}"]
    found = kl.estimate(tensor(vector["inputs"]["logprobs"]), tensor(vector["inputs"]["ref_logprobs"]), kind)
    np.testing.assert_allclose(found, vector["expected"]["values"], atol=vector["tolerance"])
    assert float(found.mean()) == pytest.approx(vector["expected"]["mean"], abs=vector["tolerance"])


@pytest.mark.parametrize("kind", kl.ESTIMATORS)
def test_kl_gradients(kind):
    vector = VECTORS["kl_grad_coefficients"]
    lp = tensor(vector["inputs"]["logprobs"]).requires_grad_()
    kl.estimate(lp, tensor(vector["inputs"]["ref_logprobs"]), kind).sum().backward()
    np.testing.assert_allclose(lp.grad, vector["expected"][f"d{kind}"], atol=vector["tolerance"])


def test_kl_expectations():
    vector = VECTORS["kl_expectations_under_policy"]
    policy, ref = tensor(vector["inputs"]["policy"]), tensor(vector["inputs"]["ref"])
    for kind in kl.ESTIMATORS:
        found = float((policy * kl.estimate(policy.log(), ref.log(), kind)).sum())
        assert found == pytest.approx(vector["expected"][f"E_{kind}"], abs=vector["tolerance"])


def test_kl_clamped():
    vector = VECTORS["kl_clamped_k3"]
    given = vector["inputs"]
    lp, ref = tensor(given["logprobs"]), tensor(given["ref_logprobs"])
    plain = kl.estimate(lp, ref)
    clamped = kl.estimate(lp, ref, log_ratio_clamp=given["log_ratio_clamp"], value_clamp=given["value_clamp"])
    np.testing.assert_allclose(plain, vector["expected"]["unclamped"], rtol=1e-9)
    np.testing.assert_allclose(clamped, vector["expected"]["clamped"], atol=vector["tolerance"])


def test_kl_weighted_by_the_ratio():
    vector = VECTORS["kl_k3_importance_weighted"]
    given = vector["inputs"]
    found = tensor(given["ratio"]) * kl.estimate(tensor(given["logprobs"]), tensor(given["ref_logprobs"]))
    np.testing.assert_allclose(found, vector["expected"]["values"], atol=vector["tolerance"])


MODES = {
    "seq-mean-token-mean": "seq-mean-token-mean",
    "token-mean": "token-mean",
    "seq-mean-token-sum": "seq-mean-token-sum",
    "seq-mean-token-sum-norm": "dr-grpo",
}


def rows_of(given):
    """Token losses by GRPO's own function, row by row without the padding."""
    settings = grpo.Settings(clip_low=given["eps_low"], clip_high=given["eps_high"], kl_coef=given.get("beta", 0.0))
    rows, divergences = [], []
    for i, mask in enumerate(given["mask"]):
        n = int(sum(mask))
        lp, old = tensor(given["logprobs"][i][:n]), tensor(given["old_logprobs"][i][:n])
        ref = tensor(given["ref_logprobs"][i][:n]) if "ref_logprobs" in given else None
        found = grpo.token_loss(lp, old, ref, torch.full_like(lp, given["advantages"][i]), settings)
        rows.append(found.loss)
        if ref is not None:
            divergences.append(found.metrics["kl"])
    return rows, divergences


def total(rows, mode, length=None):
    weights = row_weights([len(row) for row in rows], mode, length)
    return sum(w * float(row.sum()) for w, row in zip(weights, rows, strict=True))


@pytest.mark.parametrize(
    "vector", [p for p in named("loss_") if p.values[0]["inputs"].get("mode") in MODES and "loss" in p.values[0]["expected"]]
)
def test_losses(vector):
    given = vector["inputs"]
    rows, divergences = rows_of(given)
    found = total(rows, MODES[given["mode"]], given.get("max_completion_length"))
    assert found == pytest.approx(vector["expected"]["loss"], abs=vector["tolerance"])
    if "token_loss" in vector["expected"]:
        for row, expected in zip(rows, vector["expected"]["token_loss"], strict=True):
            np.testing.assert_allclose(row, expected[: len(row)], atol=vector["tolerance"])
    if "mean_kl" in vector["expected"]:
        assert float(torch.cat(divergences).mean()) == pytest.approx(vector["expected"]["mean_kl"], abs=vector["tolerance"])


def test_a_row_without_trainable_tokens_counts_nowhere():
    vector = VECTORS["loss_fully_masked_row_denominator"]
    rows, _ = rows_of(vector["inputs"])
    assert total(rows, "seq-mean-token-mean") == pytest.approx(vector["expected"]["exclude_empty_row"], abs=vector["tolerance"])
    assert total(rows, "token-mean") == pytest.approx(vector["expected"]["token_mean"], abs=vector["tolerance"])
    assert not row_weights([0, 0], "token-mean").any()


def test_the_denominator_is_that_of_the_whole_step():
    vector = VECTORS["loss_token_mean_gradient_accumulation"]
    rows, _ = rows_of(vector["inputs"])
    weights = row_weights([len(row) for row in rows], "token-mean")
    parts = [sum(weights[i] * float(rows[i].sum()) for i in micro) for micro in vector["inputs"]["micro_batches"]]
    np.testing.assert_allclose(parts, vector["expected"]["partial_sums"], atol=vector["tolerance"])
    assert sum(parts) == pytest.approx(vector["expected"]["correct_global"], abs=vector["tolerance"])


def test_dr_grpo_divides_by_a_constant_that_must_be_given():
    with pytest.raises(ValueError, match="constant"):
        row_weights([3, 4], "dr-grpo")


def test_sft_is_cross_entropy():
    lp = tensor([-0.5, -2.0]).requires_grad_()
    found = sft.token_loss(lp, lp, None, torch.ones(2, dtype=torch.float64), sft.Settings())
    assert found.loss.tolist() == [0.5, 2.0]
    assert sft.advantages([None, 3.0], ["a", "b"], sft.Settings()).tolist() == [1.0, 1.0]


def test_unknown_algorithms_are_named():
    with pytest.raises(Usage, match="no algorithm 'ppo'"):
        load("ppo")
