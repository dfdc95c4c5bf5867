"""The exact method: loops out of what follows what.

::

    Signed calls  --call_graph-->  CallGraph  --find_nest-->  Body: each call once
                  --read-->  Reading: what each loop did  -->  one program for all ranks

All lanes are read as the same program. What differs between them, trip counts and the
iterations in which a condition holds, is kept beside it in full, so that the program with
its readings gives back every call of every lane in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.structure.assembly import assembly
from burstline.structure.callgraph import call_graph
from burstline.structure.found import Found
from burstline.structure.loopnest import find_nest
from burstline.structure.program import Programmer
from burstline.structure.reading import Nest, NestSteps, read
from burstline.structure.reduction import reduce_signed

if TYPE_CHECKING:
    from burstline.structure.calls import Calls, Signed
    from burstline.trace import Trace


def by_order(trace: Trace, calls: Calls, signed: Signed) -> Found:
    """Find the loops of a program by which of its calls follow which.

    Parameters
    ----------
    trace : Trace
        Its bursts, counters and communicators are read.
    calls : Calls
        The calls of one application in it.
    signed : Signed
        Their signatures.

    Returns
    -------
    Found
        The program of all ranks; its fidelity is 1.
    """
    program = find_nest(call_graph(signed, calls.lane_begin))
    nest = Nest.of(program, len(signed.signatures))
    reduced = reduce_signed(trace, calls, signed)
    made = assembly(trace, reduced).calls(range(len(reduced.lane)))
    programmer = Programmer(
        reading=read(nest, signed.of_call, calls),
        calls={call.signature: call for call in made},
        ranks=np.asarray(calls.ranks),
        run_ns=reduced.run_ns,
    )
    return Found(
        method="exact",
        parameters={},
        reduced=reduced,
        items=programmer.items(program),
        left_out=(),
        steps=NestSteps(nest, signed.of_call, calls.lane_begin),
    )
