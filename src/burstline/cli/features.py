"""Features of loops on the command line: ``burstline structure --features``.

::

    add_features_options(parser)  ->  arguments  ->  features_asked(arguments)
                                                 ->  print_features(trace, structure, arguments)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import burstline
from burstline import show
from burstline.cli.inputs.detection import detected
from burstline.cli.products.pictures import form_of, picture_path, write_picture
from burstline.errors import MissingExtraError, NotEnoughDataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from burstline.show import Study
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
    group.add_argument(
        "--factor-map", metavar="FILE", help="draw how features go together: X.svg or X.png"
    )


def features_asked(arguments: argparse.Namespace) -> bool:
    """Whether features were asked for; a picture that cannot be is refused."""
    _picture(arguments)
    return arguments.features is not None or arguments.factor_map is not None


def print_features(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> None:
    """Print the features of loops, and draw their map if a file was named."""
    study = _study(trace, structure, arguments)
    if arguments.format == "table":
        show.print_study(study)
    elif arguments.format == "json":
        show.print_json(show.study_document(study))
    else:
        rows = show.feature_rows(study.features, structure.found_in.ranks)
        show.print_csv(tuple(rows[0]), (tuple(row.values()) for row in rows))
    _draw(study, arguments)


def _study(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> Study:
    missing: list[str] = []
    labels = _labels(trace, structure, missing)
    found = burstline.structure.features(
        trace, structure.found_in, labels, scale=arguments.scale
    )
    rows = arguments.features or _ROWS[0]
    shown = _of_loops(found, labels) if rows == "loops" else found
    return show.Study(
        rows=rows,
        features=shown,
        labels=labels,
        factors=_or_why(lambda: burstline.structure.factor_map(shown), missing),
        importance=None
        if labels is None
        else _or_why(lambda: burstline.structure.importance(found), missing),
        accuracies=()
        if labels is None
        else tuple(_accuracies(trace, structure, labels, arguments)),
        missing=tuple(missing),
    )


def _labels(trace: Trace, structure: Structure, missing: list[str]) -> Labels | None:

    return _or_why(lambda: burstline.structure.labels_of(trace, structure.found_in), missing)


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


def _draw(study: Study, arguments: argparse.Namespace) -> None:
    path = _picture(arguments)
    if path is None:
        return
    if study.factors is None:
        raise NotEnoughDataError(f"{path} is not drawn: {'; '.join(study.missing)}")
    title = Path(arguments.trace).name
    write_picture(path, show.factor_plot(study.factors, form=form_of(path), title=title))
    show.note(f"{path}: {len(study.factors.names)} variables")


def _picture(arguments: argparse.Namespace) -> Path | None:
    wanted = arguments.factor_map
    return None if wanted is None else picture_path(wanted, force=arguments.force)
