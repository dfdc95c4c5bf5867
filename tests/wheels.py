"""mpi4py and an MPI of its own in an environment of Python, as pip installs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from burstline.record.building.cache import locked
from recording import Site


def can_be_installed() -> bool:
    """Tell whether pip reaches an index that has them."""
    words = [sys.executable, "-m", "pip", "index", "versions", "mpi4py"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def installed(mpi: str, folder: Path) -> Path:
    """Give an environment into which pip put mpi4py and an MPI; it is made once."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    place = folder / f"mpi4py-{mpi.replace('==', '-')}-{version}"
    with locked(place, mpi):
        if not (place / "whole").exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
            words = ["--python", place / "bin" / "python", "install", "--quiet", "mpi4py", mpi]
            subprocess.run([sys.executable, "-m", "pip", *words], check=True)
            (place / "whole").touch()
    return place


class Installed(Site):
    """A folder in which programs run with what pip installed."""

    def __init__(self, place: Path, folder: Path, settings: dict[str, str]) -> None:
        tools = (str(place / "bin" / "mpicc"), str(place / "bin" / "mpiexec"))
        super().__init__(tools, folder, settings | {"MPICC": tools[0]})
        self.python = str(place / "bin" / "python")

    def made(self, source: Path) -> str:
        """Give the name of a program that is compiled of a file in C."""
        subprocess.run([self.compiler, "-g", "-o", "app", source], check=True, cwd=self.folder)
        return "./app"
