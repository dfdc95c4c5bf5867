"""Runs of one small program as Paraver traces, with what each counts written out."""

from __future__ import annotations

from dataclasses import dataclass, field

LABELS = {
    42000050: "PAPI_TOT_INS [Instr completed]",
    42000059: "PAPI_TOT_CYC [Total cycles]",
    42000000: "PAPI_L1_DCM [L1D cache misses]",
    42000008: "PAPI_L3_TCM [L3 cache misses]",
}
INS, CYC, L1, L3 = LABELS
OPERATIONS = [(3, 31), (2, 8), (1, 1), (1, 6), (2, 10), (2, 8), (3, 32)]
"""Kind and number of MPI_Init, Barrier, Send, Waitall, Allreduce, Barrier, Finalize."""


@dataclass
class Run:
    """A run of `ranks` ranks that calls `operations`; `values` say what a burst counts."""

    counters: dict[int, object]
    ranks: int = 2
    scale: int = 1
    operations: list = field(default_factory=lambda: list(OPERATIONS))
    skipped: dict[int, set[int]] = field(default_factory=dict)
    threads: int = 1

    def calls(self, rank):
        """Give the calls of a rank that happen: ordinal in the program, kind, number."""
        gone = self.skipped.get(rank, set())
        return [(k, *call) for k, call in enumerate(self.operations) if k not in gone]

    def lines(self):
        for rank in range(self.ranks):
            head = f"2:{rank + 1}:1:{rank + 1}:1"
            for k, kind, number in self.calls(rank):
                enter = self.scale * (100 * k + rank + 10)
                at = f"{head}:{enter}"
                entry = f"5000000{kind}:{number}:70000001:2"
                read = ":".join(f"{c}:{value(rank, k)}" for c, value in self.counters.items())
                if k % 3 == 0 or not read:
                    yield f"{at}:{entry}" + f":{read}" * bool(read)
                elif k % 3 == 1:
                    yield f"{at}:{entry}"
                    yield f"{at}:{read}"
                else:
                    yield f"{at}:{read}"
                    yield f"{at}:{entry}"
                left = ":".join(f"{c}:1" for c in self.counters)
                yield f"{head}:{enter + 20}:5000000{kind}:0" + f":{left}" * bool(left)

    def write(self, path):
        """Write the run as path.prv, .pcf and .row."""
        nodes = ",".join(["1:1"] * self.ranks)
        end = self.scale * 100 * (len(self.operations) + 1)
        header = (
            f"#Paraver (01/02/2026 at 03:04):{end}_ns:1({self.ranks}):1:{self.ranks}({nodes}),1"
        )
        world = ":".join(str(rank + 1) for rank in range(self.ranks))
        text = "\n".join([header, f"c:1:1:{self.ranks}:{world}", *self.lines(), ""])
        path.write_text(text, newline="\n")
        types = "\n".join(f"7 {counter} {LABELS[counter]}" for counter in self.counters)
        path.with_suffix(".pcf").write_text(f"EVENT_TYPE\n{types}\n")
        path.with_suffix(".row").write_text("LEVEL NODE SIZE 1\none\n")
        return path


def value(factor):
    """Give a counter whose value says which burst it is of: rank, and the call that ends it."""
    return lambda rank, k: factor * (1000 * rank + 10 * k + 5)
