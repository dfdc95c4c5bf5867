"""What was published of logical clocks, each statement with the rule that judges our runs.

The statements are of G. Corbin, N. Daoud, B. Mohr, G. de Morais, F. Wolf, *Are Noise-Resilient
Logical Timers Useful for Performance Analysis?*
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from experiments.clocks.results import LOGICAL, PHYSICAL, Results

NOISE: Final = 5.0
"""Per cent, or points of it, that runs on a shared machine differ by."""
TIE: Final = 0.01  # scores of J that differ by less are equal
COUNTED: Final = ("lt_bb", "lt_stmt", "lt_hwctr")
DETERMINISTIC: Final = LOGICAL[:4]
MINIFE: Final = ("MiniFE-1", "MiniFE-2")
LULESH: Final = ("LULESH-1", "LULESH-2")
TEALEAF: Final = ("TeaLeaf-1", "TeaLeaf-2", "TeaLeaf-3", "TeaLeaf-4")
ASSEMBLY: Final = ("generate_matrix_structure", "assemble", "make_local_matrix")
VECTORS: Final = ("dot", "waxpby")
WAIT: Final = "mpi_wait_nxn"
DELAY: Final = "delay_n2n_aggregate"
IDLE: Final = "omp_idle_threads"


class Judged(NamedTuple):
    """What we measured, and whether it agrees."""

    measured: str
    agrees: bool


class Statement(NamedTuple):
    """A sentence of the publication, and how it is judged; if it is a text, why it is not."""

    where: str
    text: str
    rule: Callable[[Results], Judged] | str


def within(values: Iterable[float], low: float, high: float) -> Judged:
    """Whether all values lie in a band."""
    values = list(values)
    band = f"{low:g} to {high:g}" if low > -1000 else f"at most {high:g}"
    return Judged(f"{_shown(values)} ({band} agrees)", all(low <= v <= high for v in values))


def near(value: float, published: float) -> Judged:
    """Whether a value is the published one by a factor of 1.5, or both are below the noise."""
    close = published / 1.5 <= value <= published * 1.5 or max(value, published) < NOISE
    return Judged(f"{value:.1f}, published {published:g} (factor of 1.5)", close)


def falling(named: Sequence[tuple[str, float]], tie: float = 0.0) -> Judged:
    """Whether values fall in the order in which they are given, ties allowed."""
    falls = all(a[1] >= b[1] - tie for a, b in pairwise(named))
    said = ", ".join(f"{name} {value:.3g}" for name, value in named)
    return Judged(f"{said} (falling agrees)", falls)


def best(scores: dict[str, float], winner: str) -> Judged:
    """Whether none has a higher score than the winner."""
    return Judged(_named(scores), scores[winner] >= max(scores.values()) - TIE)


def both(*judged: Judged) -> Judged:
    """Whether all agree."""
    return Judged("; ".join(each.measured for each in judged), all(j.agrees for j in judged))


def _shown(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def _named(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {score:.2f}" for name, score in scores.items())


def _scores(r: Results, name: str, metric: str | None = None) -> dict[str, float]:
    return {clock: r.score(name, clock, metric) for clock in LOGICAL}


def _lowest_of_all(r: Results) -> Judged:
    """lt_1 is lowest in all but one configuration."""
    lowest = {
        name: min(scores, key=lambda clock: scores[clock])
        for name in (*MINIFE, *LULESH)
        for scores in [_scores(r, name)]
    }
    said = ", ".join(f"{name}: {clock}" for name, clock in lowest.items())
    return Judged(said, sum(clock == "lt_1" for clock in lowest.values()) >= 3)


def _harder(r: Results) -> Judged:
    """Each clock's scores fall from configuration to configuration."""
    names = (*MINIFE, *LULESH)
    each = [falling([(n, r.score(n, c)) for n in names], TIE) for c in COUNTED]
    return both(*each)


def _apart(r: Results, name: str, metric: str, clocks: Iterable[str]) -> list[float]:
    """Points by which clocks are away from physical time."""
    physical = r.of_time(name, PHYSICAL, metric)
    return [abs(r.of_time(name, clock, metric) - physical) for clock in clocks]


def _effective(r: Results) -> Judged:
    """The three counting clocks beat the two others."""
    scores = _scores(r, "MiniFE-1", "comp")
    others = max(scores["lt_1"], scores["lt_loop"])
    return Judged(_named(scores), min(scores[c] for c in COUNTED) >= others - TIE)


def _waits_in(r: Results, clock: str) -> Judged:
    """The order of the calls that wait."""
    names = ("make_local_matrix", "dot", "generate_matrix_structure")
    return falling([(n, r.of_metric("MiniFE-1", clock, WAIT, n)) for n in names])


def _barrier_wait(r: Results, name: str, clock: str) -> float:
    return sum(r.of_time(name, clock, f"omp_{kind}barrier_wait") for kind in "ei")


def _omp_overhead(r: Results, name: str, clock: str) -> float:
    return r.of_time(name, clock, "omp_time") - _barrier_wait(r, name, clock)


def _explains_idle(r: Results) -> Judged:
    """What is idle beyond MPI is below a tenth; a process has two threads."""
    mpi, idle = (r.of_time("MiniFE-2", "lt_loop", metric) for metric in ("mpi", IDLE))
    return Judged(f"MPI {mpi:.1f} %T, idle {idle:.1f} %T", abs(idle - mpi) <= 0.1 * idle)


def _idle_as_time(r: Results) -> Judged:
    """The clocks that count are nearer to physical time than those that do not."""
    near, far = (_apart(r, "MiniFE-2", IDLE, clocks) for clocks in (COUNTED, LOGICAL[:2]))
    return Judged(f"{_shown(near)} points, the others {_shown(far)}", max(near) < min(far))


def _same_compute(r: Results) -> Judged:
    shares = [
        abs(
            r.of_metric("MiniFE-1", clock, "comp", "matvec")
            - r.of_metric("MiniFE-2", clock, "comp", "matvec")
        )
        for clock in COUNTED
    ]
    return within(shares, 0, NOISE)


def _updates_blamed(r: Results, clock: str) -> float:
    return r.of_metric("LULESH-1", clock, DELAY, "ApplyMaterialPropertiesForElems")


GOAL: Final = "our goal"  # not published, and not counted among what was
NO_COUNTER: Final = "no hardware counter here: statements stand in for it, and repeat exactly"
NUMA: Final = "no NUMA domains here, and 2 cores"
STATEMENTS: Final = (
    Statement(
        "Table I",
        "MiniFE-2, initialisation: lt_bb and lt_stmt cost 97.8 and 94.5 %",
        lambda r: within([r.overhead("MiniFE", c, "init") for c in COUNTED[:2]], 50, 200),
    ),
    Statement(
        GOAL,
        "MiniFE, initialisation: lt_bb and lt_stmt cost less than 20 %",
        lambda r: within([r.overhead("MiniFE", c, "init") for c in COUNTED[:2]], -1e9, 20),
    ),
    Statement(
        "Table I",
        "lt_1 and lt_loop cost no more than tsc",
        lambda r: within(
            [
                r.overhead(name, clock, "total") - r.overhead(name, PHYSICAL, "total")
                for name in ("MiniFE", "LULESH", "TeaLeaf")
                for clock in LOGICAL[:2]
            ],
            -1e9,
            NOISE,
        ),
    ),
    Statement(
        "Table I",
        "MiniFE-2, solve: no clock costs anything (0.2 to 0.4 %)",
        lambda r: within([r.overhead("MiniFE", c, "solve") for c in LOGICAL], -1e9, NOISE),
    ),
    Statement(
        "Table I",
        "LULESH-1: lt_bb and lt_stmt cost more than tsc, lt_1 and lt_loop (23.7 to 3.7 %)",
        lambda r: falling(
            [
                (clock, r.overhead("LULESH", clock, "total"))
                for clock in max(
                    (("lt_bb", other) for other in ("tsc", "lt_1", "lt_loop")),
                    key=lambda pair: r.overhead("LULESH", pair[1], "total"),
                )
            ]
        ),
    ),
    Statement(
        "Table I",
        "TeaLeaf-2: each clock costs 40 to 57 %",
        lambda r: within([r.overhead("TeaLeaf", c, "total") for c in LOGICAL], 20, 80),
    ),
    Statement(
        "Table II",
        "TeaLeaf: tsc costs more with few ranks of many threads (42.8, 41.5 %) than with many "
        "ranks (9.4, 14.9 %)",
        lambda r: falling([(n, r.overhead(n, PHYSICAL, "total", 0)) for n in TEALEAF[1::2]]),
    ),
    Statement("Fig. 2", "MiniFE-2 runs faster when it is measured by tsc, lt_1, lt_loop", NUMA),
    Statement("Fig. 3", "lt_1 has the lowest score in almost all experiments", _lowest_of_all),
    Statement(
        "Fig. 3", "lt_bb is best in MiniFE-1", lambda r: best(_scores(r, "MiniFE-1"), "lt_bb")
    ),
    Statement(
        "Fig. 3",
        "lt_stmt is best in MiniFE-2",
        lambda r: best(_scores(r, "MiniFE-2"), "lt_stmt"),
    ),
    Statement(
        "Fig. 3",
        "lt_stmt is best in LULESH-2",
        lambda r: best(_scores(r, "LULESH-2"), "lt_stmt"),
    ),
    Statement("Fig. 3", "lt_hwctr is best in LULESH-1", NO_COUNTER),
    Statement(
        "Fig. 3",
        "lt_bb, which is best in MiniFE-1, is below lt_stmt in LULESH",
        lambda r: both(
            *(
                falling([(c, r.score(name, c)) for c in ("lt_stmt", "lt_bb")], TIE)
                for name in LULESH
            )
        ),
    ),
    Statement(
        "Fig. 3", "scores of lt_bb, lt_stmt, lt_hwctr fall from MiniFE-1 to LULESH-2", _harder
    ),
    Statement(
        "Figs. 3, 4",
        "repetitions of lt_1, lt_loop, lt_bb, lt_stmt are equal",
        lambda r: within(
            [min(r.run_to_run(n, c) for n in r.comparisons) for c in DETERMINISTIC], 1, 1
        ),
    ),
    Statement(
        "Figs. 3, 4",
        "repetitions of tsc agree by more than 0.9",
        lambda r: within([r.run_to_run(n, PHYSICAL) for n in r.comparisons], 0.9, 1),
    ),
    Statement(
        "Figs. 3, 4", "lt_hwctr repeats less well than tsc, TeaLeaf-2 by 0.67", NO_COUNTER
    ),
    Statement(
        "Fig. 4",
        "lt_bb is best in all of TeaLeaf",
        lambda r: both(*(best(_scores(r, name), "lt_bb") for name in TEALEAF)),
    ),
    Statement(
        "V-C1",
        "MiniFE-1, tsc: computation 60 %T, waiting at N x N 38 %T",
        lambda r: both(
            near(r.of_time("MiniFE-1", PHYSICAL, "comp"), 60),
            near(r.of_time("MiniFE-1", PHYSICAL, WAIT), 38),
        ),
    ),
    Statement(
        "V-C1",
        "MiniFE-1, logical clocks: computation 62 to 68 %T, waiting at N x N 28 to 38 %T",
        lambda r: both(
            within([r.of_time("MiniFE-1", c, "comp") for c in LOGICAL], 62, 68),
            within([r.of_time("MiniFE-1", c, WAIT) for c in LOGICAL], 28, 38),
        ),
    ),
    Statement(
        "V-C1",
        "MiniFE-1: lt_loop shows late senders (6 %T) that tsc does not",
        lambda r: falling(
            [(c, r.of_time("MiniFE-1", c, "mpi_latesender")) for c in ("lt_loop", PHYSICAL)]
        ),
    ),
    Statement(
        "Fig. 5a",
        "MiniFE-1, tsc: the assembly computes more than 50 %M, products with the matrix 37 %M",
        lambda r: both(
            within([r.of_metric("MiniFE-1", PHYSICAL, "comp", *ASSEMBLY)], 50, 100),
            near(r.of_metric("MiniFE-1", PHYSICAL, "comp", "matvec"), 37),
        ),
    ),
    Statement(
        "Fig. 5a",
        "MiniFE-1: lt_1 highlights the assembly, where many short functions are called",
        lambda r: falling(
            [(c, r.of_metric("MiniFE-1", c, "comp", *ASSEMBLY)) for c in ("lt_1", PHYSICAL)]
        ),
    ),
    Statement(
        "Fig. 5a",
        "MiniFE-1: lt_loop overemphasises operations on vectors",
        lambda r: falling(
            [(c, r.of_metric("MiniFE-1", c, "comp", *VECTORS)) for c in ("lt_loop", PHYSICAL)]
        ),
    ),
    Statement(
        "Fig. 5a", "MiniFE-1: lt_bb, lt_stmt, lt_hwctr agree best on who computes", _effective
    ),
    Statement(
        "Fig. 5b",
        "MiniFE-2, tsc: products with the matrix take more than in MiniFE-1 (70 %M to 37 %M), "
        "for threads share what is scarce",
        lambda r: falling(
            [(name, r.of_metric(name, PHYSICAL, "comp", "matvec")) for name in reversed(MINIFE)]
        ),
    ),
    Statement(
        "Fig. 5b",
        "for lt_bb, lt_stmt, lt_hwctr they take as much in MiniFE-2 as in MiniFE-1",
        _same_compute,
    ),
    Statement(
        "Fig. 6a",
        "MiniFE-1, tsc: who waits is make_local_matrix (44 %M), dot (31 %M), "
        "generate_matrix_structure (20 %M)",
        lambda r: _waits_in(r, PHYSICAL),
    ),
    Statement(
        "Fig. 6a",
        "lt_bb, lt_stmt, lt_hwctr tell the same",
        lambda r: both(*(_waits_in(r, c) for c in COUNTED)),
    ),
    Statement(
        "Fig. 7",
        "MiniFE-2, tsc: computation 39 %T, idle threads 58 %T, OpenMP 0.6 %T",
        lambda r: both(
            *(
                near(r.of_time("MiniFE-2", PHYSICAL, metric), published)
                for metric, published in (("comp", 39), (IDLE, 58), ("omp_time", 0.6))
            )
        ),
    ),
    Statement(
        "Fig. 7",
        "MiniFE-2: all clocks show a similar time in MPI",
        lambda r: within(_apart(r, "MiniFE-2", "mpi", LOGICAL), 0, NOISE),
    ),
    Statement(
        "Fig. 7",
        "MiniFE-2: lt_1 sees no effort in worker threads, so all of them are idle",
        lambda r: within([r.of_time("MiniFE-2", "lt_1", IDLE)], 0.9 * 50, 50),
    ),
    Statement(
        "Fig. 7", "MiniFE-2, lt_loop: MPI explains almost all that is idle", _explains_idle
    ),
    Statement(
        "Fig. 7", "MiniFE-2: lt_bb, lt_stmt, lt_hwctr are closer to tsc in this", _idle_as_time
    ),
    Statement(
        "Fig. 8",
        "LULESH-1, tsc: computation 78 %T, MPI 2 %T, OpenMP 7 %T",
        lambda r: both(
            *(
                near(r.of_time("LULESH-1", PHYSICAL, metric), published)
                for metric, published in (("comp", 78), ("mpi", 2), ("omp_time", 7))
            )
        ),
    ),
    Statement(
        "Fig. 8",
        "LULESH-1: lt_1 overestimates the overhead of OpenMP strongly",
        lambda r: falling([(c, _omp_overhead(r, "LULESH-1", c)) for c in ("lt_1", PHYSICAL)]),
    ),
    Statement(
        "Fig. 8",
        "LULESH-1: lt_loop shows neither overhead nor waiting in OpenMP",
        lambda r: within([r.of_time("LULESH-1", "lt_loop", "omp_time")], 0, 1),
    ),
    Statement(
        "Fig. 8",
        "LULESH-1: lt_bb, lt_stmt tell computation, MPI, OpenMP, idle threads as tsc does",
        lambda r: within(
            [
                value
                for metric in ("comp", "mpi", "omp_time", IDLE)
                for value in _apart(r, "LULESH-1", metric, COUNTED[:2])
            ],
            0,
            2 * NOISE,
        ),
    ),
    Statement(
        "Fig. 9a",
        "LULESH-1: lt_stmt tells best who computes, then lt_bb, then lt_loop, then lt_1",
        lambda r: falling([*_scores(r, "LULESH-1", "comp").items()][3::-1], TIE),
    ),
    Statement(
        "Fig. 9b",
        "LULESH-1: lt_loop, lt_bb, lt_stmt blame the update of materials, which is imbalanced",
        lambda r: within([_updates_blamed(r, c) for c in DETERMINISTIC[1:]], 90, 100),
    ),
    Statement(
        "Fig. 9b",
        "LULESH-1: tsc blames CalcForceForNodes, too, which is balanced",
        lambda r: within(
            [r.of_metric("LULESH-1", PHYSICAL, DELAY, "CalcForceForNodes")], 10, 100
        ),
    ),
    Statement(
        "Fig. 9b", "LULESH-1: lt_hwctr blames MPI_Waitall, J_C of delays 0.17", NO_COUNTER
    ),
    Statement(
        "V-C3",
        "LULESH-1, tsc: 89 %M of waiting for messages is in CalcForceForNodes",
        lambda r: near(
            r.of_metric("LULESH-1", PHYSICAL, "mpi_latesender", "CalcForceForNodes"), 89
        ),
    ),
    Statement("V-C4", "LULESH-2, tsc: late senders 3.3 %T, of uneven memory bandwidth", NUMA),
    Statement(
        "V-C4",
        "LULESH-2: lt_1, lt_loop, lt_bb, lt_stmt show no late senders",
        lambda r: within(
            [r.of_time("LULESH-2", c, "mpi_latesender") for c in DETERMINISTIC], 0, 0.5
        ),
    ),
    Statement(
        "V-C5",
        "TeaLeaf-2, tsc: OpenMP 39 %T, of it waiting 11 %T",
        lambda r: both(
            near(r.of_time("TeaLeaf-2", PHYSICAL, "omp_time"), 39),
            near(_barrier_wait(r, "TeaLeaf-2", PHYSICAL), 11),
        ),
    ),
    Statement(
        "V-C5",
        "TeaLeaf-2: lt_bb, lt_stmt, lt_hwctr show overhead of OpenMP below 2 %T",
        lambda r: within([_omp_overhead(r, "TeaLeaf-2", c) for c in COUNTED], 0, 2),
    ),
    Statement(
        "V-C5",
        "TeaLeaf-2: they show waiting at barriers of 2.3 to 2.6 %T, that is little",
        lambda r: within([_barrier_wait(r, "TeaLeaf-2", c) for c in COUNTED], 0, 2.6),
    ),
    Statement(
        "V-C5",
        "tsc: waiting at N x N grows from TeaLeaf-3 (0.4 %T) to TeaLeaf-4 (12 %T)",
        lambda r: falling([(n, r.of_time(n, PHYSICAL, WAIT)) for n in TEALEAF[3:1:-1]]),
    ),
    Statement(
        "V-C5",
        "TeaLeaf-4: lt_bb and lt_stmt show none of it",
        lambda r: within([r.of_time("TeaLeaf-4", c, WAIT) for c in COUNTED[:2]], 0, 1),
    ),
    Statement("V-C5", "TeaLeaf-4: lt_hwctr shows 44 %T of it", NO_COUNTER),
)
