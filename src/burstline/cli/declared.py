"""Commands that are an analysis and no more: declared, not written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from burstline.cli import usage


@dataclass(frozen=True, slots=True)
class Declared:
    """A command that asks an analysis of a run, and prints the result."""

    analysis: str
    purpose: str
    DESCRIPTION: str
    EXAMPLES: str
    options: Mapping[str, str] = field(default_factory=dict)
    # parameters of the analysis, by the names of their options
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def OPTIONS(self) -> Mapping[str, Any]:  # noqa: N802 -- as a command's module has it
        """All options, of every analysis and of this one."""
        own = {f"the {self.analysis}": self.options} if self.options else {}
        return {**usage.ANALYSIS, **usage.WORKERS, **own}

    def run(self, arguments: usage.Arguments) -> None:
        """Ask the analysis, and print what it says."""
        from burstline import show  # noqa: PLC0415 -- help loads no NumPy
        from burstline.cli.inputs import progress_bar, run_of  # noqa: PLC0415
        from burstline.cli.products import print_view  # noqa: PLC0415

        asked = {
            parameter: getattr(arguments, option)
            for option, parameter in self.parameters.items()
            if getattr(arguments, option) is not None
        }
        opened = run_of(arguments)
        with progress_bar(arguments) as opened.progress:
            result = opened.ask(self.analysis, **asked)
        print_view(arguments, show.view(result))


DECLARED: Final[Mapping[str, Declared]] = {
    "matrix": Declared(
        "matrix",
        "who sends how much to whom",
        DESCRIPTION="""\
Show which rank of TRACE sends how much to which other: messages, bytes, and how long the
messages were under way once both sides were there. Of more than 256 ranks, neighbours are
told together. What collectives send is not counted.
""",
        EXAMPLES="""\
examples:
  burstline matrix run.prv
  burstline matrix run.prv --from 2s --to 3s --ranks 0-7
  burstline matrix run.prv --loop 1 --iterations 5         one time step
  burstline matrix run.prv --format csv > pairs.csv        a pair a row
  burstline matrix run.prv --format json | python -m json.tool
""",
        parameters={"app": "application"},
    ),
    "histogram": Declared(
        "histogram",
        "how long bursts compute, by a counter",
        DESCRIPTION="""\
Show how long the bursts of TRACE, the stretches between two MPI calls, compute: which share
of all computing lies in bursts of which duration and of how much of a counter, of how many
instructions a cycle (IPC), or of which rank.
""",
        EXAMPLES="""\
examples:
  burstline histogram run.prv
  burstline histogram run.prv --counter rank               which ranks have long bursts
  burstline histogram run.prv --counter IPC --bins 5
  burstline histogram run.prv --from 2s --to 3s --ranks 0-7
  burstline histogram run.prv --format csv > cells.csv     a cell a row
  burstline histogram run.prv --format json | python -m json.tool
""",
        options={
            "--counter NAME": "a counter of the trace, IPC, or rank (default: the time on a "
            "processor, else IPC, else instructions, else rank)",
            "--bins N=2": "rows and columns within a factor of ten (2)",
        },
        parameters={"counter": "counter", "bins": "bins"},
    ),
}
"""Them by name."""
