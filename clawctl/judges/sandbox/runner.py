"""Run tests against the code of an answer. A program of its own: started by `judges/verify/code.py`, standard library only.

stdin: {"code", "tests": [...], "seconds", "memory", "file_size"}. stdout: {"passed": [...], "notes": [...]}, or {"fault": "..."} when
a test itself is no test. Every test runs in a fork of this process that loads the code anew, confined (confine.py) and with output
thrown away. A test has passed only when the fork brings back a token that it can read once the test is through, so printing,
exiting early and patched functions prove nothing.
"""

import ast
import builtins
import contextlib
import json
import os
import select
import signal
import sys
import time
import types
from collections.abc import Iterator
from typing import Any, NoReturn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from confine import confine, limit

del sys.path[0]
Test = tuple[types.CodeType, list[str], list[types.ModuleType]]
TOKEN = 16
NAME = "solution"
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Fault(Exception):
    """A test that cannot test anything; not the answer's fault."""


class Equalities(ast.NodeTransformer):
    """`a == b` in a test becomes `__equal__(a, b)`."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            call = ast.Call(ast.Name("__equal__", ast.Load()), [node.left, node.comparators[0]], [])
            return ast.copy_location(call, node)
        return node


def equal(a: Any, b: Any) -> Any:
    """`a == b`, but an object that equals everything equals nothing."""
    result = a == b
    if result is True and any((side == object()) is True for side in (a, b)):
        return False
    return result


def prepare(number: int, source: str) -> Test:
    """A test as (code, names of its test functions, modules that it imports), or a Fault."""
    try:
        tree = ast.parse(source, f"<test {number}>")
        functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
        if not functions and all(
            isinstance(n, DEFINES) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)) for n in tree.body
        ):
            raise Fault(f"test {number} asserts nothing: give assert lines, or functions named test_...")
        modules = [load(name) for name in sorted(imported(tree)) if name.partition(".")[0] != NAME]
        tree = ast.fix_missing_locations(Equalities().visit(tree))
        return compile(tree, f"<test {number}>", "exec"), functions, modules
    except Fault:
        raise
    except Exception as error:
        raise Fault(f"test {number}: {type(error).__name__}: {error}") from None


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a test names in its imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def load(name: str) -> types.ModuleType:
    __import__(name)
    return sys.modules[name]


def attempt(code: str, test: Test, job: dict[str, Any], result: int, token: int) -> NoReturn:
    """In the fork: load the code, run the test, write the verdict to `result`, and never return."""
    read, write, leave = os.read, os.write, os._exit  # as they are before the answer's code can replace them
    compiled, functions, modules = test
    kept = [(module.__dict__, dict(module.__dict__)) for module in (builtins, sys, os, *modules)]
    try:
        limit(job["memory"], job["seconds"], job["file_size"])
        confine(os.getcwd())
        solution = types.ModuleType(NAME)
        sys.modules[NAME] = solution
        exec(compile(code, f"<{NAME}>", "exec"), solution.__dict__)
        for namespace, contents in kept:
            namespace.update(contents)
        solution.__dict__["__equal__"] = equal
        exec(compiled, solution.__dict__)
        for name in functions:
            solution.__dict__[name]()
        write(result, b"T" + read(token, TOKEN))
        leave(0)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            write(result, f"F{type(error).__name__}: {error}"[:300].rstrip(": ").encode("utf-8", "replace"))
        leave(1)
    finally:
        leave(1)


def run(code: str, test: Test, job: dict[str, Any], seconds: float) -> tuple[bool, str | None]:
    """Whether the test passes within `seconds`, and a note if not."""
    result_read, result = os.pipe()
    token, token_write = os.pipe()
    child = os.fork()
    if not child:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        for unused in (nothing, result_read, token_write):
            os.close(unused)
        attempt(code, test, {**job, "seconds": seconds}, result, token)
    secret = os.urandom(TOKEN)  # after the fork: the child's memory does not hold it
    os.write(token_write, secret)
    for done in (result, token, token_write):
        os.close(done)
    said = hear(result_read, time.monotonic() + seconds)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if said is None:
        return False, f"no end after {seconds:.3g} s"
    if said == b"T" + secret:
        return True, None
    if said[:1] == b"F":
        return False, said[1:].decode("utf-8", "replace")
    return False, f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "left before the test was through"


def hear(pipe: int, deadline: float) -> bytes | None:
    """What the fork wrote until it ended; None when it has not ended by the deadline."""
    said = b""
    while len(said) < 4096 and not (said[:1] == b"T" and len(said) > TOKEN):  # what it may have started can hold the pipe open
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(pipe, 4096) if ready else None
        if not chunk:
            break
        said += chunk
    os.close(pipe)
    return said if ready else None


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    deadline = time.monotonic() + job["seconds"]
    try:
        tests = [prepare(number, source) for number, source in enumerate(job["tests"], 1)]
    except Fault as fault:
        print(json.dumps({"fault": str(fault)}))
        return
    verdicts = []
    for left in range(len(tests), 0, -1):
        # A test that hangs costs at most half of the time that is left, so that the ones after it still run.
        seconds = max(0.05, (deadline - time.monotonic()) / (1 if left == 1 else 2))
        verdicts.append(run(job["code"], tests[len(tests) - left], job, seconds))
    print(json.dumps({"passed": [passed for passed, _ in verdicts], "notes": [note for _, note in verdicts]}))


if __name__ == "__main__":
    main()
