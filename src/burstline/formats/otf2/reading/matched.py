"""Messages that a probe matched, and the receives that name no sender.

::

    MPI_Mprobe ──message──► MPI_Mrecv                 a receive of what the probe found
               ──message──► MPI_Imrecv ──request──► its completion
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline._core import RecordKind
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.formats.intake import Defects
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.records import Records


def resolve(records: Records, standing: Standing, defects: Defects) -> tuple[Records, Integers]:
    """The records with the sender, communicator and tag of matched messages, and their probes.

    Changes `records`; receives without a probe are dropped. O(records + matched log matched).
    """
    kind = records["kind"]
    matched = records.rows_of(
        RecordKind.MATCHED_RECEIVE, RecordKind.MATCHED_POST, RecordKind.MATCHED_COMPLETE
    )
    if not len(matched):
        return records, np.broadcast_to(np.int64(UNKNOWN), len(kind))
    probe = np.full(len(kind), UNKNOWN, np.int64)
    matched_kind = kind[matched]
    posts = matched[matched_kind == RecordKind.MATCHED_POST]
    done = matched[matched_kind == RecordKind.MATCHED_COMPLETE]
    seeks = matched[matched_kind != RecordKind.MATCHED_COMPLETE]
    probes = records.rows_of(RecordKind.PROBE)
    process = standing.places.process[records["location"]]
    probe[seeks] = _before(seeks, probes, records["message"], process, records)
    post = _before(done, posts, records["request"], process, records)
    probe[done] = np.where(post >= 0, probe[post], UNKNOWN)
    resolved = matched[probe[matched] >= 0]
    for name in ("partner", "communicator", "tag"):
        records[name][resolved] = records[name][probe[resolved]]
    records["has_request"][matched] = matched_kind != RecordKind.MATCHED_RECEIVE
    is_post = matched_kind == RecordKind.MATCHED_POST
    records["kind"][matched] = np.where(is_post, RecordKind.POST, RecordKind.RECEIVE)
    lost = matched[probe[matched] < 0]
    if not len(lost):
        return records, probe
    standing.note(defects, "matched_receive_without_probe", records["location"][lost])
    is_known = np.ones(len(kind), bool)
    is_known[lost] = False
    row = np.append(np.cumsum(is_known) - 1, UNKNOWN)
    return records.pick(is_known), row[probe[is_known]]


def _before(
    later: Integers, earlier: Integers, key: Integers, process: Integers, records: Records
) -> Integers:
    """The last earlier record of the key and process of each later one, used once; else -1."""
    # Messages, like requests, are numbered by process, and numbers are used again.
    rows = np.concatenate([earlier, later])
    is_later = np.arange(len(rows)) >= len(earlier)
    order = np.lexsort(
        (is_later, records["seq"][rows], records["time_ns"][rows], key[rows], process[rows])
    )
    rows, is_later = rows[order], is_later[order]
    fits = is_later[1:] & ~is_later[:-1]
    for column in (key, process):
        fits &= column[rows[1:]] == column[rows[:-1]]
    row = np.full(len(key), UNKNOWN, np.int64)
    row[rows[1:][fits]] = rows[:-1][fits]
    return row[later]
