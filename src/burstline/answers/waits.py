"""Where a program waits and who causes it, in a few sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from burstline.answers.judged import UNTOLD, doubt, is_shared, of_clock, with_care
from burstline.answers.places import (
    absent_text,
    inside_text,
    is_named,
    is_off,
    place_of,
    place_text,
)
from burstline.answers.values import Check, Fact, Place, Sentence
from burstline.answers.words import (
    NOTHING,
    Phrase,
    capital,
    counted,
    enumerated,
    joined,
    phrase,
    sentence,
    share,
)
from burstline.waits import (
    MUCH_UNDERSTOOD,
    Blame,
    Costs,
    Keeper,
    Keeping,
    Largest,
    Waits,
    blame_for,
    costs_of,
    ends_of,
    keeper,
    largest_wait,
    slow_together,
    transfer_ns,
    waits_in_mpi_ns,
    waits_ns,
    works_longer,
)

LITTLE: Final = 0.05
"""Of the time: waits of which no cause is named, as noise makes them."""
_LEAST_LEFT_OUT: Final = 0.0005  # of the time: less would be printed as 0.0 %
_IDLE: Final = "omp_idle_threads"
_MUCH_COMPUTED: Final = 0.2
"""Of what causes a wait mostly caused in MPI: computing that is named beside."""
_LARGEST: Final = "the largest wait"
_HOW_MUCH: Final = re.compile(
    rf"\d+(\.\d+)? ?%|most of (it|{_LARGEST})|more of (it|{_LARGEST}) than any other rank"
)
"""What sentences say of amounts: a verdict is another one by its metric, place or rank."""
ABSENT: Final = "it reads files, sleeps, or waits for a processor, and computes nothing"
"""What is said of a rank that is off its processor."""
POINTS_TO: Final = (
    "look whether ranks share processors, then at the network and at how much is sent how "
    "often."
)
_BY_FUNCTION: Final = (
    "Recorded with samples of call stacks, or compiled with -finstrument-functions, the "
    "program tells which function it is."
)


def verdict_on_waits(waits: Waits, checked: tuple[Check, ...] = ()) -> tuple[Sentence, ...]:
    """What costs most of a run, where, and caused by whom.

    Parameters
    ----------
    waits : Waits
        What :func:`burstline.wait_states` found.
    checked : tuple of Check, optional
        Whether the run may be judged by its trace.

    Returns
    -------
    tuple of Sentence
        Questions are ``judged`` (what does not hold, if anything), ``unsure`` (what was not
        understood, if it is much), ``lost``, ``where``, ``cause`` (before the two where it
        names a rank), and ``but`` (what the others rest on that nobody counted).

    Notes
    -----
    Shares are of the time of all threads. Where ranks shared processors, no cause is told.
    Linear in call paths times locations.

    Examples
    --------
    >>> from burstline import wait_states
    >>> from burstline.testing import trace_of
    >>> barrier = "95 enter MPI_Barrier | 95 begin | 99 end | 99 leave"
    >>> rank = f"0 enter main | {barrier} | 99 leave"
    >>> waits = wait_states(trace_of(f"ranks 2 | 0 | {rank} | 1 | {rank}"))
    >>> [each.sentence for each in verdict_on_waits(waits)]
    ['Nothing waits: no wait state was found in what the trace tells.']
    """
    checked = of_clock(checked, waits.unit)
    care = with_care(checked)
    first = () if care is None else (care,)
    return (*first, *_sentences(waits, checked), *_doubts(waits, checked))


def _sentences(waits: Waits, checked: tuple[Check, ...]) -> list[Sentence]:
    unsure, transfer, largest = not_understood(waits), _of_transfer(waits), largest_wait(waits)
    time = int(waits.profile.total("time")) if "time" in waits.profile.stored else 0
    every = waits_ns(waits)
    if largest is None or every / time < _LEAST_LEFT_OUT:
        nothing = "no wait state was found in what the trace tells."
        if largest is not None:
            least = f"{100 * _LEAST_LEFT_OUT:.2f} %"
            nothing = f"all waits are less than {least} of the time of the run."
        what = "In what was understood, nothing" if unsure else "Nothing"
        return unsure + (transfer or [Sentence("lost", f"{what} waits: {nothing}")])
    if (every - largest.left_out_ns) / time < LITTLE:
        little = sentence(
            "lost",
            "Threads wait for {every} of the time of the run{ends}: too little to look for a "
            "cause.",
            every=share("waiting", every / time),
            ends=_in_ends(largest, time, ", {ends} of it in MPI_Init and MPI_Finalize"),
        )
        return unsure + (transfer or [little])
    lost = _how_much(waits, largest, every, time)
    costs = costs_of(waits, largest)
    if transfer and costs is not None and costs.of_mpi > 1 / 2:
        dominates, where, cause = transfer
        too = phrase(
            " {lost} Most of that, {of_mpi}, is caused by transfer, too.",
            lost=lost,
            of_mpi=share("caused by transfer", costs.of_mpi),
        )
        cause = Sentence(cause.question, cause.sentence + too.text, cause.facts + too.facts)
        return [dominates, where, cause]
    cause = Sentence("cause", *cause_of(waits, largest, checked))
    told = [Sentence("lost", *lost), _where(waits, largest), cause]
    if blames(cause) and (costs is None or costs.of_mpi <= 1 / 2):
        told = [cause, *told[:2]]  # whom to go to is what a reader wants to know first
    return [*unsure, *transfer, *told]


def blames(said: Sentence) -> bool:
    """Whether a rank is named as a cause: then the place where it causes most is a rank's."""
    places = (fact.place for fact in said.facts if fact.name == "caused there")
    return any(place is not None and place.rank is not None for place in places)


def _in_ends(largest: Largest, time: int, text: str) -> Phrase:
    """What is said of waits in MPI_Init and MPI_Finalize: nothing if they are few."""
    of_time = largest.left_out_ns / time
    if of_time < _LEAST_LEFT_OUT:
        return NOTHING
    return phrase(text, ends=share("waiting in MPI_Init and MPI_Finalize", of_time))


def titled(waits: Waits, metric: str) -> tuple[str, str]:
    """The title of a metric, and what it means."""
    profile = waits.profile
    row = profile.metrics["name"].to_pylist().index(metric)
    title, meaning = (profile.metrics[name][row].as_py() for name in ("title", "description"))
    return title, meaning


def _how_much(waits: Waits, largest: Largest, every: int, time: int) -> Phrase:
    title, meaning = titled(waits, largest.metric)
    return phrase(
        "Threads wait for {every} of the time of the run; {but}the largest part, {cost} of the "
        "run, is {title} ({meaning}).",
        every=share("waiting", every / time),
        but=_in_ends(largest, time, "without {ends} in MPI_Init and MPI_Finalize, "),
        cost=share(title, largest.cost_ns / time),
        title=title,
        meaning=meaning,
    )


def _where(waits: Waits, largest: Largest) -> Sentence:
    """Where most of a kind of wait is."""
    [(place, there), *_] = waits.top_call_paths(largest.metric, 1, largest.left_out)
    return sentence(
        "where",
        "{of_place} of it is {who}{where}.",
        of_place=share("of the wait", there / largest.cost_ns, place_of(waits, place)),
        who="while the first thread of its process is " if largest.metric == _IDLE else "",
        where=inside_text(waits, place),
    )


def _why_not(coverage: dict[str, Any]) -> str:
    """Why collectives were not understood: what the trace lacks, or contradicts itself in."""
    reasons = []
    if coverage["collectives_apart"]:
        reasons.append("members left before others came")
    if any("collectives" in what for what in coverage["left_out"]) or not reasons:
        reasons.append("their other members are unknown")
    return ", or ".join(reasons)


def not_understood(waits: Waits) -> list[Sentence]:
    """What of the trace was not understood, if that is so much that waits may be hidden."""
    coverage = waits.coverage
    parts = [
        phrase("{missing} of {what}", missing=share(name, 1 - coverage[key]), what=what)
        for key, name, what in (
            (
                "collectives_share",
                "collectives not understood",
                f"the calls of collectives ({_why_not(coverage)})",
            ),
            ("messages_share", "messages not understood", "the messages (one side is missing)"),
            ("time_share", "time not recorded", "the time (nobody recorded it)"),
        )
        if coverage.get(key, 1.0) < MUCH_UNDERSTOOD
    ]
    if not parts:
        return []
    missing = enumerated(*parts)
    text = "Not understood: {missing}. Waits there are unknown, and not told below."
    return [sentence("unsure", text, missing=missing)]


def _of_transfer(waits: Waits) -> list[Sentence]:
    """Where MPI takes longer than its waits, and what that points to; else nothing."""
    own = transfer_ns(waits)
    if own is None:
        return []
    whole, time = own.sum(), waits.profile.total("time")
    place = int(own.argmax())
    in_mpi = whole + waits_in_mpi_ns(waits, ends_of(waits.profile))
    lost = sentence(
        "lost",
        "MPI takes {mpi} of the time of the run, without MPI_Init and MPI_Finalize, and most "
        "of that, {transfer} of the run, is no wait that the trace tells of: transfer "
        "dominates.",
        mpi=share("MPI", in_mpi / time),
        transfer=share("transfer", whole / time),
    )
    where = sentence(
        "where",
        "{of_place} of the transfer is {where}.",
        of_place=share("of the transfer", own[place] / whole, place_of(waits, place)),
        where=inside_text(waits, place),
    )
    return [lost, where, Sentence("cause", f"No rank is to blame: {POINTS_TO}")]


def cause_of(waits: Waits, largest: Largest, checked: tuple[Check, ...]) -> Phrase:
    """Who causes most of a wait, and where: by computing, unless most is time in MPI."""
    if largest.metric == _IDLE:  # as the program has it, whatever threads share
        return _cause_of_idle(waits, largest, checked)
    costs = costs_of(waits, largest)
    if is_shared(checked) and not is_of_rank(waits, costs):
        return Phrase(f"{capital(UNTOLD)}.")
    if costs is None:
        return Phrase("The trace does not tell who causes it.")
    if costs.of_mpi <= 1 / 2:
        return _cause_by_computing(waits, blame_for(waits, costs), checked, _LARGEST)
    place, of_place = costs.largest_in_mpi()
    return phrase(
        "Most of it, {of_mpi}, is caused in MPI itself, by calls that take longer "
        "on one rank than on another and wait for nobody: above all ({of_place}), {where}. "
        "This is transfer: {points_to}{rest}",
        of_mpi=share("caused in MPI", costs.of_mpi),
        of_place=share("caused there", of_place, place_of(waits, place)),
        where=place_text(waits, place),
        points_to=POINTS_TO,
        rest=_rest_by_computing(waits, costs, checked),
    )


def shares_of(waits: Waits, found: Blame | Keeper, rank: int | None) -> dict[str, Any]:
    """Who causes something, and the shares of it that are theirs and at one place, as parts."""
    return {
        "rank": str(found.rank),
        "of_rank": share("caused by the rank", found.of_rank, Place(found.rank)),
        "of_place": share("caused there", found.of_place, place_of(waits, found.place, rank)),
    }


def is_of_rank(waits: Waits, costs: Costs | None) -> bool:
    """Whether one rank causes a wait, even if it shared its processor.

    It works longer by the time that it was on one, or it is off it where it comes late.
    """
    if costs is None or costs.of_mpi > 1 / 2:
        return False
    blame = blame_for(waits, costs)
    is_absent = blame.stands_out and is_off(waits, blame.place, blame.rank)
    return is_absent or (blame.stands_out and works_longer(waits, blame.rank, blame.place))


def _rest_by_computing(waits: Waits, costs: Costs, checked: tuple[Check, ...]) -> Phrase:
    """What computing causes of a wait that is mostly caused in MPI, if that is much."""
    if costs.of_mpi > 1 - _MUCH_COMPUTED:
        return NOTHING
    cause = _cause_by_computing(waits, blame_for(waits, costs), checked, "it")
    return Phrase(f" By computing, {cause.text[0].lower()}{cause.text[1:]}", cause.facts)


def together(waits: Waits, blame: Blame) -> Phrase:
    """That those who take longer at a place are the ranks of a node or socket, if they are."""
    found = slow_together(waits, blame.place)
    if found is None:
        return NOTHING
    return phrase(
        "all {ranks}, and no others, are on {socket}node {node}",
        ranks=counted(found.ranks, "slow rank"),
        socket=f"socket {found.socket} of " if found.socket else "",
        node=found.node,
    )


def _cause_by_computing(
    waits: Waits, blame: Blame, checked: tuple[Check, ...], what: str
) -> Phrase:
    """Which rank causes a wait by computing, where, and whether its node is slow."""
    cause, node = _cause_of_rank(waits, blame, checked, what), together(waits, blame)
    if not node.text:
        return cause
    return joined(" ", cause, Phrase(f"{capital(node.text)}.", node.facts))


def _cause_of_rank(waits: Waits, blame: Blame, checked: tuple[Check, ...], what: str) -> Phrase:
    """Which rank causes a wait by computing, and where; or that none stands out."""
    rank = blame.rank if blame.stands_out else None
    where = place_text(waits, blame.place, rank)
    where += "," * (blame.place in waits.places.ends and "," in where)
    hint = "" if is_named(waits, blame.place, rank) else f" {_BY_FUNCTION}"
    parts = shares_of(waits, blame, rank) | {"where": where, "hint": hint}
    if not blame.stands_out:
        text = "its work changes, or other programs share the processors."
        return phrase(
            "No rank stands out (rank {rank} causes most, {of_rank}): above all ({of_place}), "
            "{where} takes longer now on one rank, now on another: {why}{hint}",
            why=f"{ABSENT}." if is_off(waits, blame.place) else text,
            **parts,
        )
    parts |= {"most": _most(blame.of_rank, what), "then": _then(checked), "absent": ABSENT}
    if is_off(waits, blame.place, rank):
        return phrase(
            "Rank {rank} causes {most}, {of_rank}: above all ({of_place}), it is {where}: "
            "{absent}.{then}",
            **parts
            | {
                "where": absent_text(waits, blame.place, rank),
                "then": "" if is_shared(checked) else _then(checked),
            },
        )
    return phrase(
        "Rank {rank} causes {most}, {of_rank}: above all ({of_place}), {where} takes longer "
        "there than for those who wait.{then}{hint}",
        **parts,
    )


def _then(checked: tuple[Check, ...]) -> str:
    """What to do about a cause, behind it: to look there, unless it is doubtful."""
    return f" {doubt(checked) or 'Look there first.'}"


def _most(of_rank: float, what: str) -> str:
    return f"most of {what}" if of_rank > 1 / 2 else f"more of {what} than any other rank"


def _cause_of_idle(waits: Waits, largest: Largest, checked: tuple[Check, ...]) -> Phrase:
    """Who keeps threads idle, where, and how."""
    found = keeper(waits.profile, largest.left_out)
    if found is None:
        return Phrase("The trace does not tell who causes it.")
    where = inside_text(waits, found.place)
    how = f"first threads of other ranks wait in MPI for what it does {where}"
    for keeping, text in (
        (Keeping.ALONE, f"one thread works alone {where}"),
        (Keeping.IN_MPI, f"its first thread is in MPI, and was not seen to wait, {where}"),
        (
            Keeping.NARROW,
            f"{place_text(waits, found.place)} has fewer threads than its process",
        ),
    ):
        if keeping in found.keeping:
            how = text
            if Keeping.LATE in found.keeping:
                how += ", and first threads of other ranks wait for it in MPI"
    return phrase(
        "Rank {rank} causes {most}, {of_rank}: above all ({of_place}), {how}.{then}{hint}",
        most=_most(found.of_rank, _LARGEST),
        how=how,
        then=_then(checked),
        hint="" if is_named(waits, found.place) else f" {_BY_FUNCTION}",
        **shares_of(waits, found, found.rank),
    )


def _doubts(waits: Waits, checked: tuple[Check, ...]) -> list[Sentence]:
    """What the verdict rests on that nobody counted, if it would be another one without."""
    modelled = waits.modelled
    if modelled is None or modelled.without is None:
        return []
    instead = changed(_sentences(waits, checked), _sentences(modelled.without, checked))
    if not instead:
        return []
    doubt = sentence(
        "but",
        "{of_ticks} of all ticks are a constant, {cost} for each call of OpenMP. If these cost "
        "nothing: {instead}",
        of_ticks=share("modelled ticks", modelled.share),
        cost=Fact("ticks of a call of OpenMP", modelled.call_cost, "count"),
        instead=joined(" ", *(Phrase(each.sentence, each.facts) for each in instead)),
    )
    return [doubt]


def changed(ours: Sequence[Sentence], theirs: Sequence[Sentence]) -> list[Sentence]:
    """Those of other sentences that say something else by more than amounts."""
    said, instead = (
        [_HOW_MUCH.sub("", each.sentence) for each in told] for told in (ours, theirs)
    )
    return [each for each, text in zip(theirs, instead, strict=True) if text not in said]
