"""What statements and calls take on this machine: kernels, compiled, counted and timed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from burstline.clocks import CALLS as CALL_CLASSES
from burstline.clocks import KINDS as STATEMENTS
from burstline.clocks import EffortModel, non_negative
from burstline.errors import NotEnoughDataError, printable
from burstline.progress import SILENCE, Progress
from burstline.record.building.compiler import COUNT, KINDS, LOOPS, identify, instrumented
from burstline.record.commands import ask, first_error

_KERNELS: Final = Path(__file__).parent / "kernels"
_COUNTERS: Final = (
    "IR_BB", "IR_TOT_INS", "IR_LD_INS", "IR_SR_INS", "IR_BR_INS", "IR_FP_INS", "IR_SP_OPS",
    "IR_DP_OPS", "IR_VEC_INS", "IR_VEC_SP", "IR_VEC_DP", "IR_CALLS", "IR_LOOP_ITER",
    "IR_CALLS_MATH", "IR_CALLS_MEM", "IR_CALLS_OTHER",
)  # fmt: skip
"""As they are numbered in ``native/runtime.h``."""
_RUNTIME_CALLS: Final = 3
"""Of a parallel region: its fork, its enter, its join."""
_ROUNDS: Final = 20
_PATIENCE_S: Final = 120


@dataclass(frozen=True, slots=True)
class Calibration:
    """An effort model of this machine, and what it rests on."""

    model: EffortModel
    kernels: dict[str, tuple[float, float]]  # ns measured, and by the model
    openmp: str  # why calls into the OpenMP runtime were not timed; empty: they were

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        kernels = [
            {"name": name, "ns": measured, "model_ns": modelled}
            for name, (measured, modelled) in self.kernels.items()
        ]
        return {"model": self.model.as_dict(), "kernels": kernels, "openmp": self.openmp}


def calibrated(compiler: str, progress: Progress = SILENCE) -> Calibration:
    """What statements by kind, and calls by class of callee, take on this machine."""
    version = identify(compiler).version_text.partition("\n")[0]
    with tempfile.TemporaryDirectory(prefix="burstline-") as folder:
        program = _built(compiler, Path(folder))
        names = _output([program]).split()
        progress.step("calibrate", len(names), "kernels")
        rows = []
        for name in names:
            row = _output([program, name]).split()
            rows.append([float(word) for word in row])
            progress.advance(1)
        openmp_call, reason = _openmp_call(compiler, Path(folder))
    columns = (*STATEMENTS, *CALL_CLASSES)
    table = np.array(rows)
    times = np.maximum(1.0, table[:, 0])
    counts = table[:, [1 + _COUNTERS.index(name) for name in columns]]
    # By ratios, as kernels are as long as they happen to be: half counts as much as double.
    modelled, weights = times, np.zeros(len(columns))
    for _ in range(_ROUNDS):
        scale = np.sqrt(times * np.maximum(1.0, modelled))
        weights = non_negative(counts / scale[:, None], times / scale)
        modelled = counts @ weights
    pairs = zip(times.tolist(), modelled.tolist(), strict=True)
    origin = f"calibrated on {_processor()}, {version}"
    by_name = dict(zip(columns, weights.tolist(), strict=True))
    model = EffortModel.of(by_name, openmp_call, printable(origin, limit=300))
    return Calibration(model, dict(zip(names, pairs, strict=True)), reason)


def _built(compiler: str, folder: Path) -> str:
    """The program of all kernels, of which one file counts its work."""
    sources = [os.fspath(_KERNELS / name) for name in ("kernels.c", "timing.c")]
    objects = [os.fspath(folder / name) for name in ("kernels.o", "timing.o")]
    program = os.fspath(folder / "kernels")
    _output(instrumented([compiler, "-O2", "-c", sources[0], "-o", objects[0]]))
    _output([compiler, "-O2", "-c", sources[1], "-o", objects[1]])
    _output(instrumented([compiler, *objects, "-o", program, "-lm"]))
    return program


def _openmp_call(compiler: str, folder: Path) -> tuple[float, str]:
    """What a call into the OpenMP runtime takes, ns, or 0 and why nobody knows."""
    program = os.fspath(folder / "team")
    try:
        _output([compiler, "-O2", "-fopenmp", os.fspath(_KERNELS / "team.c"), "-o", program])
        return float(_output([program])) / _RUNTIME_CALLS, ""
    except (NotEnoughDataError, ValueError) as error:
        return 0.0, str(error)


def _output(words: Sequence[str]) -> str:
    """The output of a program that must succeed."""
    settings = {name: text for name, text in os.environ.items() if name != LOOPS}
    settings[COUNT] = ",".join(KINDS)
    code, text = ask(words, patience_s=_PATIENCE_S, environment=settings)
    if code != 0:
        name = printable(Path(words[0]).name)
        raise NotEnoughDataError(f"nothing can be calibrated: {name}: {first_error(text)}")
    return text


def _processor() -> str:
    """The name of the processor, as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else f"an unnamed {os.uname().machine}"
