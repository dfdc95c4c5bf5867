"""Features of loops on the command line: ``burstline structure --features``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs.detection import detected
from burstline.cli.products.files import picture_file, write_figure
from burstline.errors import MissingExtraError, NotEnoughDataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from burstline.show import StudyView
    from burstline.structure import Accuracy, Features, Labels, Structure
    from burstline.trace import Trace

_ROWS: Final = ("calls", "loops")
_METHODS: Final = ("seed", "exact")

T = TypeVar("T")


def add_features_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study of features needs to a parser that went through `add_detection`."""
    group = parser.add_argument_group(
        "features of loops",
        "which properties of calls tell loops apart and, where calls are labelled with\n"
        "the loops of the source, how true the detected ones are",
    )
    group.add_argument(
        "--features",
        nargs="?",
        const=_ROWS[0],
        choices=_ROWS,
        help="show that instead of the pseudo-code; of calls (default) or of labelled loops",
    )
    usage.add(group, {"--factor-map FILE": "draw how features go together: X.svg or X.png"})


def features_asked(arguments: argparse.Namespace) -> bool:
    """Whether features were asked for; a picture that cannot be is refused."""
    picture_file(arguments.factor_map, force=arguments.force)
    return arguments.features is not None or arguments.factor_map is not None


def study_view(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> StudyView:
    """What is known of the features of loops; the trace has its records if it has labels."""
    missing: list[str] = []
    labels = _or_why(lambda: burstline.structure.labels_of(trace, structure.found_in), missing)
    found = burstline.structure.features(
        trace, structure.found_in, labels, scale=arguments.scale
    )
    kind = arguments.features or _ROWS[0]
    shown = _of_loops(found, labels) if kind == "loops" else found
    known = labels is not None
    return show.StudyView(
        kind=kind,
        result=shown,
        ranks=structure.found_in.ranks,
        labels=labels,
        factors=_or_why(lambda: burstline.structure.factor_map(shown), missing),
        importance=_or_why(lambda: burstline.structure.importance(found), missing)
        if known
        else None,
        accuracies=()
        if labels is None
        else tuple(_accuracies(trace, structure, labels, arguments)),
        missing=tuple(missing),
        title=Path(arguments.trace).name,
    )


def _or_why(compute: Callable[[], T], missing: list[str]) -> T | None:
    """A result, or None and the reason why there is none."""
    try:
        return compute()
    except (MissingExtraError, NotEnoughDataError) as reason:
        missing.append(str(reason))
        return None


def _of_loops(found: Features, labels: Labels | None) -> Features:
    by_loop = found.by_loop()
    if labels is None or not len(by_loop):
        raise NotEnoughDataError(
            "features of loops need calls with labels. --features calls does without"
        )
    return by_loop


def _accuracies(
    trace: Trace, structure: Structure, labels: Labels, arguments: argparse.Namespace
) -> Iterator[Accuracy]:
    yield burstline.structure.accuracy(structure, labels)
    for method in _METHODS:
        if method != structure.method:
            other = argparse.Namespace(**vars(arguments) | {"method": method})
            yield burstline.structure.accuracy(detected(trace, other), labels)


def draw_factor_map(view: StudyView, arguments: argparse.Namespace) -> None:
    """Draw how features go together, if a file was named."""
    path = picture_file(arguments.factor_map, force=arguments.force)
    if path is None:
        return
    if view.factors is None:
        raise NotEnoughDataError(f"{path} is not drawn: {'; '.join(view.missing)}")
    write_figure(path, view.figures()["factors"])
    show.note(f"{path}: {len(view.factors.names)} variables")
