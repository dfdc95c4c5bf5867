"""Run a command beside a Slurm of one node, this machine, which ends with the command.

::

    python -m experiments.workers.one_node_slurm -- \
        burstline table run.store -o bursts.parquet --scheduler slurm.toml

Needs Debian's ``slurm-wlm`` and ``munge``, and root. Whatever Slurm there may be besides is not
touched: this one has its own folder, key and ports.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
_PATIENCE_S = 30
_SYSTEM = "/usr/sbin:/sbin"

_CONFIG = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory={megabytes} State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint={folder}/cgroup
"""


def main(words: list[str]) -> int:
    """Run the command behind ``--`` beside a Slurm, and give its exit code."""
    if words[:1] != ["--"] or len(words) < 2:
        sys.stderr.write("usage: python -m experiments.workers.one_node_slurm -- COMMAND …\n")
        return 2
    path = f"{_SYSTEM}:{os.environ.get('PATH', '')}"
    if missing := [name for name in DAEMONS if shutil.which(name, path=path) is None]:
        sys.stderr.write(f"not there: {', '.join(missing)}; apt-get install slurm-wlm munge\n")
        return 6
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm(Path(folder)) as beside:
        return subprocess.run(words[1:], env=beside, check=False).returncode


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Slurm of one node in a folder; give the environment in which its commands find it."""
    host = socket.gethostname().partition(".")[0]
    folder.chmod(0o755)  # munge does not trust others
    for name in ("state", "spool", "cgroup"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    (folder / "cgroup.conf").write_text(_CGROUP.format(folder=folder))
    config = folder / "slurm.conf"
    config.write_text(
        _CONFIG.format(
            folder=folder,
            host=host,
            ports=_free_ports(),
            processors=os.cpu_count(),
            megabytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10 >> 20,
        )
    )
    beside = os.environ | {
        "SLURM_CONF": str(config),
        "PATH": f"{os.environ.get('PATH', '')}:{_SYSTEM}",
    }
    munge = {"key-file": key, "socket": folder / "munge.sock", "pid-file": folder / "m.pid"}
    munge |= {"log-file": folder / "munge.log", "seed-file": folder / "munge.seed"}
    commands = [
        ["munged", "-F", "--force", *(f"--{name}={value}" for name, value in munge.items())],
        ["slurmctld", "-D"],
        ["slurmd", "-D", "-N", host],
    ]
    started = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as said:
                started.append(subprocess.Popen(command, env=beside, stdout=said, stderr=said))
        _wait_for_node(beside, folder)
        yield beside
        # A job that ends without anybody to tell stays for minutes.
        _wait(lambda: not _said(beside, "squeue", "--noheader"))
    finally:
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_ports() -> list[int]:
    ports = []
    for _ in range(2):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            ports.append(server.getsockname()[1])
    return ports


def _wait_for_node(beside: dict[str, str], folder: Path) -> None:
    """Wait until the node takes jobs."""
    if not _wait(lambda: _said(beside, "sinfo", "--noheader", "--format=%T") == "idle"):
        logs = "\n".join(path.read_text()[-2_000:] for path in folder.glob("*.log"))
        raise SystemExit(f"the node takes no jobs after {_PATIENCE_S} s:\n{logs}")


def _wait(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, but not for long; give whether it does."""
    deadline = time.monotonic() + _PATIENCE_S
    while not (is_there := holds()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return is_there


def _said(beside: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, env=beside, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
