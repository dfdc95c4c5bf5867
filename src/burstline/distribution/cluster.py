"""Where workers come from: a scheduler that runs, this machine, or a batch system."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from burstline.distribution.settings import SYSTEMS, Address, Jobs, Local, asked_for
from burstline.distribution.workers import BESIDE, DaskWorkers
from burstline.errors import WorkersError, plural, require_extra

if TYPE_CHECKING:
    from distributed import Client

_CONNECTED_S: Final = 10
_STARTED_S: Final = 300
_IN_A_SCRIPT: Final = (
    'In a script, put what it does below `if __name__ == "__main__":`, '
    "for each worker reads the script first."
)


@contextmanager
def workers_of(scheduler: str | Client, *, memory: int) -> Iterator[DaskWorkers]:
    """The workers that a word asks for, or those of a client; what it starts it ends.

    Workers on this machine share `memory` bytes. Raises MissingExtraError without Dask, and
    WorkersError where nobody answers.
    """
    require_extra("distributed", "cluster", "work by several processes")
    if not isinstance(scheduler, str):
        yield DaskWorkers(scheduler)
        return
    asked = asked_for(scheduler)
    with ExitStack() as opened:
        if isinstance(asked, Address):
            client = _connected(asked.address)
        else:
            cluster = opened.enter_context(_cluster(asked, memory))
            client = _connected(cluster)
        with client:
            _wait(client, asked)
            yield DaskWorkers(client)


def _cluster(asked: Local | Jobs, memory: int) -> Any:  # noqa: ANN401 -- of three kinds
    if isinstance(asked, Local):
        from distributed import LocalCluster  # noqa: PLC0415 -- an extra

        try:
            return LocalCluster(
                n_workers=asked.workers,
                threads_per_worker=1,
                memory_limit=memory // asked.workers + BESIDE,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:  # behind it are hundreds of lines of Dask's own
            why = str(error).rstrip(".")
            raise WorkersError(
                f"workers do not start on this machine ({why}). {_IN_A_SCRIPT}"
            ) from None
    require_extra("dask_jobqueue", "cluster", "workers that a batch system starts")
    import dask_jobqueue  # noqa: PLC0415 -- an extra

    make = getattr(dask_jobqueue, SYSTEMS[asked.system])
    try:
        cluster = make(processes=1, **asked.options)
        cluster.scale(jobs=asked.workers)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkersError(f"{asked.system} does not start workers: {error}") from error
    return cluster


def _connected(address: Any) -> Client:  # noqa: ANN401 -- a text, or a cluster
    from distributed import Client  # noqa: PLC0415 -- an extra

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=_CONNECTED_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise WorkersError(
            f"no scheduler answers at {address}: start one (dask scheduler), or say local:4"
        ) from error


def _wait(client: Client, asked: Local | Address | Jobs) -> None:
    """Wait until there is a worker; those that come later work, too."""
    wanted = asked.workers if isinstance(asked, Local) else 1
    patience = _CONNECTED_S if isinstance(asked, Address) else _STARTED_S
    try:
        client.wait_for_workers(wanted, timeout=patience)
    except TimeoutError as error:
        raise WorkersError(
            f"the scheduler has no workers after {plural(patience, 'second')}"
        ) from error
