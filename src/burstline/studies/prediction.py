"""Learning from fused tables: predict bursts of ranks or programs never seen, and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Floats, Integers
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.merge import DO_NOT_USE, STAGES, VERDICTS, compare
from burstline.progress import SILENCE, Progress
from burstline.studies.burst_features import (
    DURATION,
    FeatureMatrix,
    Roles,
    column_values,
    counter_of,
    counters_of,
    matrix,
    roles,
    runs_of,
)
from burstline.studies.learned import Learned, Score
from burstline.studies.scoring import (
    SEED,
    Trial,
    folds,
    groups,
    importances,
    require,
    score,
    score_of_nothing,
)


def reliability(tables: Sequence[pa.Table]) -> dict[str, str]:
    """A verdict on each counter that several runs have counted."""
    verdicts: dict[str, str] = {}
    for table in tables:
        columns: dict[str, list[pa.Field]] = {}
        for field in (field for fields in counters_of(table.schema) for field in fields):
            columns.setdefault(counter_of(field), []).append(field)
        for counter, fields in columns.items():
            verdict = _verdict_on(table, counter, fields)
            if verdict is not None:
                others = (verdict, verdicts.get(counter, verdict))
                verdicts[counter] = max(others, key=VERDICTS.index)
    return verdicts


def _verdict_on(table: pa.Table, counter: str, fields: list[pa.Field]) -> str | None:
    if len(fields) < 2:
        if len(runs_of(fields[0])) < 2:
            return None
        fields = fields * 2  # runs that count alike in every burst have one column
    values = np.column_stack([column_values([table], field.name) for field in fields])
    return compare(counter, values).verdict


FEATURES: Final = ("both", "base", "merged")
_LEAST_BURSTS: Final = 40
_MOST_BURSTS: Final = 50_000
_SAYS_TOO_MUCH: Final = 0.99999


def learn(
    tables: Mapping[str, pa.Table],
    *,
    target: str = "duration",
    features: str = "both",
    by: str | None = None,
    model: str = "forest",
    verdicts: Mapping[str, str] | None = None,
    drop_unreliable: bool = False,
    control: bool = False,
    without: Sequence[str] = (),
    repeats: bool = False,
    most: int = _MOST_BURSTS,
    threads: int = 1,
    progress: Progress = SILENCE,
) -> Learned:
    """How well bursts can be predicted, and whether more counters help.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
        Fused tables by name, each of a program, or of a size of it.
    target : str
        ``duration``, ``ipc``, or a column of numbers.
    features : {"both", "base", "merged"}
        Which sets to try: ``base`` is what the base run alone gives, the calls around a
        burst included; ``merged`` adds other runs' counters to it.
    by : {"rank", "application", "code"}, optional
        What is never predicted from itself; by default the rank, of several tables the
        table.
    model : {"forest", "boosting"}
        Kind of predictor.
    verdicts : mapping of str to str, optional
        How far each counter repeats, from `check-merge`, instead of the tables' own verdicts.
    drop_unreliable : bool
        Try the merged set without the counters that are not to be used, too, the base's
        among them.
    control : bool
        Try it with the values of other runs' counters dealt out at random, too: as many
        features, and no more knowledge.
    without : sequence of str
        Columns that shall be no features.
    repeats : bool
        Allow other runs' measurements of the target, or of a part of it, as features.
    most : int
        Of more bursts, so many are drawn at random.
    threads : int
        To grow trees on.
    progress : Progress
        Counts the folds of each set of features that have been tried.

    Returns
    -------
    Learned
        The same for the same input and version of scikit-learn.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed.
    ParameterError
        If an argument is none of those above, or names a column that is not there.
    NotEnoughDataError
        If there are fewer than 40 bursts with a target, all in one group, no
        counter of another run where some are asked for, or no feature.

    Notes
    -----
    Errors are relative, ``|p - m| / max(p, m)``, so that short bursts count as much as long
    ones, and twice as much as half; of a column of integers the logarithm is predicted.
    Both sets see the same bursts, those matched with another run. The target's own parts
    are never features: cycles and CPU time for a duration, instructions too for
    instructions per cycle. Ranks of one program do the same: that a burst of an unseen rank is
    predicted says little about another program, see ``seen``. Cost: trees times n log n for n
    bursts, for each set and fold; a feature is 8 bytes.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> work = np.random.default_rng(1).integers(100, 10_000, 200)
    >>> columns = {"rank": None, "duration_ns": None, "IR_LD_INS": {"runs": "2"}}
    >>> fields = [pa.field(name, pa.int64(), metadata=runs) for name, runs in columns.items()]
    >>> values = [np.arange(200) % 4, 3 * work, work]
    >>> learned = learn({"a": pa.table(values, schema=pa.schema(fields))}, features="merged")
    >>> learned.score("merged").mean < 0.1 < learned.score("nothing").mean
    True
    """
    _require_arguments(tables, features, most, model)
    parts = list(tables.values())
    column = DURATION if target == "duration" else target
    columns = _shared_roles(tables, column, without=without, repeats=repeats)
    if features != "base" and not columns.merged:
        raise NotEnoughDataError(
            "no counters of other runs. Give fused tables of burstline merge (`dataset`), "
            "or choose `features=base`"
        )
    by = by or ("application" if len(parts) > 1 else "rank")
    rows, left = _usable_rows(parts, column, most, matched=features != "base")
    group = groups(parts, by)[rows]
    field = parts[0].schema.field(column)
    is_log = not pa.types.is_floating(field.type)
    measured = column_values(parts, column)[rows]
    trial = Trial(measured, folds(group, by), model=model, is_log=is_log, threads=threads)
    whole = matrix(parts, (*columns.base, *columns.merged)).rows(rows)
    columns = _without_constants(columns, whole)
    repeated = reliability(parts) | dict(verdicts or {})
    counters = {name: counter_of(parts[0].schema.field(name)) for name in whole.names}
    bad = [name for name in whole.names if repeated.get(counters[name]) == DO_NOT_USE]
    sets = _feature_sets(
        whole, columns, features, bad if drop_unreliable else None, control=control
    )
    # boosting would wait for threads that a shared machine holds up
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 -- comes with scikit-learn

    with threadpool_limits(1):
        scores, importance = _scores_and_importance(trial, sets, progress)
    return Learned(
        target=column,
        unit=(field.metadata or {}).get(b"unit", b"").decode(),
        by=by,
        groups=len(np.unique(group)),
        folds=len(trial.split),
        model=model,
        is_log=is_log,
        measured=measured,
        left=left,
        scores=tuple(scores),
        importance=importance,
        left_out=columns.left_out,
        reliability=repeated,
        warnings=(
            *_suspicious_features(whole, columns, measured),
            *(f"{name} is a feature, but: {DO_NOT_USE}" for name in bad if name in importance),
        ),
    )


def _require_arguments(
    tables: Mapping[str, pa.Table], features: str, most: int, model: str
) -> None:
    if features not in FEATURES:
        raise ParameterError(f"features are {', '.join(FEATURES)}, not {features}")
    if most < _LEAST_BURSTS:
        raise ParameterError(f"nothing can be learnt from fewer than {_LEAST_BURSTS} bursts")
    require(model)
    if not tables:
        raise ParameterError("give at least one table")


def _shared_roles(
    tables: Mapping[str, pa.Table], target: str, *, without: Sequence[str], repeats: bool
) -> Roles:
    """The features that all tables have in the same role."""
    splits = [
        roles(table.schema, target, without=without, repeats=repeats)
        for table in tables.values()
    ]
    left_out = {name: why for split in splits for name, why in split.left_out.items()}
    for names in ([{*split.base} for split in splits], [{*split.merged} for split in splits]):
        missing = names[0].union(*names) - names[0].intersection(*names)
        left_out |= dict.fromkeys(missing, "not in all data sets, or of another run")
    return splits[0].without(dict(sorted(left_out.items())))


def _way_out(values: npt.NDArray[np.float64], target: str) -> str:
    """What to do where too few bursts have a target."""
    if not np.isnan(values).all():
        return "Record a longer run"
    if target == "ipc":
        return "It needs PAPI_TOT_INS and PAPI_TOT_CYC in the base run"
    return "The base run lacks it: choose another target"


def _usable_rows(
    parts: Sequence[pa.Table], target: str, most: int, *, matched: bool
) -> tuple[Integers, dict[str, int]]:
    """The bursts to learn from, with a target, matched, not too many; others by reason."""
    values = column_values(parts, target)
    use = np.ones(len(values), bool)
    left: dict[str, int] = {}
    tests = {"target not known": ~np.isnan(values), "target not positive": ~(values <= 0)}
    if matched and all("stage" in part.column_names for part in parts):
        is_other = [pc.not_equal(part["stage"].cast(pa.string()), STAGES[0]) for part in parts]
        tests["in no other run"] = np.concatenate(
            [pc.fill_null(column, fill_value=False).to_numpy() for column in is_other]
        )
    for why, passed in tests.items():
        left[why] = int((use & ~passed).sum())
        use &= passed
    rows = np.flatnonzero(use)
    if len(rows) < _LEAST_BURSTS:
        reasons = ", ".join(f"{count:,} {why}" for why, count in left.items() if count)
        raise NotEnoughDataError(
            f"{len(rows)} bursts to learn {printable(target)} from, at least {_LEAST_BURSTS} "
            f"are needed{f' ({reasons})' if reasons else ''}. {_way_out(values, target)}"
        )
    left["not drawn"] = max(len(rows) - most, 0)
    if len(rows) > most:
        drawn = np.random.default_rng(SEED).choice(len(rows), most, replace=False)
        rows = rows[np.sort(drawn)]
    return rows, {why: count for why, count in left.items() if count}


def _without_constants(columns: Roles, whole: FeatureMatrix) -> Roles:
    return columns.without(
        {
            name: "the same in all bursts"
            for name, values in zip(whole.names, whole.values.T, strict=True)
            if len(np.unique(values[~np.isnan(values)])) + bool(np.isnan(values).any()) <= 1
        }
    )


def _feature_sets(
    whole: FeatureMatrix,
    columns: Roles,
    features: str,
    bad: Sequence[str] | None,
    *,
    control: bool,
) -> dict[str, FeatureMatrix]:
    """The sets of features to try, by name."""
    sets = {}
    if features != "merged":
        sets["base"] = whole.of(columns.base)
    if features != "base":
        merged = sets["merged"] = whole.of((*columns.base, *columns.merged))
        if bad is not None:
            sets["reliable"] = whole.of([name for name in merged.names if name not in bad])
        if control:
            generator = np.random.default_rng(SEED)
            sets["shuffled"] = merged.shuffled(columns.merged, generator)
    if not all(values.names for values in sets.values()):
        raise NotEnoughDataError(
            "no feature is left: all columns are the same in all bursts, or say the target"
        )
    return sets


def _scores_and_importance(
    trial: Trial, sets: Mapping[str, FeatureMatrix], progress: Progress
) -> tuple[list[Score], dict[str, float]]:
    """The scores of all sets, and the importance of what the largest one holds."""
    progress.step("Learning", len(trial.split) * len(sets), "folds")
    scores = []
    importance: dict[str, float] = {}
    largest = "merged" if "merged" in sets else "base"
    for name, values in sets.items():
        scored, predictors = score(trial, name, values, progress)
        scores.append(scored)
        if name == largest:
            importance = importances(trial, values, predictors)
    scores += [score_of_nothing(trial, name) for name in ("mean", "nothing")]
    return scores, importance


def _suspicious_features(whole: FeatureMatrix, columns: Roles, measured: Floats) -> list[str]:
    """Which features follow the target so closely that they may be it."""
    warnings = []
    for name in (*columns.base, *columns.merged):
        values = whole.of([name]).values[:, 0]
        is_known = ~np.isnan(values)
        if whole.is_name[whole.names.index(name)] or is_known.sum() < _LEAST_BURSTS:
            continue
        feature, target = values[is_known], measured[is_known]
        if (
            feature.std()
            and target.std()
            and abs(np.corrcoef(feature, target)[0, 1]) > _SAYS_TOO_MUCH
        ):
            warnings.append(
                f"{name} follows the target almost exactly: is it another measure of it? "
                f"`without={name}` leaves it out"
            )
    return warnings
