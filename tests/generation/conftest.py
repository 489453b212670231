"""A scripted model: what comes around the model is tested here, the model in tests/engines."""

from __future__ import annotations

import pytest

from clawctl.engines import Engine, open_engine
from clawctl.workspace.models import Model

GOOD = "<step>1. look</step>\n<step>2. think</step>\n<answer>36</answer>"
ANSWERS = [GOOD, "no idea", "<answer>7</answer>", "ü" * 30]


@pytest.fixture
def engine() -> Engine:
    return open_engine(Model("parrot", "scripted", options={"answers": ANSWERS}))
