"""The library llama.cpp as llama-cpp-python carries it: started once, quiet, and fair to other processes."""

from __future__ import annotations

import ctypes
import logging
import os
from functools import lru_cache
from typing import Any

from clawctl.errors import Missing

log = logging.getLogger(__name__)
# GNU OpenMP's threads wait for one another in a busy loop; on a machine that has other work to do, most of the time went there
# (measured: 5 tokens a second against 25). They give up after so many turns, unless the user has said otherwise.
SPIN = {"GOMP_SPINCOUNT": "10000"}


@lru_cache(maxsize=1)
def library() -> Any:
    """The module llama_cpp.llama_cpp, started once, its chatter sent to our debug log."""
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in SPIN.items():
            os.environ.setdefault(name, value)
    try:
        import llama_cpp.llama_cpp as native
    except ImportError:
        raise Missing("llama-cpp-python", "local") from None
    # The callback must outlive the library: ctypes does not keep it.
    library.callback = native.llama_log_callback(_heard)  # type: ignore[attr-defined]
    native.llama_log_set(library.callback, ctypes.c_void_p())  # type: ignore[attr-defined]
    native.llama_backend_init()
    return native


def _heard(_level: int, text: bytes, _data: Any) -> None:
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s", text.decode(errors="replace").rstrip())
