"""``burstline counters``: which counters there are, and which go together in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from burstline import record, show
from burstline.cli import usage
from burstline.cli.products import require_free, write_whole
from burstline.errors import NotEnoughDataError, ParameterError, printable

DESCRIPTION: Final = """\
A processor counts only some events at a time. plan finds the fewest sets of events that
can be counted together on this machine, one run each, by asking PAPI; list shows what
there is to choose from.
"""
EXAMPLES: Final = """\
examples:
  burstline counters list
  burstline counters plan PAPI_TOT_CYC PAPI_L1_DCM PAPI_L2_DCM PAPI_BR_MSP
  burstline counters plan PAPI_L1_DCM PAPI_BR_MSP --output sets.toml
  burstline record --counters-set sets.toml --each-set -- mpirun -n 8 ./app
"""
USAGE: Final = "burstline counters plan EVENT … | list [OPTION …]"
OPTIONS: Final = {
    "action {plan,list}": "what to do",
    "events EVENT *": "as PAPI names it: PAPI_L1_DCM",
    "--reference EVENT=PAPI_TOT_INS": "counted in every set, to compare runs by; or none "
    "(default: PAPI_TOT_INS)",
    "-o, --output FILE": "write the sets for record --counters-set",
    **usage.FORCE,
    "--papi FILE": "the PAPI library to ask",
    **usage.FORMAT,
}
_SOFTWARE: Final = (
    *("task-clock", "context-switches", "cpu-migrations"),
    *("page-faults", "minor-faults", "major-faults"),
)


def run(arguments: usage.Arguments) -> None:
    """Plan sets, or list counters."""
    if arguments.action == "list":
        if arguments.events or arguments.output:
            raise ParameterError("counters list takes neither events nor --output")
        _list(arguments)
        return
    if not arguments.events:
        raise ParameterError("name the events to plan: burstline counters plan EVENT …")
    output = None
    if arguments.output is not None:
        output = Path(arguments.output)
        if output.suffix != ".toml":
            raise ParameterError(f"{output}: sets of counters are written to a file .toml")
        require_free(output, force=arguments.force)
    for event in [*arguments.events, arguments.reference]:
        if not event.isascii() or not event.isprintable() or set(event) & set(' ,"\\'):
            raise ParameterError(f"{printable(event)!r} is no name of an event")
    reference = None if arguments.reference == "none" else arguments.reference
    with record.Papi(arguments.papi) as papi:
        plan = record.plan_sets(arguments.events, papi.fits, reference=reference)
    if output is not None:
        if not plan.sets:
            raise NotEnoughDataError(
                "none of these events can be counted here, so there are no sets to write. "
                "See burstline counters list"
            )
        write_whole(output, record.sets_text(plan).encode())
    show.output(_planned(plan), arguments.format)
    _say_what_is_missing(plan, reference, output)


def _planned(plan: record.CounterPlan) -> show.Outcome:
    document: dict[str, Any] = {
        "sets": [list(names) for names in plan.sets],
        "unavailable": list(plan.unavailable),
        "reference": plan.reference,
        "fewest": plan.fewest,
    }
    sets = list(enumerate(plan.sets, 1))
    rows = [(number, name) for number, names in sets for name in names]
    missing = [(None, name) for name in plan.unavailable]
    lines = [f"set {number}: {' '.join(map(printable, names))}" for number, names in sets]
    if plan.unavailable:
        lines.append(f"unavailable: {' '.join(map(printable, plan.unavailable))}")
    return show.Outcome(document, ("set", "counter"), [*rows, *missing], [show.Lines(lines)])


def _say_what_is_missing(
    plan: record.CounterPlan, reference: str | None, output: Path | None
) -> None:
    if not plan.sets:
        show.note(
            "PAPI can count none of these events here. burstline record --counters cpu,work "
            "needs no hardware counters"
        )
    elif plan.reference != reference:
        show.note(
            f"{reference} cannot be counted: no counter is shared by the runs to compare them"
        )
    if not plan.fewest:
        show.note("fewer sets may be possible: there are too many combinations to ask for all")
    if output is not None:
        runs = "one run" if len(plan.sets) == 1 else f"{len(plan.sets)} runs"
        show.note(f"{output}: burstline record --counters-set {output} --each-set makes {runs}")


def _list(arguments: usage.Arguments) -> None:
    rows = [("recorder", "cpu"), ("compiler", "work"), ("compiler", "clocks")]
    rows += [("kernel", f"perf:{name}") for name in _SOFTWARE]
    try:
        with record.Papi(arguments.papi) as papi:
            presets = sorted(papi.presets())
    except NotEnoughDataError as error:
        presets = []
        show.note(str(error))
    else:
        if not presets:
            show.note(f"PAPI {papi.version} has no preset event here: no hardware counters")
    rows += [("papi", name) for name in presets]
    named = [{"name": name, "source": source} for source, name in rows]
    cells = [tuple(row.values()) for row in named]
    lines = [f"{printable(name):24} {source}" for source, name in rows]
    shown = show.Outcome({"counters": named}, ("name", "source"), cells, [show.Lines(lines)])
    show.output(shown, arguments.format)
