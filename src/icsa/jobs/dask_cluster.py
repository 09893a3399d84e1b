"""Jobs on a Dask cluster: one of our own on this machine, or one that runs elsewhere."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from icsa.errors import InputError
from icsa.jobs.folder import versions
from icsa.jobs.work import Job, Work
from icsa.jobs.workers import Outcome, ignore_interrupts, perform_in_worker

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["LOCAL", "connected", "on_dask"]

# Stands for a cluster that lives as long as the work.
LOCAL = "local"
_SECONDS_TO_ANSWER = 10
_ATTEMPTS = 3
# Dask's own choice is one port on all networks.
_ANY_PORT = "127.0.0.1:0"


def on_dask(
    work: Work, jobs: Sequence[Job], address: str | Client, workers: int
) -> Iterator[Outcome]:
    """Yield the outcomes of `jobs` as they come from a Dask cluster, in any order.

    The address is that of a running scheduler (``tcp://host:8786``), or "local" for a cluster on
    this machine, of so many workers, that ends with it. The work's function must be
    importable there. Jobs of a lost worker are done again by another. Whoever has more than one
    work to do gives a client that `connected` gave.
    """
    with ExitStack() as stack:
        if isinstance(address, str):
            client = _connected(stack, address, min(workers, len(jobs)))
        else:
            client = address
            address = str(client.scheduler.address)
        yield from _results(client, work, jobs, address)


@contextmanager
def connected(address: str, workers: int) -> Iterator[Client]:
    """Give a client of a cluster: one that runs, or one on this machine that ends with it."""
    with ExitStack() as stack:
        yield _connected(stack, address, workers)


def _connected(stack: ExitStack, address: str, workers: int) -> Client:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError(
            "A Dask cluster needs dask.distributed: pip install 'icsa[dask]'"
        ) from None
    if address == LOCAL:
        return _started(stack, workers)
    _keep_silent(stack)
    found = _client_of(address)
    if found is None:
        raise InputError(
            f"No Dask scheduler answers at {address!r}. Give its address as it prints it, such as "
            f"tcp://127.0.0.1:8786, or {LOCAL!r} for a cluster on this machine."
        )
    client = stack.enter_context(found)
    _check_workers(client, address)
    return client


def _keep_silent(stack: ExitStack) -> None:
    """Leave it to our errors to tell that a scheduler is lost: Dask logs where it noticed."""
    logger = logging.getLogger("distributed.client")
    stack.callback(logger.setLevel, logger.level)
    logger.setLevel(logging.CRITICAL)


def _client_of(address: str) -> Client | None:
    """Return a client, or None where no scheduler answers."""
    from distributed import Client

    for attempt in range(_ATTEMPTS):
        is_busy = False
        try:
            return Client(address, timeout=_SECONDS_TO_ANSWER)
        except (OSError, ValueError):
            pass
        except AssertionError:  # its loop did not start within ten seconds, on a busy machine
            if attempt == _ATTEMPTS - 1:
                raise
            is_busy = True
        # A client that reached nobody closes when it is collected. That must not be while the next
        # one starts its thread: both would wait for each other for ever.
        gc.collect()
        if not is_busy:
            break
    return None


def _started(stack: ExitStack, workers: int) -> Client:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=0,  # jobs are small, and a worker that pauses would never go on
        dashboard_address=_ANY_PORT,
        worker_dashboard_address=_ANY_PORT,
        security=True,  # whoever reaches a scheduler can run code: others on this machine, too
        silence_logs=logging.CRITICAL,
    )
    client = stack.enter_context(Client(stack.enter_context(cluster)))
    client.run(ignore_interrupts)
    return client


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster that cannot do the jobs, or would give other numbers."""
    try:
        found: dict[str, dict[str, str]] = client.run(versions)
    except ImportError:
        raise InputError(
            f"The Dask workers of {address} cannot import icsa. Install it there."
        ) from None
    if not found:
        raise InputError(
            f"The Dask scheduler at {address} has no workers. Start some: dask worker {address}"
        )
    here = versions()
    for there in found.values():
        other = [name for name in here if there.get(name) != here[name]]
        if other:
            name = other[0]
            raise InputError(
                f"A Dask worker has {name} {there.get(name)} and this machine {here[name]}: the "
                "numbers could differ. Install the same versions on both."
            )


def _results(client: Client, work: Work, jobs: Sequence[Job], address: str) -> Iterator[Outcome]:
    from distributed import KilledWorker, as_completed

    arguments: dict[str, Any] = {"pure": False}
    futures = [
        client.submit(perform_in_worker, work.function, work.config, job, **arguments)
        for job in jobs
    ]
    try:
        for future in as_completed(futures):
            yield future.result()
            future.release()  # or the cluster keeps every table until the end
    except KilledWorker:
        raise InputError(
            f"The Dask workers of {address} were lost again and again: most likely the memory ran "
            "out. Use fewer workers."
        ) from None
    except (CancelledError, OSError):
        raise InputError(f"The Dask scheduler at {address} was lost. Start it again.") from None
