"""Effort models, judged on programs that were not fitted.

Each program is stamped by a model of this machine, by one fitted to the two other programs, and
by one fitted to itself, which no other can be expected to beat; J is of metrics and call paths,
J_C of those that compute, against physical time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import burstline
from burstline import Trace, record
from burstline.clocks import CALLS, KINDS, Effort, EffortModel
from burstline.comparison import Comparison
from burstline.waits import fitted, states_of
from experiments.clocks.results import FOR_PROFILES, FOR_TIME, PHYSICAL, without_ends
from experiments.clocks.runs import MODES, Configuration, Mode, Site

_WORK: Final = Mode("all", "work")
_LEARNED: Final = (FOR_PROFILES[0], FOR_TIME[1], FOR_PROFILES[4])
"""Of each program an input of which each thread has a core."""
_JUDGED: Final = (*_LEARNED, FOR_PROFILES[1], FOR_PROFILES[2], FOR_PROFILES[5])


def report(site: Site, repetitions: int, say: Callable[[str], None]) -> Iterator[str]:
    """The models, then their scores, as Markdown."""
    say("calibration")
    machine = record.calibrated("clang").model
    traces: dict[Configuration, list[Trace]] = {}
    clocks: dict[str, list[Trace]] = {}
    for configuration in _JUDGED:
        say(f"runs of {configuration}")
        name = f"{configuration.name}.{configuration.ranks}x{configuration.threads}"
        counted, timed = (
            [_run(site, configuration, mode, f"{name}.{kind}.{k}") for k in range(repetitions)]
            for kind, mode in (("work", _WORK), ("time", MODES[PHYSICAL]))
        )
        traces[configuration], clocks[str(configuration)] = counted, timed
    models = {"calibrated": machine}
    for one in _LEARNED:
        others = [each for each in _LEARNED if each is not one]
        rest = [trace for each in others for trace in traces[each]]
        models[f"without {one.program}"] = fitted(rest, KINDS, "").model
        models[f"without {one.program}, with calls"] = fitted(rest, KINDS, "", machine).model
        models[f"only {one.program}"] = fitted(traces[one], (*KINDS, *CALLS), "").model
    yield f"{machine.origin}; load {os.getloadavg()[2]:.1f}, {repetitions} repetitions."
    yield ""
    yield from _weights(models)
    yield from _scores(traces, clocks, models)


def _run(site: Site, configuration: Configuration, mode: Mode, name: str) -> Trace:
    return burstline.read(site.record(configuration, mode, f"{name}.store")[1], raw=False)


def _weights(models: Mapping[str, EffortModel]) -> Iterator[str]:
    names = list(dict.fromkeys(name for model in models.values() for name in model.weights))
    yield f"| ns | {' | '.join(names)} | OpenMP |"
    yield "| --- " * (len(names) + 2) + "|"
    for title, model in models.items():
        cells = [
            f"{model.weights[name]:.3g}" if name in model.weights else "" for name in names
        ]
        yield f"| {title} | {' | '.join(cells)} | {model.openmp_call:.0f} |"
    yield ""


def _scores(
    traces: Mapping[Configuration, list[Trace]],
    clocks: Mapping[str, list[Trace]],
    models: Mapping[str, EffortModel],
) -> Iterator[str]:
    head = ("tsc", "lt_bb", "lt_stmt", "calibrated", "other two", "and calls", "itself")
    yield f"|  | {' | '.join(head)} |"
    yield "| --- " * (len(head) + 1) + "|"
    for configuration, [counted, *_] in traces.items():
        fits = (f"without {configuration.program}", f"only {configuration.program}")
        chosen = ("calibrated", fits[0], f"{fits[0]}, with calls", fits[1])
        efforts: list[str | Effort] = ["lt_bb", "lt_stmt"]
        efforts += [models[name].effort() for name in chosen]
        comparison = _compared(clocks[str(configuration)], counted, efforts)
        scores = [
            f"{pair.j_mc:.3f}, {pair.j_c.get('comp', 0.0):.3f}" for pair in comparison.pairs
        ]
        least = comparison.run_to_run[0]
        yield f"| {configuration} | ({least or 1:.3f}) | {' | '.join(scores)} |"
    yield ""


def _compared(timed: list[Trace], counted: Trace, efforts: list[str | Effort]) -> Comparison:
    """Clocks of one run, as all are equal, against the mean of runs by time."""
    profiles = [[without_ends(states_of(trace, None, causes=False).profile) for trace in timed]]
    for effort in efforts:
        waits = states_of(counted, None, clock=effort, causes=False)
        profiles.append([without_ends(waits.profile)])
    names = ["tsc", *(f"clock {k}" for k in range(len(efforts)))]
    return burstline.compare(*profiles, names=names)
