"""What the machine is, held against what its tools say; and limits of a container."""

from __future__ import annotations

import os
import shutil

from clawctl.workspace import machine


def test_agrees_with_the_system():
    assert 1 <= machine.cores() <= os.cpu_count()
    assert 2**28 < machine.memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert machine.processor().name


def test_disk_of_a_folder_that_is_not_there_yet(tmp_path):
    free = machine.disk_free(tmp_path / "a" / "b")
    assert abs(free - shutil.disk_usage(tmp_path).free) < 2**30


def test_a_container_may_have_less(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1073741824\n")
    (tmp_path / "cpu.max").write_text("100000 100000\n")
    assert (machine.cores(), machine.memory()) == (1, 2**30)


def test_no_limit_is_no_limit(tmp_path, monkeypatch):
    before = machine.cores(), machine.memory()
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert machine.cores() >= before[0]
    assert machine.memory() >= before[1]


def test_units_by_the_kernels_names():
    sapphire = machine.Processor("x", frozenset({"avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"}))
    assert (sapphire.avx2, sapphire.avx512, sapphire.amx, sapphire.bf16) == (True, True, True, True)
    assert not machine.Processor("y", frozenset({"avx2"})).bf16
    assert machine.Processor("z", frozenset({"asimd", "bf16"})).bf16
