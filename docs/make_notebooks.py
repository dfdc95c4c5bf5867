"""Run the notebooks of the docs again, and keep what their cells show: ``make images``.

A cell is run as a notebook runs it: what it prints is kept, and what its last line is worth,
as a notebook shows it. Nothing of Jupyter is needed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).parent / "notebooks"


def executed(notebook):
    """The same notebook with the outputs of now."""
    names, cells = {"__name__": "__main__"}, []
    number = 0
    for cell in notebook["cells"]:
        made = dict(cell)
        if cell["cell_type"] == "code":
            number += 1
            source = "".join(cell["source"])
            made |= {"execution_count": number, "outputs": outputs_of(source, names, number)}
        cells.append(made)
    return notebook | {"cells": cells}


def outputs_of(source, names, number):
    """What a cell prints, and shows of the value of its last line."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), f"<cell {number}>", "exec"), names)  # noqa: S102 -- the page's
        value = None
        if last is not None:
            shown = compile(ast.Expression(last.value), f"<cell {number}>", "eval")
            value = eval(shown, names)  # noqa: S307 -- as above
    outputs = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())}
        )
    if value is not None:
        outputs.append(
            {
                "data": shown_of(value),
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def shown_of(value):
    """How a notebook shows a value: as HTML where it has some."""
    html = getattr(value, "_repr_html_", None)
    if html is None:
        return {"text/plain": lines(repr(value))}
    return {"text/html": lines(html()), "text/plain": [f"<{type(value).__name__}>"]}


def lines(text):
    """A text as notebooks keep it."""
    return text.splitlines(keepends=True)


def text_of(notebook):
    """A notebook as a file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run_all():
    """Run every notebook, and write what it shows."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        made = executed(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(text_of(made), encoding="utf-8")
        sys.stderr.write(f"{path}\n")


if __name__ == "__main__":
    run_all()
