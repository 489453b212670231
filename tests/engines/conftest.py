"""The starter model, opened once for all engine tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawctl.engines import Engine, open_engine
from clawctl.workspace.models import resolve


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory) -> Path:
    """Where the starter is kept in other formats."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def open_starter(model_cache) -> Callable[..., Engine]:
    def opened(**options) -> Engine:
        return open_engine(resolve("starter"), None, **{"cache": model_cache, **options})

    return opened


@pytest.fixture(scope="session")
def engine(open_starter) -> Iterator[Engine]:
    opened = open_starter(parallel=4)
    yield opened
    opened.close()
