"""What runs showed, what signatures predicted of them, and whether that is good enough."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from burstline.errors import BurstlineError
from experiments.signature.runs import METHODS, Program, Site

LARGEST_SPREAD: Final = 0.03
"""Of run times of a program that counts, between the longest and the shortest of its runs."""
FEWEST_PROGRAMS: Final = 4
EARLY: Final = 0.06
"""Share of the run up to the cut, if all phases begin in its first 5 %."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of a target by a method, beside the times of whole runs."""

    program: str
    target: str
    method: str
    actual_s: tuple[float, ...]
    predicted_s: float
    interval_s: tuple[float, float]
    signature_s: float  # the seed's: a mean time of each relevant phase
    measured_s: float
    wall_s: float
    early_s: float  # from MPI_Init to the cut
    coverage: float

    @classmethod
    def of(
        cls, words: tuple[str, str, str], actual_s: Sequence[float], document: dict[str, Any]
    ) -> Prediction:
        """What `burstline predict` said, in seconds."""
        low, high = (side / 1e9 for side in document["interval_ns"])
        predicted_s, signature_s, measured_s, wall_s, early_s = (
            document[f"{key}_ns"] / 1e9
            for key in ("predicted", "set", "measured", "wall", "early")
        )
        return cls(
            *words,
            tuple(actual_s),
            predicted_s,
            (low, high),
            signature_s,
            measured_s,
            wall_s,
            early_s,
            document["coverage"],
        )

    @property
    def mean_s(self) -> float:
        """The AET: the mean of whole runs."""
        return statistics.mean(self.actual_s)

    @property
    def spread(self) -> float:
        """How much whole runs differ."""
        return (max(self.actual_s) - min(self.actual_s)) / self.mean_s

    @property
    def error(self) -> float:
        """The signed error as a share of the AET."""
        return self.predicted_s / self.mean_s - 1

    @property
    def published_error(self) -> float:
        """The same as a share of the prediction, as it was published."""
        return 1 - self.mean_s / self.predicted_s

    @property
    def half_width(self) -> float:
        """Half of the interval, as a share of the AET."""
        return (self.interval_s[1] - self.interval_s[0]) / 2 / self.mean_s

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the AET."""
        return self.interval_s[0] <= self.mean_s <= self.interval_s[1]

    @property
    def counts(self) -> bool:
        """Whether the AET repeats well enough to judge a prediction by it."""
        return self.spread <= LARGEST_SPREAD


class Predictions(NamedTuple):
    """What was predicted of a program."""

    together: list[Prediction]  # a target and method each, by all signature runs
    alone: list[Prediction]  # the same, by each signature run
    failures: list[str]


@dataclass(frozen=True, slots=True)
class Goal:
    """What is aimed at, and what came out; `holds` is None where there is nothing to judge."""

    text: str
    outcome: str
    holds: bool | None


def predictions(
    site: Site,
    program: Program,
    *,
    shorter: int,
    turns: int,
    bases: int,
    say: Callable[[str], None],
) -> Predictions:
    """Each target of a program by each method, from all signature runs and from each.

    A turn of a target is a run of each signature and a whole run; base runs are made before,
    between and after the targets: machines that others use, too, are faster at one time than
    at another. Turns of a target follow each other, so that its whole runs differ by what the
    program varies. The first base run says where signature runs stop; what is predicted has
    the times of all base runs.
    """
    steps = program.steps // shorter
    commands = [site.command(program, target, steps) for target in program.targets]
    base = site.command(program, program.base, steps)
    traces: list[Path] = []
    failures: list[str] = []
    signatures: dict[str, str] = {}

    def record(up_to: int) -> None:
        while len(traces) < up_to:
            say(f"{program.name}: recording {program.base}")
            traces.append(site.record(base, f"{program.name}.{len(traces)}.store"))

    def sign() -> None:
        for method in METHODS:
            with _told(failures, f"{program.name}, {method}"):
                site.sign(traces, method, f"{program.name}.{method}.sig")
                signatures[method] = f"{program.name}.{method}.sig"

    record(1)
    sign()
    actual_s: list[list[float]] = [[] for _ in commands]
    measured: dict[tuple[int, str], list[str]] = {}
    for number, (target, command) in enumerate(zip(program.targets, commands, strict=True)):
        for turn in range(turns):
            say(f"{program.name}: {target}, turn {turn + 1}")
            for method, signature in signatures.items():
                with _told(failures, f"{program.name}, {target}, {method}"):
                    name = f"{program.name}.{method}.{number}.{turn}.json"
                    found = site.measure(signature, command, name)
                    measured.setdefault((number, method), []).append(found)
            actual_s[number].append(site.seconds(command))
        record(1 + (bases - 1) * (number + 1) // len(commands))
    sign()
    together, alone = [], []
    for (number, method), names in measured.items():
        words = program.name, str(program.targets[number]), method
        of = partial(Prediction.of, words, actual_s[number])
        with _told(failures, ", ".join(words)):
            together.append(of(site.predict(signatures[method], names)))
            alone += [of(site.predict(signatures[method], [name])) for name in names]
    return Predictions(together, alone, failures)


@contextmanager
def _told(failures: list[str], what: str) -> Iterator[None]:
    """Note what fails inside, and go on."""
    try:
        yield
    except BurstlineError as error:
        failures.append(f"{what}: {error}")


def goals(made: Sequence[Prediction]) -> list[Goal]:
    """What the predictions by loops reach, of programs whose runs repeat well enough."""
    counted = [each for each in made if each.counts]
    loops = [each for each in counted if each.method == "loops"]
    programs = len({each.program for each in loops})
    whole = Goal(
        f"at least {FEWEST_PROGRAMS} programs run alike within {LARGEST_SPREAD:.0%}",
        f"{programs} with {len(loops)} predictions",
        programs >= FEWEST_PROGRAMS,
    )
    if not loops:
        return [whole]
    errors = [abs(each.error) for each in loops]
    epas = [abs(each.error) for each in counted if each.method == "epas"]
    mean, by_epas = statistics.mean(errors), statistics.mean(epas) if epas else None
    held = sum(each.is_held for each in loops)
    width = statistics.median(each.half_width for each in loops)
    sampled = max(each.signature_s / each.mean_s for each in loops)
    walls = [each.wall_s / each.mean_s for each in loops if each.early_s <= EARLY * each.mean_s]
    longest = max(walls, default=None)
    shortest = min(each.mean_s for each in loops)
    return [
        whole,
        Goal("each AET >= 30 s", f"shortest {shortest:.1f} s", shortest >= 30),
        Goal("mean absolute error <= 3 %", f"{mean:.2%}", mean <= 0.03),
        Goal("worst absolute error <= 8 %", f"{max(errors):.2%}", max(errors) <= 0.08),
        Goal(
            "mean absolute error of loops not above that of epas",
            "no epas" if by_epas is None else f"{mean:.2%}, {by_epas:.2%}",
            None if by_epas is None else mean <= by_epas,
        ),
        Goal(
            "the interval holds the AET in 9 of 10 predictions",
            f"{held} of {len(loops)}",
            held >= 0.9 * len(loops),
        ),
        Goal("median half-width <= 8 % of AET", f"{width:.2%}", width <= 0.08),
        Goal("SET < 1 % of AET", f"at most {sampled:.2%}", sampled < 0.01),
        Goal(
            f"wall time <= 10 % of AET where the cut is in the first {EARLY:.0%}",
            "nothing to judge" if longest is None else f"at most {longest:.2%} of {len(walls)}",
            None if longest is None else longest <= 0.1,
        ),
    ]
