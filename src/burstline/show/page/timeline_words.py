"""Sentences about a timeline: templates that a page fills again when it shows another part."""

from __future__ import annotations

from typing import Final, NamedTuple

from burstline.timeline import Kind

TEMPLATES: Final = {
    # of a part: what most of its time is spent on
    "view": "{where} ({time}) {who} {does} for {share} of the time{tail}",
    "wait": "{where} {who} waits {time}{place} for {cause}{meanwhile}",
    "piece": "{where} {who} {does} for {time}{place}{tail}",
    # of a part of which not every piece is on the page
    "less": "{title} · for full detail: {options}",
    "whole": "In the whole run",
    "step": "In iteration {number}",
    "span": "From {begin} to {end}",
    "mean": "{time} on average",
    "sent": "{size} B to {who}, there after {time}",
    "received": "{size} B from {who}, {time} after the send",
    "more": "and {count} more messages",
}


class Phrases(NamedTuple):
    """How a kind of time is told."""

    do: str  # what several ranks do
    does: str  # what one rank does
    meanwhile: str = ""  # what the late side does most of the time that it is waited for
    tails: str = ""  # what is to be added


PHRASES: Final = {
    Kind.COMPUTING: Phrases("compute", "computes", ", which is computing"),
    Kind.TRANSFER: Phrases("transfer data", "transfers data", ", which transfers data"),
    Kind.OTHER_MPI: Phrases("are in other calls of MPI", "is in another call of MPI"),
    Kind.OPENMP: Phrases("are in OpenMP itself", "is in OpenMP itself"),
    Kind.IO: Phrases("access files", "accesses files"),
    Kind.BLOCKED: Phrases(
        "are blocked in MPI",
        "is blocked",
        ", which is blocked itself",
        "; the trace does not tell why",
    ),
    Kind.COLLECTIVE: Phrases(
        "wait for others in collectives",
        "waits for others",
        ", which waits in a collective itself",
    ),
    Kind.THREADS: Phrases(
        "wait for other threads", "waits for other threads", ", which waits for threads itself"
    ),
    Kind.LATE_RECEIVER: Phrases(
        "wait for late receivers", "waits for a receiver", ", which waits for a receiver itself"
    ),
    Kind.LATE_SENDER: Phrases(
        "wait for late senders", "waits for a sender", ", which waits for a sender itself"
    ),
    Kind.IDLE: Phrases("are idle, in no team of threads,", "is idle, in no team of threads,"),
    Kind.ENDS: Phrases("start and end MPI", "starts or ends MPI", ", which starts or ends MPI"),
    Kind.NOT_RECORDED: Phrases("were not recorded", "was not recorded"),
}


def filled(template: str, **texts: str) -> str:
    """A sentence: each ``{name}`` is replaced by the text of that name, taken as it is.

    >>> filled("span", begin="{end}", end="3 ms")
    'From {end} to 3 ms'
    """
    return TEMPLATES[template].format_map(texts)


def by_kind(phrase: str) -> list[str]:
    """A phrase of each kind, by its code; empty for none."""
    return [getattr(PHRASES[kind], phrase) for kind in Kind]
