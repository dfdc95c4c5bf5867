"""The browser's screen: pseudo-code as a table that folds, and what is known of each line.

Text of a trace is made printable before, and shown as it is: nothing here reads markup.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Input, Label, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from burstline.browser import details
from burstline.browser.outline import (
    QUESTIONS,
    OutlineView,
    Row,
    answered,
    counters,
    current,
    outline,
    restrictions,
)
from burstline.errors import BurstlineError, plural, printable
from burstline.model import Trace
from burstline.show import (
    STYLES,
    character_plot,
    chosen_counter,
    line_cells,
    line_columns,
    text_of,
)
from burstline.structure import LoopTable, Points, Structure, loop_table, points
from burstline.values import Column

_OPEN, _FOLDED, _LEAF = "▾ ", "▸ ", "  "
_OF_CODE: Final = frozenset(
    ["fold", "fold_all", "unfold_all", "fold_deeper", "ask", "search", "choose_counter", "plot"]
)
_DEPTHS: Final = "0123456789"
_MOST_OPEN: Final = 2_000  # lines: more is too much to read from the top
_TEXTS: Final = range(3)  # these columns are text, the others numbers
_LEFT: Final = (0, 2)  # texts that begin on the left; numbers of lines end on the right
_FRAME: Final = 2  # lines that are not for the plot: footer, and one to breathe


class PlotScreen(ModalScreen[None]):
    """The clustering plot in characters, as large as the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,p,q", "app.pop_screen", "Back")]
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


class Code(DataTable[Text]):
    """The table of pseudo-code; its arrow keys fold and unfold."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "app.fold", "Fold/unfold"),
        Binding("left,h", "app.fold(True)", "Fold", show=False),
        Binding("right,l", "app.fold(False)", "Unfold", show=False),
        Binding("shift+left", "scroll_left", "Scroll left", show=False),
        Binding("shift+right", "scroll_right", "Scroll right", show=False),
        Binding("home,g", "scroll_top", "First line", show=False),
        Binding("end,G", "scroll_bottom", "Last line", show=False),
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
    ]


class Browser(App[None]):
    """A structure to be folded, filtered, searched and looked into."""

    TITLE = "burstline browse"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #facts { height: auto; padding: 0 1; background: $surface; }
    Code { height: 2fr; }
    #panes { height: 1fr; min-height: 9; border-top: solid $primary; }
    #details { width: 3fr; padding: 0 1; }
    #iterations { width: 2fr; padding: 0 1; border-left: solid $primary; }
    #question { display: none; dock: bottom; }
    #question.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("minus", "fold_all", "Fold all", key_display="-"),
        Binding("plus,equals_sign", "unfold_all", "Unfold all", key_display="+"),
        *(
            Binding(digit, f"fold_deeper({digit})", f"Loops to depth {digit}", show=False)
            for digit in _DEPTHS
        ),
        Binding("t", "ask('least')", "Time ≥"),
        Binding("b", "ask('bursts')", "Bursts ≥"),
        Binding("r", "ask('ranks')", "Ranks"),
        Binding("c", "choose_counter", "Counter"),
        Binding("p", "plot", "Plot"),
        Binding("slash", "ask('search')", "Search", key_display="/"),
        Binding("n", "search(1)", "Next found", show=False),
        Binding("N", "search(-1)", "Previous found", show=False),
        Binding("escape", "leave_question", "Leave the question"),
        Binding("question_mark", "help", "Keys", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self, trace: Trace, structure: Structure, view: OutlineView, *, name: str
    ) -> None:
        super().__init__()
        self._trace, self._structure = trace, structure
        self._name = printable(name, limit=60)
        self.view = replace(view, counter=chosen_counter(structure, view.counter))
        self._outline = outline(structure, self.view)
        many = len(self._outline.rows) > _MOST_OPEN
        self._folded = self._outline.deeper_than(1) if many else frozenset()
        self._shown: list[int] = []
        self._asked = self._wanted = ""
        self._points: Points | None = None
        self._tables: dict[int, LoopTable] = {}

    @property
    def rows(self) -> list[Row]:
        """The rows that are shown, in order."""
        return [self._outline.rows[at] for at in self._shown]

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._outline.rows[self._at()] if self._shown else None

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static(id="facts")
        yield Code(cursor_type="row", zebra_stripes=False, cell_padding=1)
        with Horizontal(id="panes"):
            with VerticalScroll(id="details"):
                yield Static()
            with VerticalScroll(id="iterations"):
                yield Static()
        yield Input(id="question")
        yield Footer()

    def on_mount(self) -> None:
        """Show the structure."""
        for pane in self.query(VerticalScroll):
            pane.can_focus = False
        self._fill(0)
        self.query_one(Code).focus()

    def _at(self) -> int:
        """The position of the row under the cursor; 0 if nothing is shown."""
        cursor = self.query_one(Code).cursor_row
        return self._shown[cursor] if 0 <= cursor < len(self._shown) else 0

    def _show_view(self, view: OutlineView) -> None:
        """See something else of the structure; nothing changes if that cannot be."""
        tree = outline(self._structure, view)
        key = self.row.key if self.row else None
        self._outline, self.view = tree, view
        same = (at for at, row in enumerate(tree.rows) if row.key == key)
        self._fill(self._visible(next(same, 0)))

    def _fill(self, at: int, *, above: int | None = None) -> None:
        """Write the table again, with the cursor on a row and so many lines above it."""
        code = self.query_one(Code)
        above = code.cursor_row - code.scroll_offset.y if above is None else above
        self._shown = self._outline.shown(self._folded, self.view.least_ns)
        code.clear(columns=True)
        names = [printable(column.name) for column in self._columns]
        code.add_columns(*_aligned(names, _TEXTS))
        for row in self.rows:
            code.add_row(*self._cells(row))
        line = max(bisect_right(self._shown, at) - 1, 0)
        code.move_cursor(row=line, scroll=False)
        code.call_after_refresh(code.scroll_to, y=max(line - above, 0), animate=False)
        self.query_one("#facts", Static).update(self._facts())
        self._describe()

    @property
    def _columns(self) -> list[Column]:
        """The columns of lines, with the counter that is shown."""
        counter = self.view.counter
        return line_columns(counter, "" if counter is None else self._structure.unit(counter))

    def _cells(self, row: Row) -> list[Text]:
        mark = _LEAF
        if row.key in self._outline.foldable:
            mark = _FOLDED if row.key in self._folded else _OPEN
        values = line_cells(row.line, self.view.counter, mark)
        cells = map(text_of, values, (column.notation for column in self._columns))
        return _aligned(cells, _LEFT, STYLES.get(row.line.kind, ""))

    def _facts(self) -> Text:
        structure, view = self._structure, self.view
        loops, calls = plural(len(structure.loops), "loop"), plural(structure.calls, "call")
        fidelity = f"fidelity {100 * structure.fidelity:.2f} %"
        facts = " · ".join([loops, calls, fidelity, f"method {structure.method}"])
        hidden = len(self._outline.rows) - len(self._shown)
        seen = f"{plural(len(self._shown), 'line')}, {hidden:,} hidden"
        limits = " · ".join([*restrictions(view), seen])
        return Text.assemble((f"{self._name}  ", "bold"), facts, (f"\n{limits}", "dim"))

    @on(DataTable.RowHighlighted)
    def _describe(self) -> None:
        """What is known about the row under the cursor."""
        row = self.row
        known = [] if row is None else details.facts(self._structure, row, self.view.ranks)
        self.query_one("#details Static", Static).update(_listed(known))
        pane = self.query_one("#iterations Static", Static)
        loop = None if row is None else row.loop
        if loop is None:
            pane.update(Text("in no loop", style="dim"))
        elif loop.id in self._tables:
            self._show_iterations(self._tables[loop.id])
        else:
            pane.update(Text(f"loop {loop.id}: …", style="dim"))
            self._load_iterations(loop.id)

    @work(thread=True, exclusive=True)
    def _load_iterations(self, number: int) -> None:
        """Look up how a loop went, however long that takes, beside everything else."""
        table = loop_table(self._trace, self._structure, number)
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._show_iterations, table)

    def _show_iterations(self, table: LoopTable) -> None:
        self._tables[table.loop] = table
        row = self.row
        if row is None or row.loop is None or row.loop.id != table.loop:
            return
        pane = self.query_one("#iterations", VerticalScroll)
        known, shape = details.iterations(table, pane.content_size.width)
        text = Text.assemble(
            (f"loop {table.loop}: longest rank of each iteration\n", "bold"),
            (f"{shape}\n", "cyan"),
        )
        self.query_one("#iterations Static", Static).update(text + _listed(known))

    def action_fold(self, fold: bool | None = None) -> None:  # noqa: FBT001 -- Textual calls it
        """Fold or unfold the row under the cursor; what is folded goes to the row around."""
        at = self._at()
        row = self._outline.rows[at]
        can = row.key in self._outline.foldable
        is_folded = row.key in self._folded
        if fold and (not can or is_folded):
            at = next(iter(self._outline.around(at)), at)
        elif can and fold in {None, not is_folded}:
            self._folded = self._folded ^ {row.key}
        self._fill(at)

    def action_fold_all(self) -> None:
        """Fold every row that can be folded."""
        self._folded = self._outline.foldable
        self._fill(self._visible(self._at()))

    def action_unfold_all(self) -> None:
        """Unfold every row."""
        self._folded = frozenset()
        self._fill(self._at())

    def action_fold_deeper(self, loops: int) -> None:
        """Show loops up to a depth: fold those that are nested deeper, unfold the others."""
        self._folded = self._outline.deeper_than(loops)
        self._fill(self._visible(self._at()))

    def _visible(self, at: int) -> int:
        """The outermost folded row around a row, or the row itself."""
        rows = self._outline.rows
        folded = [a for a in self._outline.around(at) if rows[a].key in self._folded]
        return folded[-1] if folded else at

    def action_ask(self, about: str) -> None:
        """Ask for a threshold, for ranks, or for a text to search."""
        box = self.query_one("#question", Input)
        self._asked = about
        box.border_title = QUESTIONS[about]
        box.value = self._wanted if about == "search" else current(about, self.view)
        box.add_class("asked")
        box.focus()
        self.refresh_bindings()

    def action_leave_question(self) -> None:
        """Leave a question without an answer."""
        self._asked = ""
        self.query_one("#question").remove_class("asked")
        self.query_one(Code).focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002 -- Textual's signature
        """Whether an action makes sense now: questions and code take turns."""
        if action == "leave_question":
            return bool(self._asked)
        return not (self._asked and action in _OF_CODE)

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        try:
            if self._asked == "search":
                self._wanted = event.value.strip()
                self.action_search(1)
            else:
                view = answered(self._asked, event.value, self.view, self._structure)
                self._show_view(view)
        except BurstlineError as error:
            self._say(str(error))
            return
        self.action_leave_question()

    def action_search(self, step: int) -> None:
        """Go to the next line that holds the text searched for, and unfold what is around."""
        if not self._wanted:
            return
        at = self._outline.find(self._wanted, self._at(), step=step)
        if at is None:
            self._say(f"no line holds {printable(self._wanted)!r}")
            return
        rows = self._outline.rows
        self._folded -= {rows[around].key for around in self._outline.around(at)}
        self._fill(at, above=self.query_one(Code).size.height // 4)

    def action_choose_counter(self) -> None:
        """Let somebody choose the counter to show."""
        names = counters(self._structure)
        if not names:
            self._say("this trace has no counters")
            return

        def show(name: str | None) -> None:
            if name is not None:
                self._show_view(replace(self.view, counter=name))

        self.push_screen(CounterScreen(names, self.view.counter), show)

    def action_plot(self) -> None:
        """Show the clustering plot."""
        if self._points is None:
            self._points = points(self._trace, self._structure)
        if len(self._points):
            self.push_screen(PlotScreen(self._points, self._structure))
        else:
            self._say("no call is executed twice, so that there is nothing to plot")

    def action_help(self) -> None:
        """Show or hide all keys."""
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def _say(self, text: str) -> None:
        self.notify(printable(text, limit=400), severity="warning", markup=False)


def _aligned(texts: Iterable[str], left: Container[int], style: str = "") -> list[Text]:
    """Cells of a row, some of them on the left."""
    return [
        Text(text, style=style, justify="left" if number in left else "right")
        for number, text in enumerate(texts)
    ]


def _listed(known: details.Facts) -> Text:
    """Write names and values, one pair a line."""
    text = Text()
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        text.append(f"{name:<{width}}  ", style="dim")
        text.append(f"{value}\n")
    return text
