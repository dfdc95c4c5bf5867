"""The verdict on a run: at most five sentences, the order of the questions that one has.

Shares of time are of one baseline, ``Summary.baseline``: from the first end of
MPI_Init to the last begin of MPI_Finalize, once for each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from burstline.answers.fitness import checks, failed_of
from burstline.answers.judged import UNTOLD, doubt, is_shared, judged
from burstline.answers.places import absent_text, inside_text, is_off, place_of, place_text
from burstline.answers.values import Check, Fact, Place, Sentence
from burstline.answers.waits import (
    ABSENT,
    LITTLE,
    blames,
    is_of_rank,
    not_understood,
    shares_of,
    titled,
    together,
)
from burstline.answers.words import (
    NOTHING,
    Phrase,
    capital,
    counted,
    joined,
    phrase,
    sentence,
    share,
    time,
)
from burstline.identity import Path
from burstline.structure import Call, Loop, Structure, walk
from burstline.summary import Summary
from burstline.waits import (
    Largest,
    Waits,
    blame_for,
    costs_of,
    ends_of,
    keeper,
    largest_waits,
    transfer_ns,
    waits_ns,
)

NOT_ASKED: Final = "it was not looked for"
_ASKED: Final = ("structure", "waits")
_MOST_WAITS: Final = 2
_LEAST_WAIT: Final = 0.01  # of the baseline: a second wait below is not told
GOOD: Final = 0.95  # a factor above costs nothing worth a look
_LEAST_FIDELITY: Final = 0.9
_LEAST_UNSEEN: Final = 0.0005  # of the baseline: less would be printed as 0.0 %
_MOST_REASONS: Final = 2
_IDLE: Final = "omp_idle_threads"
_HELD: Final = ("file", "function")
_CAUSES: Final = "rank {rank} causes {of_rank}, above all {where} ({of_place})"
FACTORS: Final = {
    "load_balance": "load balance",
    "mpi_load_balance": "load balance of processes",
    "serialisation": "serialisation",
    "transfer": "transfer",
    "communication": "communication",
    "openmp_load_balance": "load balance of threads",
    "openmp_communication": "communication of threads",
}
MEANINGS: Final = {
    "load_balance": "ranks compute for different times",
    "mpi_load_balance": "processes compute for different times",
    "serialisation": "ranks wait for each other in turn",
    "transfer": "messages and collectives take time",
    "communication": "ranks spend time in MPI",
    "openmp_load_balance": "threads compute for different times",
    "openmp_communication": "threads idle, or wait for each other",
}


def verdict_on_run(
    summary: Summary,
    structure: Structure | None = None,
    waits: Waits | None = None,
    *,
    missing: Mapping[str, str] | None = None,
) -> tuple[Sentence, ...]:
    """What there is to say of a run first, in at most five sentences.

    Parameters
    ----------
    summary : Summary
        Of the trace.
    structure : Structure, optional
        Of the same trace: it tells the time step.
    waits : Waits, optional
        Of the same trace, by the physical clock.
    missing : mapping of str to str, optional
        Why ``structure`` or ``waits`` is not given, as a sentence.

    Returns
    -------
    tuple of Sentence
        Questions are ``judged`` (whether the run may be judged by its trace), ``time step``,
        ``efficiency``, ``waits`` (where it names a rank as a cause, before all but what does
        not hold of the run) and ``not recorded``.

    Notes
    -----
    A rank is named as a cause only where it takes longer than others throughout, and a function
    only where the trace tells it. Linear in call paths times locations.

    Examples
    --------
    >>> from burstline import summarise
    >>> from burstline.testing import trace_of
    >>> trace = trace_of("ranks 1 | 0 | 0 enter MPI_Init | 9 leave")
    >>> [each.question for each in verdict_on_run(summarise(trace))]
    ['judged', 'time step', 'efficiency', 'waits', 'not recorded']
    """
    no_loops, no_waits = ((missing or {}).get(name, NOT_ASKED).rstrip(".") for name in _ASKED)
    checked = checks(summary, structure, waits)
    who = _waits(summary, waits, no_waits, checked)
    step, factors = _time_step(summary, structure, no_loops), _efficiency(summary, waits)
    told = [judged(checked), step, factors, _not_recorded(summary, waits)]
    place = bool(failed_of(checked)) if blames(who) else 3
    return (*told[:place], who, *told[place:])


def between(summary: Summary) -> str:
    """What time the baseline is, behind its length: that of a part has no ends of a run."""
    is_whole = "MPI_Finalize" in summary.calls
    return "from MPI_Init to MPI_Finalize" if is_whole else "that were looked at"


def _time_step(summary: Summary, structure: Structure | None, because: str) -> Sentence:
    """The loop that spans most, where it is, and what an iteration of it costs."""
    question = "time step"
    if structure is None:
        return Sentence(question, f"The time step is not known: {because}.")
    loop = longest_loop(structure)
    if loop is None:
        return Sentence(question, "No loop was found in the calls of MPI, so no time step.")
    where, place = lines_of(loop)
    doubt = NOTHING
    if structure.fidelity < _LEAST_FIDELITY:
        doubt = phrase(
            " But the loops that were found make only {fidelity} of the calls in their order.",
            fidelity=share("fidelity", structure.fidelity),
        )
    return sentence(
        question,
        "Loop {loop}{where} takes {mean} an iteration on average; {iterations} are {share} of "
        "the {length} {between}.{doubt}",
        loop=str(loop.id),
        where=where,
        mean=time("mean iteration", loop.mean_ns, place),
        iterations=counted(loop.total_iterations, "iteration", place),
        share=in_the_loop(summary, structure, loop, place),
        length=time("baseline", summary.baseline.length_ns),
        between=between(summary),
        doubt=doubt,
    )


def in_the_loop(
    summary: Summary, structure: Structure, loop: Loop, place: Place | None
) -> Fact:
    """The share of the time of all ranks that they are in a loop."""
    ranks = len(summary.efficiency.ranks) or len(structure.ranks)
    whole_ns = max(summary.baseline.length_ns * ranks, 1)
    return share("in the loop", min(float(loop.inside_ns.sum()) / whole_ns, 1.0), place)


def longest_loop(structure: Structure) -> Loop | None:
    """The outermost loop that takes most time; None without loops."""
    outermost = (loop for loop in structure.loops if loop.parent is None)
    return max(outermost, key=lambda loop: float(loop.inside_ns.sum()), default=None)


def lines_of(loop: Loop) -> tuple[str, Place | None]:
    """The lines of a loop: of the function that holds it, else of its first and last call."""
    paths = [item.path for item, _ in walk(loop.items) if isinstance(item, Call) and item.path]
    if not paths:
        return "", None
    if (held := _held_by(paths)) is not None:
        first, last, place = held
        lines = f"{place.file}:{first}" + f" to {last}" * (last != first)
        return f", {lines}" + f" in {place.function}" * bool(place.function) + ",", place
    ends = [each[-1] for each in (paths[0], paths[-1])]
    place = Place(None, None, ends[0].file, ends[0].line)
    if None in (ends[0].file, ends[0].line, ends[1].file, ends[1].line):
        return "", None
    return f", {ends[0].file}:{ends[0].line} to {ends[1].file}:{ends[1].line},", place


def _held_by(paths: list[Path]) -> tuple[int, int, Place] | None:
    """The first and last line of one file where paths part; None if there is none."""
    steps, ends = zip(*paths, strict=False), tuple(path[-1] for path in paths)
    parting = next((frames for frames in steps if len(set(frames)) > 1), ends)
    files, functions = ({getattr(each, name) for each in parting} for name in _HELD)
    lines = sorted(each.line for each in parting if each.line is not None)
    if len(files) > 1 or not lines or parting[0].file is None:
        return None
    function = parting[0].function if len(functions) == 1 else None
    return lines[0], lines[-1], Place(None, function, parting[0].file, lines[0])


def leaves_of(summary: Summary, waits: Waits | None) -> tuple[float, dict[str, float]]:
    """The parallel efficiency, which has to be defined, and its factors that have no parts."""
    own = summary.efficiency
    factors = {name: value for name, value in own.factors.items() if value is not None}
    if waits is not None and waits.unit == "ns" and own.span != "trace":
        of_waits = waits.efficiency.items()
        factors |= {name: value for name, value in of_waits if value is not None}
    parallel = factors["parallel"]
    leaves = ["load_balance", "serialisation", "transfer"]
    if "hybrid" in factors:
        parallel = factors["hybrid"]
        of_threads = ["openmp_load_balance", "openmp_communication"]
        leaves = ["mpi_load_balance", *leaves[1:], *of_threads]
    if not {"serialisation", "transfer"} <= factors.keys():
        leaves.append("communication")
    return parallel, {name: factors[name] for name in leaves if name in factors}


def _efficiency(summary: Summary, waits: Waits | None) -> Sentence:
    """The parallel efficiency, and the factor that hurts most."""
    question, own = "efficiency", summary.efficiency
    if own.parallel is None:
        return Sentence(question, f"There is no parallel efficiency: {own.reason}.")
    parallel, known = leaves_of(summary, waits)
    worst = min(known, key=lambda name: known[name])
    said = "; {name} hurts most with {value}: {meaning}."
    if known[worst] >= GOOD:
        said = ": no factor hurts, the lowest is {name} with {value}."
    return sentence(
        question,
        "Parallel efficiency is {whole}" + said,
        whole=share("parallel efficiency", parallel),
        name=FACTORS[worst],
        value=share(FACTORS[worst], known[worst]),
        meaning=_meaning(worst, summary),
    )


def _meaning(factor: str, summary: Summary) -> Phrase:
    """What a factor tells, of load balance with the rank that computes most."""
    useful = summary.efficiency.useful_ns
    if factor != "load_balance" or len(useful) < 2:
        return Phrase(MEANINGS[factor])
    (_, rank), most = summary.efficiency.busiest
    return phrase(
        "rank {rank} computes for {most}, the mean is {mean}",
        rank=str(rank),
        most=time("computing", most, Place(rank)),
        mean=time("mean computing", sum(useful) / len(useful)),
    )


def _waits(
    summary: Summary, waits: Waits | None, because: str, checked: tuple[Check, ...]
) -> Sentence:
    """The two worst waits, where they are, and who causes them."""
    question, whole = "waits", summary.baseline.whole_ns
    if waits is None:
        return Sentence(question, f"Who waits for whom is not known: {because}.")
    if waits.unit != "ns" or not whole:
        reason = "the clock is a logical one" if whole else "no time passes in MPI's part"
        return Sentence(question, f"Waits have no share of the time, because {reason}.")
    told = list(_worst(waits, whole, checked))
    if not told:
        left_out = ends_of(waits.profile)
        every = waits_ns(waits, left_out) / whole
        if every < _LEAST_UNSEEN:
            return Sentence(question, "No thread was seen to wait between Init and Finalize.")
        return sentence(
            question,
            "Threads wait for {every} of the time: too little to look for a cause.",
            every=share("waiting", every),
        )
    if not any(UNTOLD in each.text for each in told):
        told.append(Phrase(doubt(checked)))
    return Sentence(question, *joined(" ", *told))


def _worst(waits: Waits, whole: int, checked: tuple[Check, ...]) -> Iterator[Phrase]:
    """The worst waits, transfer as one of them; none if all waits are little."""
    transfer, largest = transfer_ns(waits), largest_waits(waits)
    if transfer is None and waits_ns(waits, ends_of(waits.profile)) / whole < LITTLE:
        return
    if transfer is not None:
        place = int(transfer.argmax())
        yield phrase(
            "MPI takes {transfer} of the time without waiting for anybody, most of it{where}: "
            "no rank is to blame.",
            transfer=share("transfer", transfer.sum() / whole, place_of(waits, place)),
            where=f" {inside_text(waits, place)}",
        )
    left = _MOST_WAITS - (transfer is not None)
    # Those in MPI_Init and MPI_Finalize alone no program can change.
    kept, exclusive = ~ends_of(waits.profile), waits.profile.exclusive
    changeable = [each for each in largest if exclusive(each.metric)[kept].any()]
    for number, wait in enumerate(changeable[:left]):
        least = _LEAST_WAIT if number or transfer is not None else 0
        if wait.cost_ns / whole >= least:
            yield _wait(waits, wait, whole, checked)


def _wait(waits: Waits, wait: Largest, whole: int, checked: tuple[Check, ...]) -> Phrase:
    """What a kind of wait costs, where most of it is, and who causes it."""
    title, _ = titled(waits, wait.metric)
    [(place, there), *_] = waits.top_call_paths(wait.metric, 1, wait.left_out)
    who = "while first threads are " if wait.metric == _IDLE else ""
    return phrase(
        "{title} {takes} {cost} of the time, {there} of it {who}{where}: {cause}.",
        title=title,
        takes="take" if title.endswith("s") else "takes",
        cost=share(title, wait.cost_ns / whole),
        there=share("of the wait", there / wait.cost_ns, place_of(waits, place)),
        who=who,
        where=inside_text(waits, place),
        cause=_cause(waits, wait, checked),
    )


def _cause(waits: Waits, wait: Largest, checked: tuple[Check, ...]) -> Phrase:
    """Who causes most of a wait, and where, in a few words."""
    if wait.metric == _IDLE:  # as the program has it, whatever threads share
        if (found := keeper(waits.profile, wait.left_out)) is None:
            return Phrase("its cause is not known")
        where = inside_text(waits, found.place)
        return phrase(_CAUSES, where=where, **shares_of(waits, found, found.rank))
    costs = costs_of(waits, wait)
    if is_shared(checked) and not is_of_rank(waits, costs):
        return Phrase(UNTOLD)
    if costs is None:
        return Phrase("its cause is not known")
    if costs.of_mpi > 1 / 2:
        place, of_place = costs.largest_in_mpi()
        return phrase(
            "calls of MPI that wait for nobody cause {of_mpi}, above all {where} ({of_place}), "
            "so no rank is to blame",
            of_mpi=share("caused in MPI", costs.of_mpi),
            where=place_text(waits, place),
            of_place=share("caused there", of_place, place_of(waits, place)),
        )
    blame = blame_for(waits, costs)
    rank = blame.rank if blame.stands_out else None
    parts = shares_of(waits, blame, rank) | {"where": inside_text(waits, blame.place, rank)}
    text = (
        "no rank stands out (rank {rank} causes most, {of_rank}); ranks take longer by turns, "
        "above all {where} ({of_place})"
    )
    if blame.stands_out:
        text = _CAUSES
        if is_off(waits, blame.place, rank):
            parts["where"] = absent_text(waits, blame.place, rank)
            text += f", where {ABSENT}"
    return joined("; ", phrase(text, **parts), together(waits, blame))


def _not_recorded(summary: Summary, waits: Waits | None) -> Sentence:
    """What the trace lacks: time, sides of messages, callers, and what nobody can compute."""
    question = "not recorded"
    parts = [*_missing(summary)]
    if waits is not None:
        parts += [Phrase(each.sentence, each.facts) for each in not_understood(waits)]
        reasons = waits.coverage["not_computable"]
        parts += [Phrase(f"{capital(row['reason'])}.") for row in reasons[:_MOST_REASONS]]
    if not parts:
        return Sentence(question, "Nothing that these sentences need is missing.")
    return Sentence(question, *joined(" ", *parts))


def _missing(summary: Summary) -> Iterator[Phrase]:
    unseen = sum(parts.not_recorded_ns for parts in summary.rank_parts)
    whole = summary.baseline.whole_ns
    if whole and unseen / whole >= _LEAST_UNSEEN:
        yield phrase(
            "{unseen} of all threads, {of_whole} of the time, was not recorded.",
            unseen=time("not recorded", unseen),
            of_whole=share("not recorded", unseen / whole),
        )
    if lost := summary.messages - summary.matched_messages:
        yield phrase(
            "{lost} lack the calls that sent or received them.", lost=counted(lost, "message")
        )
    if summary.calls and not summary.calls_with_path:
        yield Phrase("Callers of MPI were not recorded, so no line is known.")
