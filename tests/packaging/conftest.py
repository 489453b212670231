"""The distribution as a user gets it: the wheel built from the sdist, in an environment with nothing but the base dependencies."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist: what the sdist forgets is missed here."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, "sdist", out)
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(out / "source", filter="data")
    (source,) = (out / "source").iterdir()
    build(source, "wheel", out)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `clawctl` of a fresh environment: the wheel, and copies of what its metadata asks for without an extra, nothing else."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel],
        check=True,
        capture_output=True,
    )
    (site,) = home.glob("lib/python*/site-packages")
    for name in closure("clawctl-rl"):
        copy(importlib.metadata.distribution(name), site)
    return home / "bin" / "clawctl"


def build(source: Path, target: str, out: Path) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out], cwd=source, check=True, capture_output=True)


def closure(root: str) -> set[str]:
    """Distributions that `root` needs without its extras, by their metadata, `root` left out."""
    found: set[str] = set()
    todo = [root]
    while todo:
        for requirement in importlib.metadata.requires(todo.pop()) or []:
            name = re.match(r"[\w.-]+", requirement)[0]
            if "extra ==" in requirement or name in found or not present(name):
                continue
            found.add(name)
            todo.append(name)
    return found


def present(name: str) -> bool:
    """Whether it is installed here; what a marker rules out (another system, another Python) is not."""
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def copy(distribution: importlib.metadata.Distribution, site: Path) -> None:
    for file in distribution.files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)
