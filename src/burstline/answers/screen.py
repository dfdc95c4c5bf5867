"""What a page says on its first screen: a headline, and questions with their answers.

Each sentence tells one fact, in at most 30 words but for the names in it; numbers are facts,
which a page links to their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from burstline.answers import fitness
from burstline.answers.judged import UNTOLD, doubt, fact_of, fails, is_shared
from burstline.answers.places import (
    by_place,
    is_named,
    is_off,
    place_of,
    short_inside,
    short_text,
)
from burstline.answers.run import (
    FACTORS,
    GOOD,
    MEANINGS,
    NOT_ASKED,
    between,
    in_the_loop,
    leaves_of,
    lines_of,
    longest_loop,
)
from burstline.answers.values import Check, Place, Sentence
from burstline.answers.waits import ABSENT, LITTLE, POINTS_TO, is_of_rank
from burstline.answers.words import (
    Phrase,
    capital,
    counted,
    enumerated,
    phrase,
    sentence,
    share,
    text_of,
    time,
)
from burstline.structure import Loop, LoopTable, Structure
from burstline.summary import Summary
from burstline.timeline import LineTimes
from burstline.values import Documented
from burstline.waits import (
    Largest,
    Waits,
    blame_for,
    costs_of,
    ends_of,
    largest_waits,
    waits_ns,
)

_HALF: Final = (0.45, 0.55)
_LEAST_LOSS: Final = 0.01
_LOW: Final = 0.8  # a second factor below is told, too
_CHANCE: Final = 0.05
_LEAST_PLACE: Final = 0.001  # of the waiting: places that cause less are not listed
_KINDS: Final = {
    "not_recorded": "{share} of all {time} time was not recorded.",
    "ends": "MPI_Init and MPI_Finalize take {share} of all {time} time.",
    "idle": "Idle threads take {share} of all {time} time.",
    "threads": "Threads that wait for each other take {share} of all {time} time.",
    "openmp": "OpenMP itself takes {share} of all {time} time.",
    "io": "Files take {share} of all {time} time.",
}
"""Losses that are at no line of MPI, by kind of time."""
_IN_MPI: Final = (
    "transfer", "other_mpi", "blocked", "collective", "late_receiver", "late_sender"
)  # fmt: skip
_FOR: Final = {
    "mpi_latesender": "for late senders",
    "mpi_latereceiver": "for late receivers",
    "mpi_earlyreduce": "of the root of a reduction for the last rank",
    "mpi_earlyscan": "for ranks before",
    "mpi_latebroadcast": "for a late root",
    "mpi_wait_nxn": "for the last rank of a collective",
    "mpi_barrier_wait": "for the last rank of a barrier",
    "omp_ebarrier_wait": "for the last thread of a barrier",
    "omp_ibarrier_wait": "for the last thread of a region",
    "omp_lock_contention_critical": "for a critical region",
    "omp_lock_contention_api": "for a lock",
    "omp_idle_threads": "of idle threads",
}
"""How each wait is told behind its time."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Results on a run that its first screen is about; None for what is not known."""

    summary: Summary
    checks: tuple[Check, ...]
    structure: Structure | None = None
    waits: Waits | None = None
    steps: LoopTable | None = None
    lines: LineTimes | None = None
    # why results are not known, by their names
    missing: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, name: str) -> str:
        """Why a result is not known, as the end of a sentence."""
        return self.missing.get(name, NOT_ASKED).rstrip(".")

    @property
    def unit(self) -> str:
        """Whose time is the whole."""
        return "rank" if self.summary.locations == self.summary.ranks else "thread"


@dataclass(frozen=True, slots=True)
class Answer(Documented):
    """A question of the first screen, its answer, and what is told beside in small."""

    name: str
    question: str
    sentences: tuple[Sentence, ...]
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """A check as it stands below the answers: what was found, and its bound."""

    check: Check
    name: str
    found: Phrase
    bound: Phrase

    @property
    def remedy(self) -> str:
        """What helps, if it does not hold; else nothing."""
        return "" if self.check.passed else self.check.remedy


@dataclass(frozen=True, slots=True)
class Overview:
    """The first screen in words."""

    headline: tuple[Sentence, ...]
    answers: tuple[Answer, ...]
    trust: tuple[Trust, ...]


def overview(known: Known) -> Overview:
    """The largest loss, the answers to five questions, and what makes them trustworthy."""
    answers = (_time_step(known), _efficiency(known), _waits(known), _cause(known))
    return Overview(
        (*_headline(known),),
        (*(each for each in answers if each is not None), _advice(known)),
        (*map(_trust, known.checks),),
    )


def _headline(known: Known) -> Iterator[Sentence]:
    """Who is to blame, the largest loss and where it is, then the share of computing."""
    name, lines = "headline", known.lines
    if failed := fitness.failed_of(known.checks):
        said = enumerated(*(Phrase(_CARE[each.name]) for each in failed))
        yield sentence(name, "Judge this run with care: {said}.", said=said)
    if not _waits_little(known):
        yield from _blamed(known, name, "Rank {rank} causes {share} of the waiting, {briefly}.")
    if lines is None or not lines.whole_ns:
        if (efficiency := known.summary.efficiency).parallel is None:
            yield Sentence(name, f"No efficiency can be told: {efficiency.reason}.")
            return
        computing = share("computing", efficiency.parallel)
        yield sentence(name, "Ranks compute for {computing} of the time.", computing=computing)
        why = known.why_not("lines") if lines is None else "no time passes in MPI"
        yield Sentence(name, f"Where the rest goes is not known: {why}.")
        return
    whole = lines.whole_ns
    losses = [(value, kind) for kind, value in lines.kinds.items() if kind in _KINDS]
    largest, kind = max(losses, default=(0, ""))
    place = next(iter(lines.places), None)
    of_place = 0 if place is None else place.time_ns
    in_mpi = sum(lines.kinds.get(kind, 0) for kind in _IN_MPI)
    if known.structure is None and in_mpi >= largest:
        mpi, why = share("MPI", in_mpi / whole), known.why_not("structure")
        yield sentence(name, "MPI takes {mpi} of all {time} time.", mpi=mpi, time=known.unit)
        yield Sentence(name, f"At which lines is not known: {why}.")
    elif max(largest, of_place) / whole < _LEAST_LOSS:
        yield Sentence(name, f"No line of MPI takes 1 % of all {known.unit} time.")
    elif place is None or largest > of_place:
        loss = share(kind, largest / whole)
        yield sentence(name, _KINDS[kind], share=loss, time=known.unit)
    else:
        there = Place(None, place.function, place.file, place.line)
        loss = share("largest loss", of_place / whole, there)
        where = "" if place.line is None else f" at {place.file}:{place.line}"
        yield sentence(
            name,
            "{half}{operation}{where} takes {share} of all {time} time.",
            half=_half(of_place / whole) if where else "",
            operation=place.operation,
            where=where,
            share=loss,
            time=known.unit,
        )
    computing = share("computing", lines.kinds["computing"] / whole)
    yield sentence(name, "Computing takes {computing}.", computing=computing)


def _half(part: float) -> str:
    """How a headline begins where one line takes most of a run."""
    if part < _HALF[0]:
        return ""
    return f"{'Half' if part < _HALF[1] else 'Most'} of this run is one line: "


def _time_step(known: Known) -> Answer:
    """What a time step takes, how that varies, and where it is."""
    name, question, structure = "time step", "Time step", known.structure
    if structure is None:
        why = known.why_not("structure")
        return Answer(name, question, (Sentence(name, f"It is not known: {why}."),))
    loop = longest_loop(structure)
    if loop is None:
        said = "No loop was found in the calls of MPI, so there is no time step."
        return Answer(name, question, (Sentence(name, said),))
    where, place = lines_of(loop)
    answer = sentence(
        name,
        "A step takes {mean}; {count} {are} {inside} of the {length} {between}.",
        mean=time("mean step", loop.mean_ns, place),
        count=counted(loop.total_iterations, "step", place),
        are="is" if loop.total_iterations == 1 else "are",
        inside=in_the_loop(known.summary, structure, loop, place),
        length=time("baseline", known.summary.baseline.length_ns),
        between=between(known.summary),
    )
    notes = [*_spread(known.steps, loop)]
    lines = f", {where.strip(' ,')}" if where else ""
    notes.append(Sentence(name, f"It is loop {loop.id} of {len(structure.loops)}{lines}."))
    if structure.fidelity < GOOD:
        fidelity = share("fidelity", structure.fidelity)
        doubt = "Only {fidelity} of the calls come out of the loops in their order."
        notes.append(sentence(name, doubt, fidelity=fidelity))
    return Answer(name, question, (answer,), tuple(notes))


def _spread(steps: LoopTable | None, loop: Loop) -> Iterator[Sentence]:
    """From the shortest to the longest step, and whether they drift."""
    if steps is None or steps.loop != loop.id:
        return
    by_iteration = steps.by_iteration(counted=True)
    mean, trend = by_iteration["mean_ns"], steps.summary().trend
    if len(mean) < 2:
        return
    drift = Phrase("")
    if trend is not None:
        drift = Phrase(", without a trend beyond chance")
        if trend.p_value <= _CHANCE:
            drift = phrase(
                ", each {slope} {longer} than the one before in the median",
                slope=time("drift", abs(trend.slope)),
                longer="longer" if trend.slope > 0 else "shorter",
            )
    low = time("shortest step", float(mean.min()))
    high = time("longest step", float(mean.max()))
    said = "Steps last {low} to {high}{drift}."
    if text_of(low) == text_of(high):
        said = "All steps last {low}."
    yield sentence("time step", said, low=low, high=high, drift=drift)


def _efficiency(known: Known) -> Answer:
    """The parallel efficiency, its worst factor, and the second if it is low, too."""
    name, question = "efficiency", "Efficiency"
    summary = known.summary
    if summary.efficiency.parallel is None:
        said = f"There is no parallel efficiency: {summary.efficiency.reason}."
        return Answer(name, question, (Sentence(name, said),))
    parallel, factors = leaves_of(summary, known.waits)
    worst, *others = sorted(factors, key=lambda each: factors[each])
    whole = sentence(
        name, "Parallel efficiency is {whole}.", whole=share("parallel efficiency", parallel)
    )

    def told(factor: str, text: str) -> Sentence:
        value, meaning = share(FACTORS[factor], factors[factor]), _meaning(factor, known)
        return sentence(name, text, name=FACTORS[factor], value=value, meaning=meaning)

    if factors[worst] >= GOOD:
        lowest = told(worst, "No factor hurts: the lowest is {name} with {value}.")
        return Answer(name, question, (whole, lowest))
    lowest = told(worst, "The worst factor is {name}, {value}: {meaning}.")
    notes = [
        told(each, capital(FACTORS[each]) + " is {value}: {meaning}.")
        for each in others[:1]
        if factors[each] < _LOW
    ]
    return Answer(name, question, (whole, lowest), tuple(notes))


def _meaning(factor: str, known: Known) -> Phrase:
    """What a factor says of this run, in its times."""
    efficiency = known.summary.efficiency
    useful, runtime = efficiency.useful_ns, efficiency.runtime_ns
    (_, rank), most = efficiency.busiest
    busiest = time("computing", most, Place(rank))
    if factor == "load_balance" and len(useful) > 1:
        mean = time("mean computing", sum(useful) / len(useful))
        text = "rank {rank} computes {most}, the mean is {mean}"
        return phrase(text, rank=str(rank), most=busiest, mean=mean)
    ideal = None if known.waits is None else known.waits.efficiency.get("transfer")
    if factor == "transfer" and ideal is not None:
        return phrase(
            "if calls of MPI cost nothing, the run would take {ideal} instead of {runtime}",
            ideal=time("without transfer", ideal * runtime),
            runtime=time("runtime", runtime),
        )
    if factor == "communication":
        text = "rank {rank} computes {most} of {runtime}, no other more"
        return phrase(text, rank=str(rank), most=busiest, runtime=time("runtime", runtime))
    return Phrase(MEANINGS[factor])


def _waits(known: Known) -> Answer:
    """How long ranks wait, for whom, where, and which ranks do."""
    name, question, waits = "waits", "Who waits for whom, and where", known.waits
    if waits is None:
        why = known.why_not("waits")
        return Answer(name, question, (Sentence(name, f"It is not known: {why}."),))
    whole, left_out = known.summary.baseline.whole_ns, ends_of(waits.profile)
    every = waits_ns(waits, left_out)
    if not every or not whole:
        said = "No thread was seen to wait between MPI_Init and MPI_Finalize."
        return Answer(name, question, (Sentence(name, said),))
    total = sentence(
        name,
        "Known waits are {every}, {share} of all {unit} time.",
        every=time("waiting", every),
        share=share("waiting", every / whole),
        unit=known.unit,
    )
    largest = largest_waits(waits)
    worst = [
        sentence(
            name,
            "{cost} are {why}, {most} in {where}.",
            cost=time(each.metric, each.cost_ns, place_of(waits, place)),
            why=_FOR.get(each.metric, each.metric),
            most="most" if there > each.cost_ns / 2 else "above all",
            where=short_text(waits, place),
        )
        for each in largest[:2]
        for place, there in _places(waits, each)[:1]
        if each is largest[0] or each.cost_ns / whole >= _LEAST_LOSS
    ]
    return Answer(name, question, (total, *worst), (*_ranks(waits),))


def _places(waits: Waits, wait: Largest) -> list[tuple[int, float]]:
    """Where ranks wait in one way, those places first where they wait longest."""
    values = waits.profile.exclusive(wait.metric).sum(axis=1)
    return by_place(waits, np.where(wait.left_out, 0, values).tolist())


def _ranks(waits: Waits) -> Iterator[Sentence]:
    """Who is waited for most, and who waits longest."""
    delays = waits.delays
    if not delays.num_rows:
        return
    late, waiting, times = (delays[each].to_numpy() for each in ("from", "to", "wait_ns"))
    causes, suffers = (np.bincount(each, times) for each in (late, waiting))
    most, longest = int(causes.argmax()), int(suffers.argmax())
    yield sentence(
        "waits",
        "Rank {late} is waited for most, {caused}; rank {waiting} waits longest, {suffered}.",
        late=str(most),
        caused=time("caused by the rank", causes[most], Place(most)),
        waiting=str(longest),
        suffered=time("waited by the rank", suffers[longest], Place(longest)),
    )


def _waits_little(known: Known) -> bool:
    """Whether ranks wait so little that no cause is looked for, as far as is known."""
    waits, whole = known.waits, known.summary.baseline.whole_ns
    if waits is None or not whole:
        return True
    return waits_ns(waits, ends_of(waits.profile)) / whole < LITTLE


def _cause(known: Known) -> Answer | None:
    """What those did that others waited for, and on which rank."""
    name, question, waits = "cause", "Why they come late", known.waits
    if waits is None or _waits_little(known):
        return None
    costs = costs_of(waits)
    if is_shared(known.checks) and not is_of_rank(waits, costs):
        return Answer(name, question, (Sentence(name, f"{capital(UNTOLD)}."),))
    if costs is None:
        said = Sentence(name, "The trace does not tell what late ranks did.")
        return Answer(name, question, (said,))
    [(place, there), *_] = by_place(
        waits, (costs.computing + costs.in_mpi).sum(axis=1).tolist()
    )
    blame = blame_for(waits, costs)
    first = sentence(
        name,
        "In {share} of that time, the late rank was {where}.",
        share=share("caused there", there / costs.whole, place_of(waits, place)),
        where=short_inside(waits, place),
    )
    answer = [first]
    if costs.in_mpi[place].any():
        answer.append(Sentence(name, "Why it stayed there, the trace does not tell."))
    if is_off(waits, place):
        answer.append(Sentence(name, f"{capital(ABSENT)}."))
    of_mpi = share("caused in MPI", costs.of_mpi)
    notes = [sentence(name, "Calls of MPI that wait for nobody cause {all}.", all=of_mpi)]
    if blame.of_rank >= _LEAST_LOSS:
        stands_out = "Rank {rank} causes {share} by computing longer than the others."
        if is_off(waits, blame.place, blame.rank):
            stands_out = "Rank {rank} causes {share}, mostly off the processor."
        by_turns = "By computing, no rank stands out: rank {rank} causes most, {share}."
        notes = [] if costs.of_mpi < _LEAST_LOSS else notes
        notes.append(
            sentence(
                name,
                stands_out if blame.stands_out else by_turns,
                rank=str(blame.rank),
                share=share("caused by the rank", blame.of_rank, Place(blame.rank)),
            )
        )
    if doubted := doubt(known.checks):
        notes.append(Sentence(name, doubted))
    return Answer(name, question, tuple(answer), tuple(notes))


def _advice(known: Known) -> Answer:
    """What to do first, and why: what spoils the trace goes before any tuning."""
    name, question = "advice", "What to do"
    failed = fitness.failed_of(known.checks)
    if failed and failed[0].name != fitness.CALLERS_KNOWN:
        answer = Sentence(name, f"{capital(failed[0].remedy)}.")
        return Answer(name, question, (answer, _evidence(failed[0])), tuple(_then(known)))
    said = tuple(_tuning(known))
    if failed:
        note = Sentence(name, f"To see source lines, {failed[0].remedy}.")
        return Answer(name, question, said, (note,))
    return Answer(name, question, said)


def _then(known: Known) -> Iterator[Sentence]:
    """What would be next, if the trace were fit to judge the run by."""
    if known.summary.efficiency.parallel is None:
        return
    first, *_ = _tuning(known)
    said = first.sentence
    if is_shared(known.checks) and said == capital(POINTS_TO):
        said = "Look at the network and at how much is sent how often."
    yield Sentence("advice", f"Only then: {said[:1].lower()}{said[1:]}", first.facts)


def _evidence(check: Check) -> Sentence:
    """Why a check asks for something."""
    if check.name == fitness.PROCESSORS_ALONE:
        on = share("on a processor", check.figure or 0)
        text = "Ranks were on one for {on} of their computing, so they probably shared it."
        if check.inferred:
            text = "Threads may use only {on} of one each, so they probably shared it."
        return sentence("advice", text, on=on)
    said = fails(check)
    return Sentence("advice", f"{capital(said.text)}.", said.facts)


def _tuning(known: Known) -> Iterator[Sentence]:
    """What to look at, by the worst factor of the efficiency and by who causes waits."""
    name, summary, waits = "advice", known.summary, known.waits
    if summary.efficiency.parallel is None:
        yield Sentence(name, "Look at what computes: the page lists it below.")
        return
    parallel, factors = leaves_of(summary, waits)
    worst = min(factors, key=lambda each: factors[each])
    if factors[worst] >= GOOD:
        left = share("not computing", 1 - parallel)
        text = "Look at what ranks compute: all else costs {left} of the time."
        yield sentence(name, text, left=left)
        return
    if worst == "transfer":
        yield Sentence(name, capital(POINTS_TO))
        return
    look = "Look first at rank {rank}, which causes {share} of the waiting, {where}."
    if blamed := [*_blamed(known, name, look)]:
        yield from blamed
        return
    if worst in ("load_balance", "mpi_load_balance"):
        meaning = _meaning(worst, known)
        yield sentence(name, "Spread the work evenly: {meaning}.", meaning=meaning)
        return
    yield Sentence(name, f"{_ADVICE[worst]}.")


_ADVICE: Final = {
    "serialisation": "Look at who waits for whom: ranks wait in turn",
    "communication": "Look at the calls of MPI that take most time",
    "openmp_load_balance": "Spread the work of parallel regions evenly over their threads",
    "openmp_communication": "Look at what threads do outside of parallel regions",
}


def _blamed(known: Known, name: str, text: str) -> Iterator[Sentence]:
    """The one rank that does something longer than the others, and where, if there is one."""
    waits = known.waits
    costs = None if waits is None else costs_of(waits)
    if waits is None or costs is None or costs.of_mpi > 1 / 2:
        return
    if is_shared(known.checks) and not is_of_rank(waits, costs):
        return
    blame = blame_for(waits, costs)
    if blame.stands_out:
        of_rank, place = blame.of_rank, place_of(waits, blame.place, blame.rank)
        where = short_inside(waits, blame.place, blame.rank)
        is_known = is_named(waits, blame.place, blame.rank)
        yield sentence(
            name,
            text,
            rank=str(blame.rank),
            share=share("caused by the rank", of_rank, place),
            where=where,
            briefly=where if is_known else "computing longer than the others",
        )


def _trust(check: Check) -> Trust:
    """A check in a few words."""
    bound = "at most {bound}" if check.name in fitness.AT_MOST else "at least {bound}"
    name, figure = check.name, Phrase("")
    if check.figure is not None:
        figure = phrase("{value}", value=fact_of(check, check.name, check.figure))
    if check.passed is False:
        # It fails by what something else may look like, too.
        is_probable = check.inferred or check.name == fitness.PROCESSORS_ALONE
        name = _FAILED[check.name] + ", probably" * is_probable
    elif check.passed is None:
        name = f"{check.name}: not known"
    least = fact_of(check, "bound", check.bound)
    return Trust(check, capital(name), figure, phrase(bound, bound=least))


_FAILED: Final = {
    fitness.LONG_ENOUGH: "short",
    fitness.REPEATED: "little repeats",
    fitness.PROCESSORS_ALONE: "processors shared",
    fitness.CALLERS_KNOWN: "callers unknown",
    fitness.CHEAP: "recorded at much cost",
    fitness.NOTHING_DROPPED: "something dropped",
    fitness.CLOCKS_IN_ORDER: "clocks disagree",
    fitness.OPENMP_SEEN: "OpenMP unseen",
}
_CARE: Final = {
    fitness.LONG_ENOUGH: "it is short",
    fitness.REPEATED: "little repeats in it",
    fitness.PROCESSORS_ALONE: "processors were probably shared",
    fitness.CALLERS_KNOWN: "callers are unknown",
    fitness.CHEAP: "recording took long",
    fitness.NOTHING_DROPPED: "something is missing",
    fitness.CLOCKS_IN_ORDER: "clocks disagree",
    fitness.OPENMP_SEEN: "threads ran unseen",
}


def place_shares(waits: Waits, values: Sequence[float], most: int) -> list[tuple[str, float]]:
    """The places with most of something, in a few words, each with its share."""
    whole = max(sum(values), 1)
    shares = ((row, value / whole) for row, value in by_place(waits, values)[:most])
    return [(short_text(waits, row), part) for row, part in shares if part >= _LEAST_PLACE]
