"""What calls say that is neither a message nor a collective: one-sided, files, probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.raw.layout import Kind, Transfer

if TYPE_CHECKING:
    from burstline.formats.raw.calls import Details, Facts

_SENDS: Final = np.array([Transfer.PUT, Transfer.ACCUMULATE, Transfer.BOTH])
_RECEIVES: Final = np.array([Transfer.GET, Transfer.BOTH])


def describe_transfers(details: Details, facts: Facts) -> None:
    """Tell the calls what they moved to and from memory of others and files.

    Parameters
    ----------
    details : Details
        Records of all calls.
    facts : Facts
        Told of partners and bytes.
    """
    remote = details.of(Kind.RMA)
    facts.partner(remote.call, remote.partner, np.full(len(remote), -1), received=False)
    facts.communicator(remote.call, remote.communicator)
    for name, ops in (("sent", _SENDS), ("received", _RECEIVES)):
        mine = remote.pick(np.isin(remote.op, ops))
        facts.add_bytes(name, mine.call, mine.c)
    files = details.of(Kind.IO)
    for name, size in (("sent", files.b), ("received", files.c)):
        facts.add_bytes(name, files.call[size > 0], size[size > 0])
    probes = details.of(Kind.PROBE)
    facts.partner(probes.call, probes.partner, probes.tag, received=True)
    facts.communicator(probes.call, probes.communicator)
