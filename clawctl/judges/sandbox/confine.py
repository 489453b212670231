"""What the kernel withholds from the code of an answer. Used in the child only; standard library only; Linux, elsewhere nothing.

rlimits bound processor time, memory, file size and open files. Three more bars, each where the kernel offers it:
seccomp: no new process or program, no signal, no network. Landlock: no writing outside the folder the code runs in, and no look into
the processes outside (their environment, their memory). Without capabilities root cannot raise its limits again.
This bars accidents and cheap tricks. It is no virtual machine: for hostile code bring one, through the kind `command`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct

# Numbers of what is denied, by machine: fork, vfork, execve, execveat, kill, tkill, tgkill, setsid, setpgid, ptrace, socket,
# process_vm_writev, pidfd_send_signal, io_uring_setup. clone stays for threads; clone3 hides its flags, so libc must use clone.
CLONE3, CLONE_THREAD, ALLOW, DENY = 435, 0x10000, 0x7FFF0000, 0x00050000
MACHINES = {
    "x86_64": (0xC000003E, 56, (57, 58, 59, 322, 62, 200, 234, 112, 109, 101, 41, 311, 424, 425)),
    "aarch64": (0xC00000B7, 220, (221, 281, 129, 130, 131, 157, 154, 117, 198, 271, 424, 425)),
}
# Landlock: WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_*; from version 2 REFER, from version 3 TRUNCATE.
WRITING = (1 << 1) | 0b1111111110000
WRITE_FILE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14


def limit(memory: int, seconds: float, file_size: int) -> None:
    """The rlimits. memory and file_size in bytes; seconds of processor time."""
    cpu = int(seconds) + 1
    for what, value in (
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))


def confine(folder: str) -> None:
    """Raise the bars, for good, around this process; it may write only below `folder`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "prctl"):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        return
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which the other two ask for
    _forbid_writing_outside(libc, folder)
    libc.capset(ctypes.byref(ctypes.c_uint64(0x20080522)), ctypes.byref((ctypes.c_uint32 * 6)()))
    if not _filter_calls(libc):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _forbid_writing_outside(libc: ctypes.CDLL, folder: str) -> None:
    version = libc.syscall(444, None, 0, 1)
    if version < 1:
        return
    handled = WRITING | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    rules = libc.syscall(444, ctypes.byref(ctypes.c_uint64(handled)), ctypes.c_size_t(8), 0)
    if rules < 0:
        return
    for path, allowed in ((folder, handled), ("/dev/null", handled & (WRITE_FILE | TRUNCATE))):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(445, rules, 1, ctypes.create_string_buffer(struct.pack("=Qi", allowed, beneath)), 0)
        os.close(beneath)
    libc.syscall(446, rules, 0)
    os.close(rules)


def _filter_calls(libc: ctypes.CDLL) -> bool:
    """Install the seccomp filter; whether it stands."""
    machine = MACHINES.get(platform.machine())
    if machine is None:
        return False
    architecture, clone, denied = machine
    steps = _program(architecture, clone, denied)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    return libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _program(architecture: int, clone: int, denied: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The filter in BPF, as (operation, steps to skip if true, if false, operand)."""
    load, equal, at_least, bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    refuse, no_call = DENY | errno.EPERM, DENY | errno.ENOSYS
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, refuse), (load, 0, 0, 0)]
    steps += [(at_least, 0, 1, 0x40000000), (give, 0, 0, refuse)]  # the x32 numbers of x86-64
    for number in denied:
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    steps += [(equal, 0, 1, CLONE3), (give, 0, 0, no_call)]
    steps += [(equal, 0, 3, clone), (load, 0, 0, 16), (bits, 1, 0, CLONE_THREAD), (give, 0, 0, refuse)]
    return [*steps, (give, 0, 0, ALLOW)]
