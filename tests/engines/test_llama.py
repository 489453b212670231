"""The llama engine on the real starter model: same seed same answer in any company, honest log-probabilities, ends, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clawctl.engines import Request, SamplingParams
from clawctl.errors import ClawctlError, Usage
from clawctl.workspace.models import Model, base_sha256, resolve


def ask(question: str, *seeds: int) -> Request:
    turns = [{"role": "system", "content": "Answer in one line."}, {"role": "user", "content": question}]
    return Request(question, turns, list(seeds) or [1])


QUESTIONS = [ask(f"What is {n} + {n + 5}?", n, n + 100) for n in range(1, 4)]
SHORT = SamplingParams(max_tokens=6)


def drawn(replies) -> dict[tuple[str, int], tuple]:
    """What was drawn, by question and seed."""
    return {
        (reply.request.key, seed): (draw.text, draw.token_ids, draw.logprobs, draw.finish_reason)
        for reply in replies
        for seed, draw in zip(reply.request.seeds, reply.draws, strict=True)
    }


def test_replies_come_in_order_and_whole(engine):
    replies = list(engine.sample(QUESTIONS, SHORT))
    assert [reply.request for reply in replies] == QUESTIONS
    for draw in itertools.chain.from_iterable(reply.draws for reply in replies):
        assert len(draw.token_ids) == len(draw.logprobs) == len(draw.token_ends)
        assert 0 < len(draw.token_ids) <= 6
        assert all(logprob <= 0 for logprob in draw.logprobs)
        assert draw.token_ends == sorted(draw.token_ends)
        assert draw.token_ends[-1] == len(draw.text)
    texts = {draw.text for reply in replies for draw in reply.draws}
    assert len(texts) > 4  # seeds differ, so answers do


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"parallel": 1}, {"parallel": 5, "threads": 1}, {"parallel": 4, "requantize": "none"}])
def test_a_sample_does_not_depend_on_its_company(engine, open_starter, options):
    """Bit by bit: other neighbours, other batch sizes, other threads, other prompts before it, one sample left out."""
    expected = drawn(engine.sample(QUESTIONS, SHORT)) if "requantize" not in options else None
    other = open_starter(**options)
    try:
        assert drawn(other.sample(QUESTIONS, SHORT)) == (expected or drawn(other.sample(reversed(QUESTIONS), SHORT)))
        fewer = [Request(r.key, r.messages, r.seeds[1:]) for r in reversed(QUESTIONS[:2])]
        expected = expected or drawn(other.sample(QUESTIONS, SHORT))
        for key, value in drawn(other.sample(fewer, SHORT)).items():
            assert value == expected[key]
    finally:
        other.close()


def test_the_beginning_that_prompts_share_is_evaluated_once(engine):
    before = engine.prompt_tokens_evaluated
    replies = list(engine.sample(QUESTIONS, SamplingParams(max_tokens=1)))
    evaluated = engine.prompt_tokens_evaluated - before
    lengths = [len(reply.prompt_token_ids) for reply in replies]
    shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*(r.prompt_token_ids for r in replies[:2]), strict=False))))
    assert shared > 15
    assert evaluated <= lengths[0] + sum(length - shared for length in lengths[1:])


def test_log_probabilities_are_those_of_the_model(engine, model_cache):
    """Against llama-cpp-python's own class, which evaluates prompt and completion in one go."""
    import llama_cpp

    [weights] = model_cache.glob("*/*.f16.gguf")
    other = llama_cpp.Llama(str(weights), n_ctx=256, logits_all=True, verbose=False, n_threads=2)
    for temperature in (1.0, 0.6, 0.0):
        [reply] = engine.sample([ask("What is a river?", 5, 6)], SamplingParams(temperature=temperature, max_tokens=10))
        for draw in reply.draws:
            other.reset()
            other.eval(reply.prompt_token_ids + draw.token_ids)
            start = len(reply.prompt_token_ids) - 1
            logits = np.array(other.scores[start : start + len(draw.token_ids)], np.float64) / (temperature or 1)
            log_total = np.logaddexp.reduce(logits, axis=1)
            expected = logits[np.arange(len(logits)), draw.token_ids] - log_total
            np.testing.assert_allclose(draw.logprobs, expected, atol=0.05)
            if not temperature:
                assert logits.argmax(1).tolist() == draw.token_ids
    other.close()


def test_a_finished_answer_ends_with_the_end_token_outside_the_text(engine):
    [reply] = engine.sample([ask("Say hello.", *range(4))], SamplingParams(temperature=0.3, max_tokens=40))
    stopped = [draw for draw in reply.draws if draw.finish_reason == "stop"]
    assert stopped
    for draw in stopped:
        assert draw.token_ids[-1] in engine._weights.ends
        assert not set(draw.token_ids[:-1]) & engine._weights.ends
        assert "<|" not in draw.text


def test_a_stop_string_ends_an_answer_before_it(engine):
    params = SamplingParams(temperature=0, max_tokens=16)
    [whole] = engine.sample([ask("Tell me about rivers.")], params)
    text = whole.draws[0].text
    word = text.split()[5]
    [reply] = engine.sample([ask("Tell me about rivers.")], SamplingParams(temperature=0, max_tokens=16, stop=("never", word)))
    draw = reply.draws[0]
    assert draw.text == text[: text.index(word)]
    assert draw.finish_reason == "stop"
    assert draw.token_ends[-1] == len(draw.text)
    assert draw.token_ids == whole.draws[0].token_ids[: len(draw.token_ids)]


def test_what_cannot_be_answered_is_an_error_among_the_others(engine):
    long = ask("word " * 5000)
    bad = Request("bad", [{"role": "user"}], [1, 2])
    replies = list(engine.sample([long, QUESTIONS[0], bad, QUESTIONS[1]], SHORT))
    assert [reply.error and reply.error["kind"] for reply in replies] == ["context", None, "prompt", None]
    assert "do not fit the context of 4096" in replies[0].error["message"]
    assert replies[0].draws == replies[2].draws == []
    assert len(replies[0].prompt_token_ids) > 5000


def test_room_is_made_for_a_longer_prompt(open_starter):
    opened = open_starter(parallel=2)
    try:
        [short] = opened.sample([ask("hi", 1, 2)], SHORT)
        long = ask("word " * 600 + "What was it?", 3)
        both = list(opened.sample([ask("hi", 1, 2), long, ask("hi", 1, 2)], SHORT))
        assert both[0].draws == both[2].draws == short.draws
        assert both[1].error is None
    finally:
        opened.close()


def test_requests_are_taken_only_as_room_becomes_free(engine):
    taken = []

    def requests():
        for question in QUESTIONS:
            taken.append(question.key)
            yield question

    replies = engine.sample(requests(), SamplingParams(max_tokens=3))
    assert next(replies).request == QUESTIONS[0]
    assert len(taken) < len(QUESTIONS)
    replies.close()
    assert len(list(engine.sample(QUESTIONS[:1], SHORT))) == 1  # and a run that was left is no harm


def test_a_decode_that_fails_is_an_error_of_those_it_hit(engine, monkeypatch):
    from clawctl.engines.llama import context, native

    real, calls = native.library(), []

    class Failing:
        def __getattr__(self, name):
            return getattr(real, name)

        def llama_decode(self, context, batch):
            calls.append(batch.n_tokens)
            return -3 if len(calls) == 4 else real.llama_decode(context, batch)

    expected = drawn(engine.sample(QUESTIONS[2:], SHORT))
    monkeypatch.setattr(context, "library", Failing)
    replies = list(engine.sample(QUESTIONS, SHORT))
    failed = [reply.error["kind"] for reply in replies if reply.error]
    assert set(failed) == {"engine"}
    assert "llama_decode gave -3" in next(reply.error["message"] for reply in replies if reply.error)
    assert drawn(replies[2:]) == expected


def test_the_policy_says_who_answers(engine, open_starter):
    starter = resolve("starter")
    assert engine.policy["model"] == "starter"
    assert engine.policy["base_sha256"] == base_sha256(starter.file)
    assert engine.policy["adapter"] is engine.policy["adapter_sha256"] is None
    assert engine.policy["requantized"] == "f16"
    shipped = open_starter(requantize="none")
    assert "requantized" not in shipped.policy
    shipped.close()


def test_what_cannot_be_opened_says_why(tmp_path, open_starter):
    from clawctl.engines import open_engine

    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ClawctlError, match="cannot load it"):
        open_engine(Model("broken", "llama", broken), cache=tmp_path)
    with pytest.raises(Usage, match="no engine 'magic'"):
        open_engine(Model("m", "magic", broken))
    with pytest.raises(Usage, match="--parallel 0"):
        open_starter(parallel=0)


def test_an_adapter_of_another_base_or_a_broken_one_is_refused(make_version, model_cache):
    from clawctl.engines import open_engine

    starter = resolve("starter")
    with pytest.raises(ClawctlError, match="was trained on another base model"):
        open_engine(starter, make_version("v001"), cache=model_cache)
    with pytest.raises(ClawctlError, match="cannot load this adapter"):
        open_engine(starter, make_version("v002", base=base_sha256(starter.file)), cache=model_cache)
