"""``burstline predict``: how long a program takes where only its signature ran."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, Final

from burstline import show
from burstline import signature as signatures
from burstline.cli import usage
from burstline.cli.products import print_view
from burstline.cli.signatures import ESTIMATE, RUN, measured, read_measurement, read_signature
from burstline.errors import NotEnoughDataError, ParameterError, plural
from burstline.quantities import format_ns

DESCRIPTION: Final = """\
Say how long a program takes on the machine where its signature was run, with an interval of
95 %. validate makes full runs there, too, in turns with signature runs, and says by how much
the prediction of these together is wrong: the time is that from MPI_Init to MPI_Finalize.
"""
EXAMPLES: Final = """\
examples:
  burstline predict app.sig measured.json
  burstline predict app.sig run1.json run2.json run3.json            the mean of three runs
  burstline predict app.sig measured.json --estimator mean --format json
  burstline predict validate app.sig -- mpirun -n 8 ./app input.txt
  burstline predict validate app.sig --runs 5 --base 'mpirun -n 8 ./base' -- mpirun -n 8 ./app
"""
USAGE: Final = (
    "burstline predict APP.sig MEASURED.json … [OPTION …]\n"
    "       burstline predict validate APP.sig [OPTION …] -- mpirun -n 8 ./app …"
)
OPTIONS: Final = {
    "inputs FILE +": "a signature and what its runs measured; or validate and a signature",
    **usage.FORMAT,
    "the estimate": ESTIMATE,
    "resources": {"--memory SIZE": usage.RESOURCES["resources"]["--memory SIZE"]},
    "validate": {
        "--runs N=3": "signature runs and full runs, in turns (3)",
        "--base COMMAND": "run this whole in each turn, too: how far base runs differ",
        **RUN,
    },
}
TAKES_PROGRAM: Final = True
_COLUMNS: Final = (
    "turn", "predicted_ns", "actual_ns", "error", "error_of_prediction", "set_ns", "wall_ns",
    "full_wall_ns", "base_ns",
)  # fmt: skip


def run(arguments: usage.Arguments) -> None:
    """Predict from a measurement, or make runs and compare."""
    usage.require_at_least(arguments, runs=1)
    if arguments.inputs[0] == "validate":
        _validate(arguments)
        return
    if len(arguments.inputs) < 2 or arguments.program:
        raise ParameterError(
            "predict takes a signature and its measurements: burstline predict APP.sig "
            "MEASURED.json; to run a program: burstline signature run"
        )
    first, *others = arguments.inputs
    signature = read_signature(arguments, first)
    measurements = [read_measurement(arguments, name) for name in others]
    prediction = signatures.predict(signature, *measurements, estimator=arguments.estimator)
    print_view(arguments, show.PredictionView(prediction))


def _validate(arguments: usage.Arguments) -> None:
    if len(arguments.inputs) != 2 or not arguments.program:
        raise ParameterError(
            "validate takes a signature and a program: burstline predict validate APP.sig -- "
            "mpirun -n 8 ./app"
        )
    signature = read_signature(arguments, arguments.inputs[1])
    measurements, turns = [], []
    for number in range(1, arguments.runs + 1):
        measurement, turn = _turn(arguments, signature, number)
        measurements.append(measurement)
        turns.append(turn)
        show.note(f"burstline: {_sentence(turn)}")
    together = signatures.predict(signature, *measurements, estimator=arguments.estimator)
    document = _document(together, turns)
    rows = [[turn[name] for name in _COLUMNS] for turn in turns]
    shown = [show.Facts(_verdict(document))]
    print_view(arguments, show.Outcome(document, _COLUMNS, rows, shown=shown))


def _turn(
    arguments: usage.Arguments, signature: signatures.Signature, number: int
) -> tuple[signatures.Measurement, dict[str, Any]]:
    """A signature run, and a full run beside it, after a base run if there is one."""
    base_ns = None
    if arguments.base is not None:
        base = measured(arguments, signature, shlex.split(arguments.base), to_end=True)
        base_ns = _time_ns(base, signature.representative)
    short = measured(arguments, signature, arguments.program)
    prediction = signatures.predict(signature, short, estimator=arguments.estimator)
    full = measured(arguments, signature, arguments.program, to_end=True)
    document = prediction.as_dict()
    actual_ns = _time_ns(full, prediction.representative)
    predicted_ns = document["predicted_ns"]
    names = ("predicted_ns", "interval_ns", "seed_predicted_ns", "set_ns", "measured_ns")
    return short, {"turn": number} | {name: document[name] for name in names} | {
        "actual_ns": actual_ns,
        "error": (predicted_ns - actual_ns) / actual_ns,
        "error_of_prediction": (predicted_ns - actual_ns) / predicted_ns,
        "wall_ns": prediction.wall_ns,
        "full_wall_ns": full.wall_ns,
        "base_ns": base_ns,
    }  # fmt: skip


def _time_ns(run: signatures.Measurement, rank: int) -> int:
    """How long a rank of a full run took from MPI_Init to MPI_Finalize."""
    stamps = next(each for each in run.stamps if each.rank == rank)
    if stamps.finalize_ns is None:
        raise NotEnoughDataError(f"rank {rank} did not come to MPI_Finalize")
    return stamps.finalize_ns - stamps.init_ns


def _document(
    together: signatures.Prediction, turns: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """What all signature runs predict together, the mean of the full runs, and the turns."""
    found = together.as_dict()
    names = (
        *("method", "predicted_ns", "interval_ns", "usable", "reason"),
        *("set_ns", "measured_ns", "wall_ns"),
    )
    actual = [turn["actual_ns"] for turn in turns]
    base = [turn["base_ns"] for turn in turns if turn["base_ns"] is not None]
    actual_ns, (low, high) = round(fmean(actual)), found["interval_ns"]
    difference = found["predicted_ns"] - actual_ns
    return {name: found[name] for name in names} | {
        "actual_ns": actual_ns,
        "error": difference / actual_ns,
        "error_of_prediction": difference / found["predicted_ns"],
        "coverage": found["coverage"],
        "actual_spread": _spread(actual),
        "base_spread": _spread(base),
        "inside": sum(low <= time <= high for time in actual),
        "turns": list(turns),
    }


def _spread(times: Sequence[int]) -> float | None:
    """What the longest run took more than the shortest, as a share of their mean."""
    return (max(times) - min(times)) / fmean(times) if len(times) > 1 else None


def _sentence(turn: dict[str, Any]) -> str:
    predicted, actual = (format_ns(turn[name]) for name in ("predicted_ns", "actual_ns"))
    return f"turn {turn['turn']}: predicted {predicted}, took {actual}: {turn['error']:+.1%}"


def _verdict(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    shown = {
        name: format_ns(value)
        for name, value in document.items()
        if name[-3:] == "_ns" and isinstance(value, int)
    }
    low, high = map(format_ns, document["interval_ns"])
    turns = document["turns"]
    yield "predicted", f"{shown['predicted_ns']}, between {low} and {high}"
    if not document["usable"]:
        yield "of no use", document["reason"]
    said = (
        f"{shown['actual_ns']}: error {document['error']:+.1%} "
        f"({document['error_of_prediction']:+.1%} of the prediction, as published); "
        f"{document['inside']} of {plural(len(turns), 'run')} inside the interval"
    )
    yield "full runs", said
    for name, title in (("actual_spread", "full runs"), ("base_spread", "base runs")):
        if document[name] is not None:
            yield f"{title} differ", f"by up to {document[name]:.1%}"
    share = document["set_ns"] / document["actual_ns"]
    yield "one of each phase", f"{shown['set_ns']}, {share:.2%} of the full run"
    share = document["wall_ns"] / max(fmean(turn["full_wall_ns"] for turn in turns), 1)
    said = f"{shown['wall_ns']} with start and end, {share:.1%} of a full one"
    yield "the signature run", said
