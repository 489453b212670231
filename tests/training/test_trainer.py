"""The optimiser loop: exact denominators, what each log-probability is, and steps that can be stopped and continued bit for bit."""

import dataclasses

import pytest

from tests.training.tiny_models import VOCABULARY, rollouts

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from clawctl.algorithms import kl as kl_estimators  # noqa: E402
from clawctl.errors import ClawctlError  # noqa: E402
from clawctl.training.admission import set_advantages  # noqa: E402
from clawctl.training.checkpoints import Run  # noqa: E402
from clawctl.training.recipe import make  # noqa: E402
from clawctl.training.rows import read  # noqa: E402
from clawctl.training.trainer import Trainer, plan  # noqa: E402


def samples_for(recipe, found=None):
    sampled = read(found or rollouts(), VOCABULARY)
    set_advantages(sampled, recipe)
    return sampled.samples


def trainer_for(policy, recipe, found=None, **options):
    return Trainer(policy, samples_for(recipe, found), recipe, **{"fresh": False, **options})


def gradient(policy):
    found = torch.cat([p.grad.flatten().double() for p in policy.parameters])
    for p in policy.parameters:
        p.grad = None
    return found


def close(a, b):
    return float((a - b).norm() / b.norm()) < 1e-4 and float(torch.dot(a, b) / a.norm() / b.norm()) >= 0.9999


def plain_loss(policy, samples, recipe, old=None):
    """GRPO's loss written out, row by row, through transformers' own attention."""
    policy.model.config._attn_implementation = "eager"
    rows = []
    for s in samples:
        tokens = torch.tensor([s.row.prompt + s.row.completion])
        logits = policy.model(tokens).logits[0, len(s.row.prompt) - 1 : -1] / s.temperature
        lp = logits.log_softmax(-1).gather(1, torch.tensor(s.row.completion)[:, None]).squeeze(1)
        before = lp.detach() if old is None else old[s.row.index]
        rho = (lp - before).exp()
        clipped = rho.clamp(1 - recipe.settings.clip_low, 1 + recipe.settings.clip_high)
        loss = -torch.minimum(rho * s.advantage, clipped * s.advantage)
        rows.append(loss + recipe.settings.kl_coef * kl_estimators.estimate(lp, before))
    policy.model.config._attn_implementation = "clawctl_tree"
    total = sum(len(row) for row in rows)
    by = {
        "seq-mean-token-mean": sum(row.mean() for row in rows) / len(rows),
        "token-mean": sum(row.sum() for row in rows) / total,
        "dr-grpo": sum(row.sum() for row in rows) / (len(rows) * 20),
    }
    return by[recipe.settings.aggregation]


@pytest.mark.parametrize("aggregation", ["seq-mean-token-mean", "token-mean", "dr-grpo"])
@pytest.mark.parametrize("budget", [1, 60, 100_000])
def test_the_gradient_is_that_of_the_formula_however_the_step_is_cut(policy, aggregation, budget):
    # The first group is constant: it has no gradient of its own, and counts in every denominator.
    found = [{**row, "reward": 0.5} if row["group_id"] == "g0" else row for row in rollouts()]
    recipe = make("grpo", {"aggregation": aggregation}, pack=budget, length=20)
    trainer = trainer_for(policy, recipe, found)
    policy.chunk = 5
    loss = trainer.gradient(trainer.samples)
    ours = gradient(policy)
    expected = plain_loss(policy, trainer.samples, recipe)
    expected.backward()
    assert close(ours, gradient(policy))
    assert loss == pytest.approx(expected.item(), abs=1e-5)


def test_later_steps_compare_with_the_policy_before_the_first(policy):
    recipe = make("grpo", {}, lr=0.003, epochs=2, minibatch=2)
    trainer = trainer_for(policy, recipe)
    at_start = trainer.evaluate(trainer.samples)
    figures = [trainer.step(step) for step in trainer.steps[:3]]
    assert figures[0]["ratio"] == pytest.approx(1.0)
    assert figures[0]["kl"] == 0.0
    assert figures[2]["ratio"] != pytest.approx(1.0, abs=1e-3)
    for sample in trainer.samples:
        torch.testing.assert_close(trainer.start[sample.row.index], at_start[sample.row.index], atol=1e-5, rtol=1e-5)
    trainer.optimiser.zero_grad()
    trainer.gradient(trainer.steps[3])
    ours = gradient(policy)
    plain_loss(policy, trainer.steps[3], recipe, at_start).backward()
    assert close(ours, gradient(policy))


def test_the_reference_can_be_the_base(policy):
    recipe = make("grpo", {"kl_coef": 0.5}, reference="base")
    trainer = trainer_for(policy, recipe)
    figures = trainer.step(trainer.steps[0])
    with policy.without_adapter():
        base = trainer.evaluate(trainer.samples)
    assert figures["kl"] > 0
    assert figures["rows_active"] == len(trainer.samples)
    for index, lp in trainer.base.items():
        torch.testing.assert_close(lp, base[index])


def test_rows_of_another_policy_are_compared_with_their_sampler(policy):
    recipe = make("grpo", {"kl_coef": 0.0})
    trainer = trainer_for(policy, recipe, sampled_old=True)
    figures = trainer.step(trainer.steps[0])
    told = [lp for s in trainer.active(trainer.samples) for lp in s.rollout_logprobs]
    assert len(told) > 0
    assert figures["ratio"] != pytest.approx(1.0, abs=0.01)


def test_temperature_is_the_samplers(policy):
    recipe = make("grpo", {})
    warm = trainer_for(policy, recipe, rollouts(sampling={"temperature": 0.5}))
    cold = trainer_for(policy, recipe, rollouts(sampling={"temperature": 1.0}))
    greedy = trainer_for(policy, recipe, rollouts(sampling={"temperature": 0.0}))
    a, b, c = (t.evaluate(t.samples)[0] for t in (warm, cold, greedy))
    assert not torch.allclose(a, b)
    assert torch.equal(b, c)


def test_a_row_without_signal_costs_nothing_at_the_start(policy):
    found = [{**row, "reward": 1.0} if row["group_id"] != "g1" else row for row in rollouts()]
    for settings in ({"kl_coef": 0.0}, {"kl_coef": 0.04}):
        trainer = trainer_for(policy, make("grpo", settings), found)
        assert {s.group for s in trainer.active(trainer.samples)} == {"g1"}


def test_every_group_is_in_one_step_of_every_epoch():
    recipe = make("grpo", {}, epochs=3, minibatch=3)
    samples = samples_for(recipe, rollouts(7, 2))
    steps = plan(samples, recipe)
    assert [len(step) for step in steps] == [6, 6, 2] * 3
    for epoch in range(3):
        seen = [s.row.index for step in steps[epoch * 3 : epoch * 3 + 3] for s in step]
        assert sorted(seen) == list(range(14))
    assert steps[0] != steps[3]
    assert plan(samples, recipe) == steps
    assert plan(samples, dataclasses.replace(recipe, seed=1)) != steps


def test_the_rate_rises_and_falls():
    recipe = make("sft", {}, lr=1.0, warmup=3, schedule="linear")
    assert [recipe.rate(step, 8, step) for step in range(8)] == [0.25, 0.4375, 0.5625, 0.625, 0.5, 0.375, 0.25, 0.125]


def test_a_run_that_was_stopped_ends_where_an_unbroken_one_does(policy, tmp_path):
    recipe = make("grpo", {}, lr=0.01, epochs=3, minibatch=2)
    before = policy.state()
    whole = trainer_for(policy, recipe)
    list(whole.run())
    expected = policy.state()

    run = Run(tmp_path / "run")
    run.begin()
    policy.set_state(before, "before")
    first = trainer_for(policy, recipe)
    for figures in first.run(lambda: first.done < 3):
        run.record(figures)
    run.record({"step": 4, "torn": True})
    run.save(first)

    policy.set_state({name: torch.zeros_like(t) for name, t in before.items()}, "zeros")
    second = trainer_for(policy, recipe)
    assert run.restore(second)
    assert second.done == 3
    assert [row["step"] for row in run.history()] == [1, 2, 3]
    list(second.run())
    assert all(torch.equal(tensor, expected[name]) for name, tensor in policy.state().items())


def test_an_infinite_gradient_ends_the_run(policy):
    trainer = trainer_for(policy, make("grpo", {}))
    policy.parameters[0].data[0, 0] = float("inf")
    with pytest.raises(ClawctlError, match="not a finite number"):
        trainer.step(trainer.steps[0])
