"""Reading: good rows pass as they are, bad lines are told, counted and kept, and never end a stream."""

from __future__ import annotations

import io
import json
import os
import random

import pytest

from clawctl.errors import ClawctlError
from clawctl.records import files
from clawctl.records.streams import SHOWN, Reader, encode_row, parse_row, read_rows

GOOD = b'{"id":"r","task_id":"t","group_id":"g"}'
BROKEN = {
    b'{"id":"r","task_id":"t"': "truncated",
    b'{"id":"r","task_id":"t","group_id":"g"': "truncated",
    b"": None,
    b"   \t ": None,
    b"null": "not a JSON object",
    b"17": "not a JSON object",
    b'"text"': "not a JSON object",
    b"[" + GOOD + b"]": "not a JSON object",
    GOOD + GOOD: "trailing characters",
    GOOD + b",": "trailing characters",
    b'{"id":"r","task_id":"t","group_id":"g",}': "trailing comma",
    b"{'id':'r'}": "object keys must be strings",
    b'{"id":"r","task_id":"t","group_id":"g","reward":NaN}': "at 'NaN",
    b'{"id":"r","task_id":"t","group_id":"g","reward":-Infinity}': "at 'Infinity",
    b'{"id":"r","task_id":"t","group_id":"g","x":1e999}': "out of range",
    b'{"id":"r","task_id":"t","group_id":"g","x":' + b"9" * 5000 + b"}": "out of range",
    b'{"id":"r","task_id":"t","group_id":"g","x":"\\ud800"}': "half a surrogate pair",
    b'{"id":"r","task_id":"t","group_id":"g","x":"\xff"}': "UTF-8",
    b'{"id":"r","task_id":"t","group_id":"g","x":"\x01"}': "invalid character",
    b"\x00" * 40: "invalid character",
    "{}".encode("utf-16"): "invalid character",
    b'{"id":"r","task_id":"t","group_id":"g","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}": "nested too deep",
    b'{"id":"r","task_id":"t","group_id":"g","x":' + b"[" * 300 + b"]" * 300 + b"}": "nested too deep",
    b'{"id":"r","task_id":"t","group_id":5}': "group_id",
}


def read(path, data: bytes, **options) -> tuple[list, Reader]:
    path.write_bytes(data)
    reader = Reader([path], "rollout", **options)
    return list(reader), reader


@pytest.mark.parametrize(("line", "complaint"), [(k, v) for k, v in BROKEN.items() if v])
def test_a_bad_line_is_told_by_file_and_line_and_the_rest_is_read(tmp_path, said, line, complaint):
    rows, reader = read(tmp_path / "a.jsonl", GOOD + b"\n" + line + b"\n" + GOOD + b"\n", rejects=tmp_path / "bad")
    assert (len(rows), reader.seen, reader.bad) == (2, 3, 1)
    assert "a.jsonl:2: " in said()
    assert complaint in said()
    assert (tmp_path / "bad").read_bytes() == line + b"\n"


def test_five_hundred_bad_lines_of_every_kind_among_good_ones(tmp_path, said):
    kinds = [line for line, complaint in BROKEN.items() if complaint]
    lines = [random.Random(0).choice(kinds) for _ in range(500)] + [GOOD] * 500 + [b"", b" "]
    random.Random(1).shuffle(lines)
    rows, reader = read(tmp_path / "a.jsonl", b"\n".join(lines) + b"\n", rejects=tmp_path / "bad")
    assert (len(rows), reader.seen, reader.bad) == (500, 1000, 500)
    assert (tmp_path / "bad").read_bytes().count(b"\n") == 500
    assert f"500 bad lines in all, {SHOWN} of them shown" in said()
    assert said().count("a.jsonl:") == SHOWN


def test_stop_names_the_line_after_the_rows_before_it(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(GOOD + b"\n\n" + b"oops\n" + GOOD)
    rows = iter(Reader([tmp_path / "a.jsonl"], "rollout", on_error="stop"))
    next(rows)
    with pytest.raises(ClawctlError, match=r"a\.jsonl:3: not JSON") as error:
        next(rows)
    assert "--on-error skip" in error.value.hint


def test_a_last_line_without_line_end_is_a_row_if_it_is_whole_and_torn_if_not(tmp_path, said):
    assert len(read(tmp_path / "a.jsonl", GOOD + b"\n" + GOOD)[0]) == 2
    rows, reader = read(tmp_path / "b.jsonl", GOOD + b"\n" + GOOD[:20], rejects=tmp_path / "bad")
    assert (len(rows), reader.bad) == (1, 1)
    assert "b.jsonl:2: torn last line" in said()
    assert (tmp_path / "bad").read_bytes() == GOOD[:20] + b"\n"


def test_line_ends_bom_and_separators_inside_strings(tmp_path):
    text = json.dumps({"id": "r", "task_id": "t", "group_id": "g", "x": "a\u2028b\u2029c\u0085d\x0b\x0c\x1c"}, ensure_ascii=False).encode()
    rows, reader = read(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + GOOD + b"\r\n" + text + b"\r\n\r\n" + GOOD + b"\r\n")
    assert (len(rows), reader.bad, reader.line) == (3, 0, 4)
    assert rows[1]["x"] == "a\u2028b\u2029c\u0085d\x0b\x0c\x1c"


def test_unknown_keys_pass_through_with_their_values():
    values = [2**53 + 1, 2**64, -(10**60), 0.1, 1e-300, -0.0, "\u0000\u2028😀", None, True, {"": {"a.b": []}}, [[]], ""]
    line = json.dumps({"id": "r", "task_id": "t", "group_id": "g", "x": values, "日本": 1}).encode()
    again = json.loads(encode_row(parse_row(line, "rollout")))
    assert json.dumps(again) == line.decode()


def test_of_equal_keys_the_last_counts_as_everywhere(tmp_path):
    rows, reader = read(tmp_path / "a.jsonl", b'{"id":"r","id":"s","task_id":"t","group_id":"g"}\n')
    assert (rows[0]["id"], reader.bad) == ("s", 0)


def test_nesting_that_is_read_can_be_written(tmp_path):
    deep = GOOD[:-1] + b',"x":' + b"[" * 150 + b"]" * 150 + b"}"
    rows, _ = read(tmp_path / "a.jsonl", deep + b"\n")
    assert encode_row(rows[0]) == deep + b"\n"
    wide = GOOD[:-1] + b',"x":[' + b"[]," * 1000 + b"[]]}"
    assert read(tmp_path / "a.jsonl", wide + b"\n")[1].bad == 0


def test_the_line_as_it_was_is_at_hand(tmp_path):
    _, reader = read(tmp_path / "a.jsonl", b'\xef\xbb\xbf {"id": "r",  "task_id":"t","group_id":"g", "x": 1e2} \r\n')
    assert reader.raw == b'{"id": "r",  "task_id":"t","group_id":"g", "x": 1e2}'
    assert reader.source.endswith("a.jsonl:1")


def test_a_line_without_end_is_read_over(tmp_path, said, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 1000)
    monkeypatch.setattr("clawctl.records.streams.LONGEST", 1000)
    for long in (b"x" * 1001, b"x" * 5000, b"x" * 1000 * 7):
        rows, reader = read(tmp_path / "a.jsonl", GOOD + b"\n" + long + b"\n" + GOOD + b"\n")
        assert (len(rows), reader.bad, reader.line) == (2, 1, 3)
    assert "longer than" in said()
    just_right = GOOD[:-1] + b',"x":"' + b"y" * (1000 - len(GOOD) - 7) + b'"}'
    assert len(just_right) == 1000
    assert len(read(tmp_path / "a.jsonl", just_right + b"\n" + just_right)[0]) == 2


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_packed_files_are_read_by_suffix_and_a_cut_or_damaged_one_gives_what_it_has(tmp_path, said, suffix):
    path = tmp_path / f"a.jsonl.{suffix}"

    def pack(data: bytes) -> bytes:
        with files.open_write(path) as file:
            file.write(data)
        return path.read_bytes()

    lines = [GOOD[:-1] + b',"x":%d}' % random.Random(n).getrandbits(256) for n in range(5000)]
    whole = pack(b"\n".join(lines) + b"\n")
    assert len(read(path, whole)[0]) == 5000
    assert len(read(path, whole + pack(GOOD + b"\n"))[0]) == 5001, "two packed files, one after the other"
    rows, reader = read(path, whole[: len(whole) // 2])
    assert 1000 < len(rows) < 5000
    assert reader.bad == 1
    assert f"a.jsonl.{suffix}:{len(rows) + 1}: cannot be read on" in said()
    rows, reader = read(path, whole[:2000] + bytes(64) + whole[2064:])
    assert len(rows) < 5000
    assert reader.bad >= 1
    rows, reader = read(path, b"no such format" * 10)
    assert (rows, reader.bad) == ([], 1)
    assert read(path, b"")[0] == []


def test_several_files_in_turn_each_with_its_own_lines(tmp_path, said):
    (tmp_path / "a").write_bytes(GOOD + b"\n")
    (tmp_path / "b").write_bytes(b"oops\n" + GOOD)
    reader = Reader([tmp_path / "a", tmp_path / "b"], "rollout")
    assert [reader.source.rpartition("/")[2] for _ in reader] == ["a:1", "b:2"]
    assert "b:1: not JSON" in said()


def test_what_cannot_be_opened_is_told_before_anything_is_read(tmp_path):
    (tmp_path / "a").write_bytes(GOOD)
    with pytest.raises(ClawctlError, match="nothere: no such file"):
        Reader([tmp_path / "a", tmp_path / "nothere"], "rollout")
    with pytest.raises(ClawctlError, match="directory"):
        list(read_rows([tmp_path], "rollout"))
    with pytest.raises(ClawctlError, match="directory"):
        list(Reader([tmp_path / "a"], "rollout", rejects=tmp_path))


def test_rejects_are_appended_after_a_torn_line_of_a_run_before(tmp_path):
    (tmp_path / "bad").write_bytes(b"torn")
    read(tmp_path / "a.jsonl", b"oops\n", rejects=tmp_path / "bad")
    read(tmp_path / "a.jsonl", b"again\r\n", rejects=tmp_path / "bad")
    assert (tmp_path / "bad").read_bytes() == b"torn\noops\nagain\r\n"


def test_a_pipe_is_idle_until_its_writer_has_something_ready():
    ours, theirs = os.pipe()
    reader = Reader([f"/dev/fd/{ours}"], "rollout")
    rows = iter(reader)
    os.write(theirs, GOOD + b"\n")
    next(rows)
    assert reader.idle
    os.write(theirs, GOOD + b"\n")
    assert not reader.idle
    next(rows)
    os.close(theirs)
    assert not reader.idle, "the end is something too"
    assert list(rows) == []
    os.close(ours)


def test_a_stream_in_memory_will_do(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD + b"\n")))
    reader = Reader([], "rollout")
    assert [reader.idle for _ in reader] == [False]
