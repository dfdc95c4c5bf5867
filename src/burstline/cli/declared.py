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
        return {**usage.ANALYSIS, **own}

    def run(self, arguments: usage.Arguments) -> None:
        """Ask the analysis, and print what it says."""
        from burstline import show  # noqa: PLC0415 -- help loads no NumPy
        from burstline.cli.inputs import run_of  # noqa: PLC0415
        from burstline.cli.products import print_view  # noqa: PLC0415

        asked = {
            parameter: getattr(arguments, option)
            for option, parameter in self.parameters.items()
            if getattr(arguments, option) is not None
        }
        print_view(arguments, show.view(run_of(arguments).ask(self.analysis, **asked)))


DECLARED: Final[Mapping[str, Declared]] = {}
"""Them by name."""
