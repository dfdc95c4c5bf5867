"""If you doubt the tree, read its twin: it looks through all regions for each question."""


def paths_of(trace):
    """Give the names above and of each call, and of each region, as the regions tell them."""
    regions, calls, teams = (
        trace.table(name).to_pylist() for name in ("regions", "calls", "teams")
    )
    definitions = trace.region_defs.to_pylist()
    by_id = {team["team"]: team for team in teams}

    def what(region):
        return definitions[region["region"]]

    def around(location, seq):
        """Give the innermost region that is open at an event, or None."""
        open_ = [
            region
            for region in regions
            if region["location"] == location
            and region["enter_seq"] < seq <= region["leave_seq"]
        ]
        return max(open_, key=lambda region: region["enter_seq"], default=None)

    def inside(location, seq):
        region = around(location, seq)
        return () if region is None else path(region)

    def parallel_in(team_region):
        """Whether a region `parallel` is what the team does: then it is the construct."""
        return any(
            what(region)["role"] == "parallel"
            and region["team"] == team_region["team"]
            and around(region["location"], region["enter_seq"]) is team_region
            for region in regions
        )

    def path(region):
        above = inside(region["location"], region["enter_seq"])
        team = by_id.get(region["team"])
        if team is not None and what(region)["role"] in {"team", "parallel"}:
            above = inside(team["fork_location"], team["fork_seq"])
            if what(region)["role"] == "team":
                return above if parallel_in(region) else (*above, "!$omp parallel")
        return (*above, _word(what(region)))

    return (
        [(*inside(call["location"], call["enter_seq"]), call["operation"]) for call in calls],
        [path(region) for region in regions],
    )


def frames_above(table):
    """Give the frames of each row of `call_paths`, outermost first, with all of its callers."""
    rows = table.to_pylist()

    def callers(row):
        above = [] if row["parent"] is None else callers(rows[row["parent"]])
        return [*above, (row["function"], row["file"], row["line"])]

    return [callers(row) for row in rows]


def without_depth(frames):
    """Leave the innermost of frames in a row that are of one function in one file."""
    pairs = zip(frames, [*frames[1:], (None, None, None)], strict=True)
    return [frame for frame, inner in pairs if frame[:2] != inner[:2]]


def _word(definition):
    name = definition["name"]
    if definition["paradigm"] != "openmp" or name.startswith("!$omp"):
        return name
    return f"!$omp {definition['role'].replace('_', ' ')}"


def whole(stack, stacks):
    """Give the one place of a cut stack in whole ones: (frames or None, whether several fit).

    Frames are (function, line), outermost first.
    """
    above = {known[:length] for known in stacks for length in range(1, len(known) + 1)}
    for length in range(len(stack), 0, -1):
        fits = {path for path in above if path[-length:] == stack[:length]}
        if fits:
            return (None if len(fits) > 1 else (*fits.pop(), *stack[length:])), len(fits) > 0
    callers = {path[:-1] for path in above if path[-1][0] == stack[0][0]}
    return (None if len(callers) != 1 else (*callers.pop(), *stack)), len(callers) > 1
