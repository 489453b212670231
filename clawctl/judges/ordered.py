"""A map over a stream that works on several items at once and gives the results in the order of the items."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")
AHEAD = 4  # items taken in advance for each worker, so that memory stays flat


def in_order(work: Callable[[In], Out], items: Iterable[In], jobs: int) -> Iterator[Out]:
    """`work(item)` for every item, `jobs` at a time in threads. A result comes out as soon as it and all before it are there.

    The items are read in a thread of their own, so that a slow source holds back no result that is ready.
    What `work` or the source raises comes out in its place.
    """
    if jobs <= 1:
        yield from map(work, items)
        return
    results: queue.Queue[Future[Out] | None] = queue.Queue(maxsize=jobs * AHEAD)
    left = threading.Event()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="judge")
    threading.Thread(target=_feed, args=(work, items, pool, results, left), daemon=True).start()
    try:
        while (result := results.get()) is not None:
            yield result.result()
    finally:
        left.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _feed(
    work: Callable[[In], Out],
    items: Iterable[In],
    pool: ThreadPoolExecutor,
    results: queue.Queue[Future[Out] | None],
    left: threading.Event,
) -> None:
    def put(result: Future[Out] | None) -> bool:
        while not left.is_set():
            try:
                results.put(result, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    try:
        for item in items:
            if left.is_set() or not put(pool.submit(work, item)):
                return
    except BaseException as error:  # goes to whoever reads the results
        failed: Future[Out] = Future()
        failed.set_exception(error)
        put(failed)
    put(None)
