"""Screens above the pseudo-code: the clustering plot, and the choice of a counter."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Label, OptionList, Static
from textual.widgets.option_list import Option

from burstline.errors import printable
from burstline.show import character_plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from burstline.structure import Points, Structure

_FRAME: Final = 2
"""Lines that are not for the plot: footer, and one to breathe."""


class PlotScreen(ModalScreen[None]):
    """The clustering plot in characters, as large as the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,p,q", "app.pop_screen", "Back"),
    ]
    CSS = "PlotScreen { background: $background; } PlotScreen Static { padding: 0 1; }"

    def __init__(self, points: Points, structure: Structure) -> None:
        super().__init__()
        self._points, self._structure = points, structure

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static()
        yield Footer()

    def on_resize(self) -> None:
        """Draw the plot as large as there is space."""
        width, height = self.app.size
        lines = character_plot(
            self._points, self._structure, width=width - _FRAME, height=height - _FRAME
        )
        self.query_one(Static).update(Text("\n").join(lines))


class CounterScreen(ModalScreen[str | None]):
    """A list of counters to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,c", "dismiss(None)", "Back")]
    CSS = """
    CounterScreen { align: center middle; }
    CounterScreen Vertical { width: 50; height: auto; max-height: 80%; padding: 1 2;
                             background: $surface; border: round $primary; }
    CounterScreen OptionList { height: auto; max-height: 20; border: none; }
    """

    def __init__(self, counters: Sequence[str], current: str | None) -> None:
        super().__init__()
        self._counters, self._current = list(counters), current

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        with Vertical():
            yield Label("Which counter?")
            yield OptionList(*(Option(Text(printable(name))) for name in self._counters))
            yield Footer()

    def on_mount(self) -> None:
        """Begin at the counter that is shown."""
        if self._current in self._counters:
            self.query_one(OptionList).highlighted = self._counters.index(self._current)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Leave with the counter that was chosen."""
        self.dismiss(self._counters[event.option_index])
