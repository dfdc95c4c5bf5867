"""Verdicts as tests read them: sentences alone, and a program that they are about."""

from __future__ import annotations

from burstline.answers import verdict_on_waits
from burstline.testing import trace_of
from burstline.waits import Waits

MS = 1_000_000


def verdict(waits: Waits) -> list[str]:
    """The sentences on the waits of a run: the cause last, whoever is blamed."""
    behind = {"cause": 1, "but": 2}
    told = sorted(verdict_on_waits(waits), key=lambda each: behind.get(each.question, 0))
    return [each.sentence for each in told]


def looping(ranks=2, *, computing=(90, 10), path=True, cpu=None, steps=25, lost=""):
    """Ranks that compute and meet in a barrier, the first of which computes longer.

    Times are ms; `cpu` of each ms of computing is spent on a processor, on the first rank and
    on others if there are two.
    """
    first, others = cpu if isinstance(cpu, tuple) else (cpu, cpu)
    counter = ['counter "task-clock" unit "ns" mode delta'] * (cpu is not None)
    where = " path 0" * path
    lines = [f"ranks {ranks}", *counter, "path 0 main file solver.c line 42"]

    def stamp(what, at, used=0):
        return f"{at * MS} {what}" + f" task-clock={used * MS:.0f}" * (cpu is not None)

    for rank in range(ranks):
        mine = computing[rank > 0]
        parts = [stamp(f"enter MPI_Init{where}", 0), stamp("leave", 1)]
        for step in range(steps):
            begin, end = 1 + step * 100 + mine, 1 + (step + 1) * 100
            parts += [
                stamp(
                    f"enter MPI_Barrier{where}",
                    begin,
                    mine * ((others if rank else first) or 0),
                )
            ]
            parts += [f"{begin * MS} begin", f"{end * MS} end", stamp("leave", end)]
        end = 1 + steps * 100
        parts += [stamp(f"enter MPI_Finalize{where}", end), stamp("leave", end + 1)]
        lines.append(f"{rank} | " + " | ".join(parts))
    return trace_of("\n".join([*lines, lost]))
