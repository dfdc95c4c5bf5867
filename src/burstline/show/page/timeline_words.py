"""Sentences about a timeline: templates that a page fills again when it shows another part."""

from __future__ import annotations

from typing import Final

from burstline.timeline import Kind

VIEW: Final = "{where} ({time}) {who} {does} for {share} of the time{tail}"
"""What most time of the part that is shown is spent on."""
WAIT: Final = "{where} {who} waits {time}{place} for {cause}{meanwhile}"
PIECE: Final = "{where} {who} {does} for {time}{place}{tail}"
LESS: Final = "{title} · for full detail: {options}"
"""The title of a part of which not every piece is on the page."""
WHOLE: Final = "In the whole run"
STEP: Final = "In iteration {number}"
MEAN: Final = "{time} on average"
SENT: Final = "{size} B to {who}, there after {time}"
RECEIVED: Final = "{size} B from {who}, {time} after the send"
MORE: Final = "and {count} more messages"
SPAN: Final = "From {begin} to {end}"

DO: Final = {
    Kind.COMPUTING: "compute",
    Kind.TRANSFER: "transfer data",
    Kind.OTHER_MPI: "are in other calls of MPI",
    Kind.OPENMP: "are in OpenMP itself",
    Kind.IO: "access files",
    Kind.BLOCKED: "are blocked in MPI",
    Kind.COLLECTIVE: "wait for others in collectives",
    Kind.THREADS: "wait for other threads",
    Kind.LATE_RECEIVER: "wait for late receivers",
    Kind.LATE_SENDER: "wait for late senders",
    Kind.IDLE: "are idle, in no team of threads,",
    Kind.ENDS: "start and end MPI",
    Kind.NOT_RECORDED: "were not recorded",
}
"""What several ranks do."""

DOES: Final = {
    Kind.COMPUTING: "computes",
    Kind.TRANSFER: "transfers data",
    Kind.OTHER_MPI: "is in another call of MPI",
    Kind.OPENMP: "is in OpenMP itself",
    Kind.IO: "accesses files",
    Kind.BLOCKED: "is blocked",
    Kind.COLLECTIVE: "waits for others",
    Kind.THREADS: "waits for other threads",
    Kind.LATE_RECEIVER: "waits for a receiver",
    Kind.LATE_SENDER: "waits for a sender",
    Kind.IDLE: "is idle, in no team of threads,",
    Kind.ENDS: "starts or ends MPI",
    Kind.NOT_RECORDED: "was not recorded",
}
"""What one rank does."""

TAILS: Final = {Kind.BLOCKED: "; the trace does not tell why"}
"""What is to be added of a kind."""

MEANWHILE: Final = {
    Kind.COMPUTING: ", which is computing",
    Kind.TRANSFER: ", which transfers data",
    Kind.BLOCKED: ", which is blocked itself",
    Kind.COLLECTIVE: ", which waits in a collective itself",
    Kind.THREADS: ", which waits for threads itself",
    Kind.LATE_RECEIVER: ", which waits for a receiver itself",
    Kind.LATE_SENDER: ", which waits for a sender itself",
    Kind.ENDS: ", which starts or ends MPI",
}
"""What the late side does most of the time that it is waited for."""


def filled(template: str, **texts: str) -> str:
    """A sentence: each ``{name}`` is replaced by the text of that name, taken as it is.

    >>> filled("{who} waits {time}", who="rank {time}", time="3 ms")
    'rank {time} waits 3 ms'
    """
    return template.format_map(texts)


def by_kind(words: dict[Kind, str]) -> list[str]:
    """Words by the code of their kind; empty for none."""
    return [words.get(kind, "") for kind in Kind]
