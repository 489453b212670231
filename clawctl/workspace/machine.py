"""What this machine is: processor, usable cores, memory, disk. From the system's own files, without a library."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Processor:
    """`flags` as the kernel names them, empty where it does not say (then nothing is known, not nothing there)."""

    name: str
    flags: frozenset[str]

    @property
    def avx2(self) -> bool:
        return "avx2" in self.flags

    @property
    def avx512(self) -> bool:
        return "avx512f" in self.flags

    @property
    def amx(self) -> bool:
        return "amx_tile" in self.flags

    @property
    def bf16(self) -> bool:
        """Units that multiply bfloat16: AVX-512 BF16, AMX BF16, or Arm's BF16 extension."""
        return bool(self.flags & {"avx512_bf16", "amx_bf16", "bf16"})


@lru_cache(maxsize=1)
def processor() -> Processor:
    """The first processor of /proc/cpuinfo; on other systems its name only."""
    fields: dict[str, str] = {}
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    name = fields.get("model name") or platform.processor() or platform.machine()
    return Processor(name, frozenset((fields.get("flags") or fields.get("Features") or "").split()))


def cores() -> int:
    """Cores that this process may use: its affinity, and a container's quota."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read(CGROUP / "cpu.max").partition(" ")
    if quota.isdigit() and period.strip().isdigit():
        usable = min(usable, max(1, round(int(quota) / int(period))))
    return usable


def physical_cores() -> int:
    """As `cores`, but two threads of one core count once: dense arithmetic gains nothing from the second."""
    here = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    siblings = {_read(CPUS / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in here}
    return min(cores(), len(siblings)) if siblings else cores()


def memory() -> int:
    """Bytes of memory that this process may use: the machine's, or a container's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _read(CGROUP / "memory.max").strip()
    return min(total, int(limit)) if limit.isdigit() else total


def disk_free(folder: Path) -> int:
    """Bytes free for this user where `folder` lies, or would."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
