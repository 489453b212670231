"""The llama engine's parts: growing text, which weights, the AMX decision."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from clawctl.engines import SamplingParams
from clawctl.engines.llama.completion import Completion
from clawctl.engines.llama.weights import extra_buffers
from clawctl.errors import Usage
from clawctl.workspace.models import resolve


class Bytes:
    """A vocabulary of single bytes; 0 ends a generation."""

    ends = frozenset({0})

    def piece(self, token: int) -> bytes:
        return bytes([token])


def grown(tokens, *, max_tokens: int = 99, stop: tuple[str, ...] = ()) -> Completion:
    completion = Completion(0, 0, 5, np.zeros(max_tokens), Bytes(), SamplingParams(max_tokens=max_tokens), stop)
    for token in tokens:
        assert completion.finish is None
        completion.add(token, -1.0)
    return completion


def test_a_character_spread_over_tokens_is_there_with_its_last():
    draw = grown([*"aü€😀".encode(), 0]).draw()
    assert draw.text == "aü€😀"
    assert draw.token_ends == [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4]
    assert draw.finish_reason == "stop"


def test_a_character_cut_off_by_the_limit_is_a_replacement():
    draw = grown([*"aü".encode()[:2]], max_tokens=2).draw()
    assert (draw.text, draw.token_ends, draw.finish_reason) == ("a\N{REPLACEMENT CHARACTER}", [1, 2], "length")


def test_bytes_that_are_no_text_are_replaced():
    assert grown([97, 0xFF, 98, 0]).draw().text == "a\N{REPLACEMENT CHARACTER}b"


def test_a_stop_string_spread_over_tokens_is_cut_off():
    draw = grown(b"one\nTask:", stop=("never", "\nTask:")).draw()
    assert (draw.text, draw.finish_reason) == ("one", "stop")
    assert draw.token_ends == [1, 2, 3, 3, 3, 3, 3, 3, 3]
    assert len(draw.token_ids) == len(draw.logprobs) == 9


def test_the_first_of_several_stop_strings_counts():
    assert grown("ab€".encode(), stop=("€", "b€")).draw().text == "a"


def test_the_end_token_wins_over_the_limit():
    assert grown([97, 0], max_tokens=2).draw().finish_reason == "stop"
    assert grown([97, 98], max_tokens=2).draw().finish_reason == "length"


@pytest.mark.parametrize(
    ("built_with_amx", "has_amx", "override", "repacks"),
    [
        (True, True, None, False),  # the crash
        (True, False, None, True),
        (False, True, None, True),
        (True, True, "1", True),
        (False, False, "0", False),
    ],
)
def test_weights_are_not_repacked_where_amx_crashes(built_with_amx, has_amx, override, repacks):
    said = f"CPU : SSE3 = 1 | AVX512 = 1 | {'AMX_INT8 = 1 | ' if built_with_amx else ''}REPACK = 1 | "
    assert extra_buffers(said, has_amx, override) is repacks


def test_the_override_is_checked():
    with pytest.raises(Usage, match="0 or 1"):
        extra_buffers("", False, "yes")


def test_small_quantised_weights_are_expanded_once(tmp_path, caplog):
    from clawctl.engines.llama.requantize import chosen
    from clawctl.engines.llama.weights import file_type

    source = resolve("starter").file
    caplog.set_level("INFO")
    path, called = chosen(source, "auto", tmp_path / "made")
    assert called == "f16"
    assert file_type(path) == "1"
    assert "made once" in caplog.text
    stamp = path.stat().st_mtime_ns
    assert chosen(source, "f16", tmp_path / "made") == (path, "f16")
    assert path.stat().st_mtime_ns == stamp
    assert chosen(path, "auto", tmp_path / "made") == (path, None)  # whole already
    assert chosen(source, "none", tmp_path / "made") == (source, None)
    assert [file.name for file in (tmp_path / "made").iterdir()] == [path.name]
    with pytest.raises(Usage, match="--requantize q3: unknown"):
        chosen(source, "q3", tmp_path)


def test_where_nothing_can_be_kept_the_weights_stay_as_they_are(tmp_path, caplog):
    from clawctl.engines.llama.requantize import chosen

    (tmp_path / "file").touch()
    source = resolve("starter").file
    assert chosen(source, "auto", tmp_path / "file" / "folder") == (source, None)
    assert "the weights stay as they are" in caplog.text


def test_llama_is_loaded_only_when_an_engine_opens():
    code = "import sys, clawctl.engines, clawctl.engines.llama, clawctl.generation.stage; sys.exit('llama_cpp' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
