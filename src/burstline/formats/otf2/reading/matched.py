"""Messages that a probe matched, and whatever receives them later.

::

    MPI_Mprobe ──message──► MPI_Mrecv                 a receive of what the probe found
               ──message──► MPI_Imrecv ──request──► its completion

The probe decides which message is received; the events that receive it name no sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline._core import RecordKind
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Integers
    from burstline.formats.intake import Defects
    from burstline.formats.otf2.reading.records import Records


def resolve(
    own: Records, process: Integers, names: Sequence[str], odd: Defects
) -> tuple[Records, Integers]:
    """The records with posts and receives of matched messages named, and their probes.

    Such a receive has the sender, communicator and tag of its probe; one without a probe is
    left out. Messages, like requests, are numbered by process, and a number may be used
    again: the last one before in time is meant. Time O(records + matched log matched).
    """
    kind = own["kind"]
    at = own.rows_of(
        RecordKind.MATCHED_RECEIVE, RecordKind.MATCHED_POST, RecordKind.MATCHED_COMPLETE
    )
    if not len(at):
        return own, np.broadcast_to(np.int64(UNKNOWN), len(kind))
    probe = np.full(len(kind), UNKNOWN, np.int64)
    what = kind[at]
    posts = at[what == RecordKind.MATCHED_POST]
    done = at[what == RecordKind.MATCHED_COMPLETE]
    seeks = at[what != RecordKind.MATCHED_COMPLETE]
    found = own.rows_of(RecordKind.PROBE)
    place = process[own["location"]]
    probe[seeks] = _before(seeks, found, own["message"], place, own)
    post = _before(done, posts, own["request"], place, own)
    probe[done] = np.where(post >= 0, probe[post], UNKNOWN)
    mine = at[probe[at] >= 0]
    for name in ("partner", "communicator", "tag"):
        own[name][mine] = own[name][probe[mine]]
    own["has_request"][at] = what != RecordKind.MATCHED_RECEIVE
    is_post = what == RecordKind.MATCHED_POST
    own["kind"][at] = np.where(is_post, RecordKind.POST, RecordKind.RECEIVE)
    lost = at[probe[at] < 0]
    if not len(lost):
        return own, probe
    text = names[int(own["location"][lost[0]])]
    odd.note("matched_receive_without_probe", "loss", text, len(lost))
    kept = np.ones(len(kind), bool)
    kept[lost] = False
    row = np.append(np.cumsum(kept) - 1, UNKNOWN)
    return own.pick(kept), row[probe[kept]]


def _before(
    later: Integers, earlier: Integers, key: Integers, process: Integers, own: Records
) -> Integers:
    """Find of each later record the last earlier one of its key and process, -1 if none.

    One that was found already is found by nobody else.
    """
    rows = np.concatenate([earlier, later])
    is_later = np.arange(len(rows)) >= len(earlier)
    order = np.lexsort(
        (is_later, own["seq"][rows], own["time_ns"][rows], key[rows], process[rows])
    )
    rows, is_later = rows[order], is_later[order]
    fits = is_later[1:] & ~is_later[:-1]
    for column in (key, process):
        fits &= column[rows[1:]] == column[rows[:-1]]
    found = np.full(len(key), UNKNOWN, np.int64)
    found[rows[1:][fits]] = rows[:-1][fits]
    return found[later]
