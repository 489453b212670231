"""Identity by content, and seeds by derivation: the same input always gives the same id and the same draw."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any


def content_id(*parts: Any) -> str:
    """16 hex digits of the SHA-256 over the parts as canonical JSON. Key order does not matter."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    # A lone surrogate can reach a row through "\\ud800"; it must get an id too.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def derive_seed(seed: int, task_id: str, round_: int, sample: int) -> int:
    """A 31-bit seed for one sample of one task in one round; no two samples share it but by chance (2**-31)."""
    digest = hashlib.blake2b(f"{seed}\x1f{task_id}\x1f{round_}\x1f{sample}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") % (2**31 - 1) + 1


def now() -> str:
    """This moment in RFC 3339, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
