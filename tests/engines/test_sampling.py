"""Draws from logits: the right distribution, the right log-probability, and a result that does not depend on the company."""

from __future__ import annotations

import numpy as np
import pytest

from clawctl.engines.protocol import SamplingParams
from clawctl.engines.sampling import draw, truncate, uniforms

VOCABULARY = 1000  # no multiple of a block
RANDOM = np.random.default_rng(0)
LOGITS = RANDOM.normal(0, 3, (6, VOCABULARY)).astype(np.float32)


def softmax(logits, temperature=1.0):
    scaled = logits.astype(np.float64) / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
def test_draws_follow_the_softmax_at_the_temperature(temperature):
    row = LOGITS[:1, :300]
    count = 40_000
    numbers = np.random.default_rng(1).random(count)
    tokens, logprobs = draw(np.repeat(row, count, 0), numbers, SamplingParams(temperature=temperature))
    expected = softmax(row[0], temperature)
    seen = np.bincount(tokens, minlength=300) / count
    assert np.abs(seen - expected).max() < 4 * np.sqrt(expected.max() / count)
    np.testing.assert_allclose(logprobs, np.log(expected)[tokens], atol=1e-4)


def test_the_number_is_inverted_exactly():
    for row in LOGITS:
        passed = np.cumsum(softmax(row))
        numbers = np.random.default_rng(2).random(500)
        tokens, _ = draw(np.repeat(row[None], 500, 0), numbers, SamplingParams())
        expected = np.searchsorted(passed, numbers, side="right")
        assert (tokens != expected).sum() <= 1  # rounding, at the border of two tokens


@pytest.mark.parametrize("number", [0.0, 1 - 2**-53, 1.0])
def test_the_ends_of_the_unit_interval_give_possible_tokens(number):
    row = np.full((1, VOCABULARY), -np.inf, np.float32)
    row[0, [300, 700]] = 0
    tokens, logprobs = draw(row, np.array([number]), SamplingParams())
    assert tokens[0] in (300, 700)
    assert logprobs[0] == pytest.approx(np.log(0.5))


def test_greedy_takes_the_likeliest_and_tells_its_probability_at_one():
    tokens, logprobs = draw(LOGITS, np.full(6, 0.5), SamplingParams(temperature=0))
    assert (tokens == LOGITS.argmax(1)).all()
    np.testing.assert_allclose(logprobs, [np.log(softmax(row).max()) for row in LOGITS], atol=1e-5)


def test_a_row_is_drawn_alike_in_any_company():
    numbers = np.random.default_rng(3).random(6)
    for params in (SamplingParams(), SamplingParams(0.7, top_p=0.9, top_k=40, min_p=0.01), SamplingParams(temperature=0)):
        together = draw(LOGITS, numbers, params)
        for at in range(6):
            alone = draw(LOGITS[at : at + 1], numbers[at : at + 1], params)
            assert (alone[0][0], alone[1][0]) == (together[0][at], together[1][at])


def test_the_logits_are_left_as_they_are():
    before = LOGITS.copy()
    draw(LOGITS, np.full(6, 0.5), SamplingParams(0.5, top_k=5))
    assert (before == LOGITS).all()


def kept(**params) -> list[int]:
    weights = np.array([0.1, 0.4, 0.05, 0.3, 0.15], np.float32)
    truncate(weights, SamplingParams(**params))
    return np.flatnonzero(weights).tolist()


def test_top_k_top_p_and_min_p_keep_the_likeliest():
    assert kept(top_k=2) == [1, 3]
    assert kept(top_k=99) == [0, 1, 2, 3, 4]
    assert kept(top_p=0.65) == [1, 3]
    assert kept(top_p=0.75) == [1, 3, 4]
    assert kept(top_p=0.0) == [1]
    assert kept(min_p=0.5) == [1, 3]
    assert kept(min_p=1.0) == [1]
    assert kept(top_k=3, top_p=0.85) == [1, 3, 4]


def test_truncated_draws_stay_inside_and_keep_the_full_log_probability():
    tokens, logprobs = draw(np.repeat(LOGITS[:1], 2000, 0), np.random.default_rng(4).random(2000), SamplingParams(top_k=3))
    likeliest = np.argsort(-LOGITS[0])[:3]
    assert set(tokens) == set(likeliest)
    np.testing.assert_allclose(logprobs, np.log(softmax(LOGITS[0]))[tokens], atol=1e-4)


def test_seeds_give_their_own_numbers():
    assert (uniforms(7, 5) == uniforms(7, 9)[:5]).all()
    assert not set(uniforms(7, 50)) & set(uniforms(8, 50))
