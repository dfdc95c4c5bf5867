"""What a word asks for: the scheduler at an address, workers here, or jobs of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from burstline.errors import FormatError, ParameterError
from burstline.formats.documents import read_toml

SYSTEMS: Final = {"slurm": "SLURMCluster", "pbs": "PBSCluster"}
"""Batch systems, and the class of dask-jobqueue that asks each for jobs."""
_UNLOGGED: Final = {
    "slurm": ["-o /dev/null"],
    "pbs": ["-o /dev/null", "-e /dev/null"],
}
"""What keeps jobs from writing what they say into the folder where the command runs."""

_LOCAL: Final = "local:"
_LARGEST: Final = 1 << 16
_KINDS: Final = {
    "workers": int, "cores": int, "memory": str, "walltime": str, "queue": str, "account": str,
    "interface": str, "local_directory": str, "log_directory": str, "python": str,
    "job_extra_directives": list, "job_script_prologue": list,
}  # fmt: skip
_NEEDED: Final = ("workers", "cores", "memory")


@dataclass(frozen=True, slots=True)
class Local:
    """So many workers on this machine."""

    workers: int


@dataclass(frozen=True, slots=True)
class Address:
    """A scheduler that runs already."""

    address: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """Workers that a batch system starts, each as a job of its own."""

    system: str
    workers: int
    options: Mapping[str, Any]  # of the class of dask-jobqueue


def asked_for(scheduler: str) -> Local | Address | Jobs:
    """What a word asks for.

    >>> asked_for("local:2"), asked_for("tcp://10.0.0.1:8786")
    (Local(workers=2), Address(address='tcp://10.0.0.1:8786'))
    """
    if scheduler.startswith(_LOCAL):
        count = scheduler.removeprefix(_LOCAL)
        if not (count.isascii() and count.isdigit() and 1 <= int(count) <= 1024):
            raise ParameterError(f"workers here are local:1 to local:1024, got {scheduler!r}")
        return Local(int(count))
    if scheduler.endswith(".toml"):
        return _jobs(Path(scheduler))
    host, _, port = scheduler.rpartition(":")
    if not (host and port.isascii() and port.isdigit()):
        raise ParameterError(
            f"{scheduler!r} is no scheduler: say an address such as tcp://node:8786, local:4, "
            "or a file such as slurm.toml"
        )
    return Address(scheduler)


def _jobs(path: Path) -> Jobs:
    tables = read_toml(path, _LARGEST)
    systems = [name for name in SYSTEMS if isinstance(tables.get(name), dict)]
    if len(systems) != 1 or len(tables) != 1:
        found = ", ".join(tables) or "nothing"
        raise FormatError(path, None, expected="a table [slurm] or [pbs]", found=found)
    options = dict(tables[systems[0]])
    for name, value in options.items():
        kind = _KINDS.get(name)
        if kind is None:
            raise FormatError(path, None, expected=f"one of {', '.join(_KINDS)}", found=name)
        if type(value) is not kind or (isinstance(value, list) and not _are_texts(value)):
            wanted = {int: "a whole number", str: "a text", list: "a list of texts"}[kind]
            raise FormatError(path, None, expected=f"{wanted} as {name}", found=repr(value))
    if missing := [name for name in _NEEDED if name not in options]:
        raise FormatError(path, None, expected=f"{missing[0]} in [{systems[0]}]", found="none")
    if options["workers"] < 1 or options["cores"] < 1:
        raise FormatError(path, None, expected="at least one worker and core", found="fewer")
    if "log_directory" not in options:
        more = options.get("job_extra_directives", [])
        options["job_extra_directives"] = [*_UNLOGGED[systems[0]], *more]
    return Jobs(systems[0], options.pop("workers"), options)


def _are_texts(values: list[object]) -> bool:
    return all(isinstance(value, str) for value in values)
