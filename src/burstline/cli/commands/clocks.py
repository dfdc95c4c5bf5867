"""``burstline clocks``: effort models, by which a logical clock tells time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from burstline import clocks, record, show, waits
from burstline.cli import usage
from burstline.cli.clock_options import effort_model
from burstline.cli.inputs import progress_bar, read_selected
from burstline.cli.products import require_free, write_whole
from burstline.errors import ParameterError
from burstline.quantities import format_share
from burstline.run import CLOCKED, COPIES_REPLAYED

DESCRIPTION: Final = """\
Make an effort model: what a statement of each kind, a call of each class and a call into the
OpenMP runtime take, in ns. calibrate measures them on this machine by kernels, which it
compiles; fit finds those by which the computation of recorded programs takes what it took.
retime, waits and compare take the file with --effort-model.
"""
EXAMPLES: Final = """\
examples:
  burstline clocks calibrate -o machine.toml
  burstline record --counters work -o run.store -- mpirun -n 8 ./app
  burstline clocks fit run.store -o fitted.toml
  burstline clocks fit a1.store a2.store b.store -o fitted.toml     repetitions, programs
  burstline clocks fit run.store --calls machine.toml -o fitted.toml
  burstline retime other.store --clock lt_hwctr --effort-model fitted.toml -o ticks.prv

a fit, and a calibration, need an extra: pip install 'burstline[ml]'
"""
USAGE: Final = "burstline clocks calibrate | fit TRACE … -o FILE [OPTION …]"
_FITTED: Final = {
    "--counter LIST": "counters to fit (default: statements, loads, stores, branches and "
    "floating-point operations: IR_TOT_INS, IR_LD_INS, …)",
    "--calls FILE": "calls take what this model says, as of calibrate (default: those of "
    "other code are left out, those into OpenMP as recorded)",
}
OPTIONS: Final = {
    "action {calibrate,fit}": "what to do",
    "inputs TRACE *": "recorded with --counters work: .prv, .otf2, a store, raw files",
    "-o, --output FILE": "write the model as FILE.toml",
    **usage.FORCE,
    **usage.FORMAT,
    "fit": _FITTED,
    "calibrate": {"--compiler NAME=clang": "a compiler of LLVM (default: clang)"},
    **usage.RESOURCES,
}


def run(arguments: usage.Arguments) -> None:
    """Make a model, write it and print it."""
    if arguments.output is None:
        raise ParameterError("name the file of the model: -o FILE.toml")
    path = Path(arguments.output)
    if path.suffix != ".toml":
        raise ParameterError(f"{path}: the ending of an effort model is .toml")
    require_free(path, force=arguments.force)
    clocks.require_solver()
    calibrates = arguments.action == "calibrate"
    if calibrates and (arguments.inputs or arguments.counter or arguments.calls):
        raise ParameterError("clocks calibrate takes neither traces nor options of fit")
    model, shown = _calibrated(arguments) if calibrates else _fitted(arguments)
    write_whole(path, model.text().encode())
    show.output(shown, arguments.format)
    show.note(f"{path}: burstline retime TRACE --clock lt_hwctr --effort-model {path}")


def _calibrated(arguments: usage.Arguments) -> tuple[clocks.EffortModel, show.Outcome]:
    with progress_bar(arguments) as progress:
        made = record.calibrated(arguments.compiler, progress)
    notes = [f"calls into OpenMP take nothing: {made.openmp}"] if made.openmp else []
    return made.model, _shown(made.model, made.as_dict(), {}, notes)


def _fitted(arguments: usage.Arguments) -> tuple[clocks.EffortModel, show.Outcome]:
    if not arguments.inputs:
        raise ParameterError("name traces to fit: burstline clocks fit TRACE … -o FILE.toml")
    calls = None if arguments.calls is None else effort_model(arguments.calls)
    traces = (
        read_selected(arguments, file, region={}, tables=CLOCKED, copies=COPIES_REPLAYED)
        for file in arguments.inputs
    )
    files = ", ".join(Path(file).name for file in arguments.inputs)
    fit = waits.fitted(
        traces, usage.names_in(arguments.counter) or clocks.KINDS, f"fitted to {files}", calls
    )
    explained = format_share(fit.explained).strip()
    told = (
        f"{explained} of the time of computation is explained, by {fit.rows:,} call paths on "
        f"threads; each event took {fit.event_ns:.0f} ns besides"
    )
    notes = [told]
    if silent := [name for name in fit.shares if name not in fit.model.weights]:
        notes.append(f"no information on the time: {', '.join(silent)}")
    return fit.model, _shown(fit.model, fit.as_dict(), fit.shares, notes)


def _shown(
    model: clocks.EffortModel,
    document: dict[str, Any],
    shares: Mapping[str, float],
    notes: Sequence[str],
) -> show.Outcome:
    """The weights of a model, and what counters take of the time where that is known."""
    from burstline.values import SHARE, Column, Table  # noqa: PLC0415 -- help loads no NumPy

    weights = {**model.weights, "openmp_call": model.openmp_call}
    rows = [(name, ns, shares.get(name)) for name, ns in weights.items()]
    cells = [(name, f"{ns:.4g}", share) for name, ns, share in rows]
    columns = Column("COUNTER"), Column("NS"), Column("OF THE TIME", SHARE)
    table = Table(columns, cells, model.origin)
    return show.Outcome(document, ("counter", "ns", "share"), rows, [table], notes)
