"""Rows to read, and the log of what was said about them."""

from __future__ import annotations

from typing import Any

import pytest

ROLLOUT: dict[str, Any] = {
    "schema": "clawctl.rollout/1",
    "id": "r1",
    "task_id": "t1",
    "group_id": "g1",
    "sample": 0,
    "completion": "42",
    "step_ends": [0, 1],
    "completion_token_ids": [5, 6],
    "rollout_logprobs": [-0.5, None],
    "loss_mask": [1, 1],
    "reward": 0.5,
    "created_at": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def rollout() -> dict[str, Any]:
    return dict(ROLLOUT)


@pytest.fixture
def said(caplog):
    """The warnings, as one text."""
    caplog.set_level("INFO", logger="clawctl")
    return lambda: "\n".join(record.getMessage() for record in caplog.records)
