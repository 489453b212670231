"""The JSONL records: their types, their streams, their ids and seeds."""

from clawctl.records.check import RECORDS, InvalidRecord, check
from clawctl.records.event import Event
from clawctl.records.feedback import Feedback
from clawctl.records.ids import content_id, derive_seed
from clawctl.records.rollout import Policy, Rollout, RowError, Sampling, Score
from clawctl.records.task import Task, Verify

__all__ = [
    "RECORDS",
    "Event",
    "Feedback",
    "InvalidRecord",
    "Policy",
    "Rollout",
    "RowError",
    "Sampling",
    "Score",
    "Task",
    "Verify",
    "check",
    "content_id",
    "derive_seed",
]
