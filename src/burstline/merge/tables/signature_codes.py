"""What lies around a burst, as one number that means the same in every run.

::

    BurstTable of each run  --signatures-->  a code per burst: equal where the calls around
                                             it have equal labels, whatever the ids were

A signature is made of the parts one chooses: the operation alone, or also where it is
called from, whom it talks to, on which communicator, and how much it sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import dense
from burstline.errors import ParameterError, printable
from burstline.merge.context import SIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from burstline.columns import Integers
    from burstline.merge.tables.bursts import BurstTable

    Label = tuple[str | int | None, ...]

PARTS: Final = ("operation", "call_path", "partner", "communicator", "root", "tag", "size")
"""What a signature can be made of; ``size`` is the power of two below the bytes of a call."""

_TEXTS: Final = frozenset({"operation", "call_path", "communicator"})
_SIZES: Final = ("bytes_sent", "bytes_received")


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """What lies around the bursts of several runs; made by :func:`signatures`.

    Attributes
    ----------
    parts : tuple of str
        What the labels are made of.
    calls : tuple of tuple
        The label of each call code: a value for each part, None where it is not known. In
        ascending order, so the same labels give the same codes.
    before, after : tuple of ndarray of int64, shape (bursts,)
        For each run, the call codes around each of its bursts.
    pairs : ndarray of int64, shape (codes, 2)
        For each code, the call codes before and after.
    codes : tuple of ndarray of int64, shape (bursts,)
        For each run, the code of what lies around each of its bursts.
    """

    parts: tuple[str, ...]
    calls: tuple[Label, ...]
    before: tuple[Integers, ...]
    after: tuple[Integers, ...]
    pairs: Integers
    codes: tuple[Integers, ...]

    def __repr__(self) -> str:
        runs = len(self.codes)
        return f"<Signatures: {len(self.pairs):,} of {runs} runs, by {', '.join(self.parts)}>"

    def label(self, code: int) -> str:
        """Write a code out.

        Parameters
        ----------
        code : int
            One of `codes`.

        Returns
        -------
        str
            What it stands for, made printable.
        """
        return " → ".join(self.call_label(int(call)) for call in self.pairs[code])

    def call_label(self, call: int) -> str:
        """Write a call code out.

        Parameters
        ----------
        call : int
            One of those in `before` and `after`.

        Returns
        -------
        str
            What it stands for, made printable; ``nothing`` if nothing is known.
        """
        named = zip(self.parts, self.calls[call], strict=True)
        words = [
            str(value) if part in _TEXTS else f"{part} {value}"
            for part, value in named
            if value is not None
        ]
        return printable(" ".join(words) or "nothing", limit=400)

    def counts(self) -> Integers:
        """Count how often each code occurs in each run.

        Returns
        -------
        ndarray of int64, shape (runs, codes)
            Bursts of the run with the code.
        """
        counted = [np.bincount(codes, minlength=len(self.pairs)) for codes in self.codes]
        return np.array(counted, np.int64).reshape(len(self.codes), len(self.pairs))


def signatures(
    runs: Sequence[BurstTable], parts: Sequence[str] = ("operation", "call_path")
) -> Signatures:
    """Give a number to what lies around each burst, the same number in all runs.

    Parameters
    ----------
    runs : sequence of BurstTable
        Burst tables, with the columns that the parts need.
    parts : sequence of str
        Of ``operation``, ``call_path``, ``partner``, ``communicator``, ``root``, ``tag`` and
        ``size``; their order decides only how labels are sorted and written.

    Returns
    -------
    Signatures
        Two bursts have equal codes exactly if the calls before them have equal labels and
        those after them, too.

    Raises
    ------
    ParameterError
        If there is no such part, or a table lacks a column.

    Notes
    -----
    Linear in the bursts while labels are few, else O(n log n). Codes depend on the labels
    that occur in any of the runs, not on ids or the order of runs: adding a run may change
    them. Memory of about five 64-bit numbers a burst of one run, and three a burst of all.

    Examples
    --------
    >>> from burstline import burst_table
    >>> from burstline.testing import trace_of
    >>> calls = [
    ...     f"{9 * k} enter MPI_{name} | {9 * k + 2} leave"
    ...     for k, name in enumerate(["Init", "Barrier", "Barrier", "Barrier"])
    ... ]
    >>> runs = [burst_table(trace_of("ranks 1 | 0 | " + " | ".join(calls[k:]))) for k in (0, 1)]
    >>> found = signatures(runs, ["operation"])
    >>> [codes.tolist() for codes in found.codes]
    [[1, 0, 0], [0, 0]]
    >>> found.label(1)
    'MPI_Init → MPI_Barrier'
    """
    _check(runs, parts)
    found = [[_calls(run, side, parts) for run in runs] for side in SIDES]
    labels = {label for side in found for _, own in side for label in own}
    calls = tuple(sorted(labels, key=_sortable))
    number = {label: code for code, label in enumerate(calls)}
    before, after = (
        tuple(
            np.array([number[label] for label in own], np.int64)[codes] for codes, own in side
        )
        for side in found
    )
    space = len(calls) ** 2
    paired = [
        dense(one * len(calls) + other, space) for one, other in zip(before, after, strict=True)
    ]
    keys = np.unique(np.concatenate([np.zeros(0, np.int64), *(own for _, own in paired)]))
    return Signatures(
        tuple(parts),
        calls,
        before,
        after,
        np.stack(np.divmod(keys, max(len(calls), 1)), axis=1),
        tuple(np.searchsorted(keys, own)[codes] for codes, own in paired),
    )


def _check(runs: Sequence[BurstTable], parts: Sequence[str]) -> None:
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts or len(set(parts)) < len(parts):
        wrong = ", ".join(map(printable, unknown)) or "none or a repeated one"
        raise ParameterError(f"{wrong} is no part of a signature; parts are {', '.join(PARTS)}")
    for number, run in enumerate(runs):
        for part in parts:
            for column in _columns(part):
                if column not in run.table.column_names:
                    raise ParameterError(
                        f"the burst table of run {number} has no column {column}: make it "
                        "with that column, or leave the part out"
                    )


def _columns(part: str) -> list[str]:
    return [f"{source}_{side}" for source in _sources(part) for side in SIDES]


def _sources(part: str) -> tuple[str, ...]:
    return _SIZES if part == "size" else (part,)


def _calls(run: BurstTable, side: str, parts: Sequence[str]) -> tuple[Integers, list[Label]]:
    """Give the calls on one side of bursts as numbers, and the label of each number."""
    codes = np.zeros(len(run), np.int64)
    labels: list[Label] = [()]
    for part in parts:
        for source in _sources(part):
            values, space, written = _values(run, f"{source}_{side}", part)
            codes, keys = dense(codes * space + values, len(labels) * space)
            rows = zip(*(each.tolist() for each in np.divmod(keys, space)), strict=True)
            labels = [(*labels[old], written(new)) for old, new in rows]
    if "size" in parts:
        labels = [_with_one_size(label, parts.index("size")) for label in labels]
    return codes, labels


def _values(
    run: BurstTable, column: str, part: str
) -> tuple[Integers, int, Callable[[int], str | int | None]]:
    """Give a column as numbers from 0, how many there may be, and what each stands for."""
    (plain,) = run.arrays(column)
    if part in _TEXTS:
        names: list[Any] = [None, *run.names(column)]
        return plain.astype(np.int64) + 1, len(names), names.__getitem__
    if part == "size":
        # frexp is exact to 2**53, and classes are powers of two
        classes = np.where(plain < 0, 0, np.frexp(np.maximum(plain, 0).astype(float))[1] + 1)
        return classes.astype(np.int64), 66, lambda size: None if size == 0 else size - 1
    numbers, keys = dense(plain.astype(np.int64) + 1, int(plain.max(initial=-1)) + 2)
    return numbers, max(len(keys), 1), lambda number: _number(int(keys[number]) - 1)


def _number(value: int) -> int | None:
    return None if value < 0 else value


def _with_one_size(label: Label, at: int) -> Label:
    """Write the classes of bytes sent and received as one part."""
    sent, received = label[at : at + 2]
    words = [
        f"{way} {'0' if size == 0 else f'2^{int(size) - 1}'}"
        for way, size in (("sent", sent), ("received", received))
        if size is not None
    ]
    return (*label[:at], " ".join(words) or None, *label[at + 2 :])


def _sortable(label: Label) -> tuple[tuple[bool, str | int], ...]:
    return tuple((value is not None, 0 if value is None else value) for value in label)
