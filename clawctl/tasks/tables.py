"""The rows of a data set, one at a time: JSON Lines by ourselves, everything else through `datasets`.

JSON Lines is read line by line because the tables behind `datasets` refuse rows whose keys differ, which tasks and chats have.
"""

from __future__ import annotations

import contextlib
import csv
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from clawctl.errors import ClawctlError, Missing

log = logging.getLogger(__name__)
Format = Literal["auto", "jsonl", "json", "csv", "parquet", "folder", "hub"]
BY_SUFFIX: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


def rows(source: str, *, split: str = "train", config: str | None = None, format_: Format = "auto") -> Iterator[dict[str, Any]]:
    """The rows of a file, a folder or a data set's hub name, as plain dicts.

    split and config are what `datasets` calls so; a plain file has neither. ClawctlError when it cannot be read.
    """
    kind = format_ if format_ != "auto" else guess(source)
    if kind != "hub" and not Path(source).exists():
        raise ClawctlError(f"{source}: no such file")
    if kind == "jsonl":
        return _json_lines(source)
    return _through_datasets(source, kind, split, config)


def guess(source: str) -> Format:
    """The format by what is there: a folder, a file's suffix and first character, else a hub name."""
    path = Path(source)
    if path.is_dir():
        return "folder"
    plain = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    if not path.exists():
        if plain.suffix in BY_SUFFIX or source.startswith((".", "/", "~")):
            raise ClawctlError(f"{source}: no such file")
        return "hub"
    kind = BY_SUFFIX.get(plain.suffix)
    if kind is None:
        raise ClawctlError(f"{source}: cannot tell the format by the name", "--format jsonl, json, csv or parquet")
    return "jsonl" if kind == "json" and _starts_with_object(source) else kind


def _starts_with_object(source: str) -> bool:
    """Whether a .json file holds an object a line, as many do, rather than one list."""
    from clawctl.records.files import open_read

    with open_read(source) as file:
        head = file.readline(1 << 20)
    with contextlib.suppress(msgspec.DecodeError):
        return isinstance(msgspec.json.decode(head), dict)
    return False


def _json_lines(source: str) -> Iterator[dict[str, Any]]:
    from clawctl.records.files import open_read

    with open_read(source) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                log.warning("%s:%d: not JSON: %s", source, number, error)
                continue
            yield row if isinstance(row, dict) else {}


def _through_datasets(source: str, kind: Format, split: str, config: str | None) -> Iterator[dict[str, Any]]:
    datasets = _datasets()
    try:
        table = _open(datasets, source, kind, split, config)
        labels = {name: f for name, f in (table.features or {}).items() if isinstance(f, datasets.ClassLabel)}
        for row in table:
            for name, label in labels.items():
                if isinstance(row[name], int) and row[name] >= 0:
                    row[name] = label.int2str(row[name])
            yield row
    except GeneratorExit:
        raise
    except Exception as error:  # the boundary to a library that raises whatever its readers raise
        what = next(iter(str(error).strip().splitlines()), type(error).__name__)
        hint = "is the network there? A local copy works too: a folder, .parquet, .csv, .jsonl" if kind == "hub" else None
        raise ClawctlError(f"{source}: {what[:300]}", hint) from error


def _open(datasets: Any, source: str, kind: Format, split: str, config: str | None) -> Any:
    """Streaming wherever `datasets` can, so that nothing is copied into its cache."""
    if kind == "hub":
        return datasets.load_dataset(source, config, split=split, streaming=True)
    if kind == "folder":
        folder = Path(source)
        if (folder / "dataset_dict.json").exists():
            return datasets.load_from_disk(str(folder / split))
        if (folder / "state.json").exists():
            return datasets.load_from_disk(source)
        return datasets.load_dataset(source, config, split=split, streaming=True)
    if kind == "csv":
        return datasets.load_dataset("csv", data_files=source, split="train", streaming=True, **_as_text(datasets, source))
    return datasets.load_dataset(kind, data_files=source, split="train", streaming=True)


def _as_text(datasets: Any, source: str) -> dict[str, Any]:
    """Every CSV column as text: guessed types turn 007 into 7, and 36 into 36.0 as soon as one cell is empty."""
    from clawctl.records.files import open_read

    separator = "\t" if ".tsv" in Path(source).suffixes else ","
    with open_read(source) as file:
        header = next(csv.reader([file.readline().decode("utf-8-sig")], delimiter=separator), [])
    if not header:
        raise ClawctlError(f"{source}: no header line")
    features = datasets.Features({name: datasets.Value("string") for name in header})
    return {"features": features, "sep": separator, "keep_default_na": False}


def _datasets() -> Any:
    """The library, without its bars and cache chatter."""
    try:
        import datasets
    except ModuleNotFoundError:
        raise Missing("datasets", "datasets") from None
    datasets.logging.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    if not (sys.stderr and sys.stderr.isatty()):
        datasets.disable_progress_bars()
    return datasets
