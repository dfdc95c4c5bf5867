"""The commands that are compared, and the traces they run on."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import recordings

COMMANDS = re.findall(
    r"\S+",
    "record counters cc c++ report info waits clocks compare structure table browse plot "
    "flame matrix histogram cut annotate retime convert merge check-merge learn phases "
    "signature predict demo completion",
)
ENDINGS = ("prv", "prv.gz", "store", "csv", "parquet", "otf2", "perfetto.json")
READABLE = ENDINGS[:-1]
REPRESENTATIVE = {
    "fixture_hwc-time.prv",
    "fixture_mpi4.prv",
    "fixture_omp-new.prv",
    "fixture_two-apps.prv",
    "lulesh_8r",
    "npb_ft_S_4r",
    "otf2_eztrace_toy4",
    "otf2_scorep_hybrid_2x3",
    "otf2_scorep_toy4",
    "raw_hybrid",
    "raw_ring",
    "toy_t5_cond_middle",
}  # on these everything is tried
SHORT = {
    "irregular_run1",
    "lulesh_8r",
    "raw_counted",
    "raw_hybrid",
    "raw_ring",
    "raw_ring_killed",
    "text_A1",
    "text_hyb03",
}  # of the repository: on these each command runs
DAMAGED = {"fixture_mpi4.prv", "lulesh_8r", "otf2_scorep_toy4", "raw_ring"}
LIMITED = {"lulesh_27r_s4_i30", "otf2_scorep_lulesh_8r_s10_i30"}  # beside those: large ones
COUNTED = "raw_counted"  # has the counters of all clocks
RING = "raw_ring"  # its program can be run
COLD = "lulesh_8r"  # every command on it imports what it needs, as in a new process
SMALL = 400_000  # bytes of a pair of traces on which every way to merge is tried
PAIRS = {
    "cg": ("npb_cg_S_4r_run1", "npb_cg_S_4r_run2"),
    "idrun": ("idrun_run1", "idrun_run2"),
    "irregular": ("irregular_run1", "irregular_run2"),
    "lulesh": ("lulesh_8r_s4_i10_run1", "lulesh_8r_s4_i10_run2"),
    "toy_alias": ("toy_t4_alias2_hidden", "toy_t4_alias2_super"),
    "toy_aslr": ("toy_t1_nested2", "toy_t1_nested2_pie_aslr"),
    "toy_cond": ("toy_t5_cond_first", "toy_t5_cond_middle"),
    "toy_irregular": ("toy_irregular_run1", "toy_irregular_run2"),
}


def _of(traces: str, groups: str) -> list[str]:
    """Return the patterns of some groups of commands on some traces."""
    return [f"{trace}/{group}" for trace in traces.split() for group in groups.split()]


_PRINTED = "info report structure table plot waits retime compare phases signature browse"
_FEW = [
    *_of("lulesh_8r pair_irregular raw_ring", "each"),
    *_of("no_trace", "help demo completion counters compile"),
    "raw_counted/effort",
    "raw_ring/record",
]
_SOME = [
    *_FEW,
    *_of("raw_hybrid raw_ring_killed text_A1 text_hyb03", "each"),
    *_of("no_trace raw_counted pair_toy_cond pair_irregular cube_scorep_toy4_scout", "*"),
    *_of("raw_ring raw_hybrid otf2_scorep_toy4", f"{_PRINTED} annotate cut"),
    *_of("lulesh_8r", "structure waits annotate cut"),
    *_of("fixture_mpi4.prv fixture_omp-new.prv fixture_two-apps.prv", _PRINTED),
    *_of("npb_ft_S_4r toy_t5_cond_middle otf2_scorep_hybrid_2x3", _PRINTED),
    *_of("raw_ring otf2_scorep_toy4", "structure-more table-more api convert-* damage-halve-*"),
    *_of("fixture_mpi4.prv", "existing application convert-otf2"),
]
CHOICES = {"few": "|".join(_FEW), "some": "|".join(_SOME), "all": "*"}
"""How much is compared: what takes seconds, what takes minutes, and everything."""


@dataclass(frozen=True)
class Step:
    """One command: its words, whether it writes to a terminal, and whether it measures time.

    Of what measures time, or runs a program, the shape of what it prints is compared.
    """

    words: tuple[str, ...]
    terminal: bool = False
    timed: bool = False

    @property
    def command(self) -> str:
        """The command as it is printed, and matched by rows of the table."""
        return " ".join(self.words) + (" (terminal)" if self.terminal else "")


@dataclass(frozen=True)
class Case:
    """Commands that run one after the other in a folder with one trace."""

    name: str
    trace: str
    steps: tuple[Step, ...]
    inputs: str = field(default="", compare=False)

    @property
    def cold(self) -> bool:
        """Whether it runs before anything of burstline is imported."""
        return self.trace == COLD

    @property
    def key(self) -> str:
        """A hash of all that a result depends on, but for burstline."""
        commands = [step.command for step in self.steps]
        parts = [self.name, self.inputs, commands, _hash_of("chance.py")]
        if any(command.startswith("@") for command in commands):
            parts.append(_hash_of("tables.py"))
        text = json.dumps(parts)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def _hash_of(name: str) -> str:
    return hashlib.sha256(Path(__file__).with_name(name).read_bytes()).hexdigest()


def stored(out: Path, name: str, key: str) -> Path:
    """Return the file of a case's result."""
    short = re.sub(r"[^\w.+-]+", "_", name)[:120]
    return out / "results" / f"{short}-{key}.json"


@dataclass
class Input:
    """A trace: the folder it is in, what names it there, what it is, and how large."""

    name: str
    file: str
    kind: str
    size: int


class Inputs:
    """Folders with the traces, made below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.every: list[Input] = []
        self.hashes: dict[str, str] = {}

    def add(self, name: str, kind: str, *paths: Path) -> None:
        """Copy a trace, the first of `paths` naming it."""
        target = self.folder / name
        target.mkdir(parents=True)
        digest, size = hashlib.sha256(), 0
        for path in paths:
            if path.is_dir():
                shutil.copytree(path, target / path.name)
            elif path.exists():
                shutil.copy(path, target)
        for path in sorted(target.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (1_700_000_000, 1_700_000_000))
            if path.is_file():
                data = path.read_bytes()
                size += len(data)
                digest.update(str(path.relative_to(target)).encode() + b"\0" + data)
        self.hashes[name] = digest.hexdigest()
        self.every.append(Input(name, paths[0].name, kind, size))

    def add_prv(self, path: Path, name: str = "") -> None:
        """Copy a Paraver trace: three files."""
        stem = path.name.removesuffix(".gz").removesuffix(".prv")
        others = [path.with_name(stem + ending) for ending in (".pcf", ".row")]
        self.add(name or stem, "prv", path, *others)


def gather(root: Path, folder: Path) -> Inputs:
    """Return all traces, copied below `folder`."""
    inputs = Inputs(folder)
    given = os.environ.get("BURSTLINE_TRACES")
    for path in sorted(Path(given).glob("*.prv.gz")) if given else ():
        inputs.add_prv(path)
    for path in sorted(Path(given, "fixtures").glob("*.prv*")) if given else ():
        inputs.add_prv(path, f"fixture_{path.name}")
    for anchor in sorted(Path(given, "otf2").rglob("*.otf2")) if given else ():
        parts = [anchor.with_suffix(".def"), anchor.with_suffix("")]
        name = anchor.relative_to(Path(given or "", "otf2")).parts[0]
        inputs.add(f"otf2_{name}", "otf2", anchor, *parts)
        if anchor.parent.joinpath(f"{name}.prv.gz").exists():
            inputs.add_prv(anchor.parent / f"{name}.prv.gz", f"prv_{name}")
    for path in sorted(Path(given, "otf2").rglob("*.cubex")) if given else ():
        inputs.add(f"cube_{path.parent.name}_{path.stem}", "cube", path)
    inputs.add_prv(root / "src/burstline/data/lulesh_8r.prv.gz")
    for path in sorted((root / "tests/golden/irregular").glob("*.prv.gz")):
        inputs.add_prv(path)
    for path in sorted((root / "tests/golden/oracle").glob("*.txt")):
        inputs.add(f"text_{path.stem}", "text", path)
    add_recordings(inputs, root / "tests/recordings")
    for name, pair in PAIRS.items():
        add_pair(inputs, name, pair)
    return inputs


def add_recordings(inputs: Inputs, folder: Path) -> None:
    """Copy folders of raw files, and write a long one."""
    programs = recordings.place_programs(folder / "programs")
    for path in sorted(folder.glob("*/")):
        if path.name != "programs":
            inputs.add(f"raw_{path.name}", "raw", path)
            inputs.hashes[f"raw_{path.name}"] += programs
    long = inputs.folder / "long"
    recordings.write_long(long)
    inputs.add("raw_long", "long", long)
    shutil.rmtree(long)


def add_pair(inputs: Inputs, name: str, pair: tuple[str, str]) -> None:
    """Put two runs of one program into one folder."""
    if all((inputs.folder / run).exists() for run in pair):
        files = [path for run in pair for path in sorted((inputs.folder / run).iterdir())]
        runs = [inputs.folder / run / f"{run}.prv.gz" for run in pair]
        others = [path for path in files if path not in runs]
        inputs.add(f"pair_{name}", "pair", *runs, *others)


def commands(text: str, trace: str = "") -> tuple[Step, ...]:
    """Return the commands of lines: T is the trace, a final % a terminal, a final ~ timed."""
    steps = []
    for line in filter(None, map(str.strip, text.splitlines())):
        words = line.rstrip("%~").split()
        filled = tuple(trace if word == "T" else word for word in words)
        steps.append(Step(filled, terminal=line.endswith("%"), timed=line.endswith("~")))
    return tuple(steps)


BASIC = {
    "basic": """
        info T
        info T --format json
        structure T
        structure T --format json
        table T -o t.parquet
        @tables T
        info T --memory 300Mi
        convert T out.prv
        convert T out.store --memory 1G
        @listing out.store/*.parquet
        convert out.store back.prv
        convert T out.otf2
        @tables out.otf2
        annotate T a.prv
        """,
}
EACH = {
    "each": """
        info T --full
        info T --format json
        structure T
        structure T --method exact --format json
        waits T
        waits T --clock lt_1 --format json
        compare T --clocks physical,lt_1
        matrix T --format json
        histogram T --format json
        flame T --format json
        report T --format json
        phases T
        phases T --method epas --format json
        signature build T -o app.sig
        @measure app.sig measured.json
        predict app.sig measured.json
        plot T
        table T -o t.parquet
        @listing t.parquet
        annotate T -o a.prv --waits
        retime T --clock lt_1 -o r.store
        @tables r.store
        cut T -o c.otf2 --ranks 0
        convert T s.csv
        @browse T
        """,
}
ON_TEXT = {
    "basic": """
        info T --format json
        structure T --format json
        @tables T
        convert T out.store
        convert T out.otf2
        @tables out.otf2
        """,
}
ON_CUBE = {
    "info": """
        info T
        info T %
        info T --format json
        info T --format csv
        info T --top 3
        info T --ranks 0
        structure T
        @halve T
        info T
        """,
    "compare": """
        compare T T
        compare T T --metrics all --format json
        compare T --with T --plot c.svg --format csv
        """,
}
PRINTED = {
    "info": """
        info T
        info T %
        info T --format json
        info T --format csv --top 3
        info T --from 100ms --to 300ms --ranks 0-1
        info T --loop 1 --iterations 1:2 --format json
        info T --full --span trace
        """,
    "report": """
        report T --format json
        report T --from 100ms --to 300ms --ranks 0-1 --format json
        matrix T
        matrix T --format csv
        flame T
        flame T --format csv
        histogram T
        histogram T --counter rank --format csv
        """,
    "structure": """
        structure T
        structure T %
        structure T --format json
        structure T --method seed
        structure T --method exact --format json
        structure T --iterations 1
        structure T --other
        structure T --calls-of 1
        structure T --in-calls --times
        """,
    "table": """
        table T
        table T --format json
        table T -o t.parquet
        @listing t.parquet
        """,
    "plot": """
        plot T
        plot T -o p.svg
        """,
    "waits": """
        waits T
        waits T %
        waits T --format json
        waits T --format csv --clock lt_1
        waits T --by iteration --top 2
        waits T --from 100ms --to 300ms --ranks 0-1
        waits T --intrinsic
        waits T -o w.cubex
        info w.cubex
        """,
    "retime": """
        retime T r.prv --clock lt_1
        retime T r.store --clock lt_1 --collectives full --ranks 0-1 --format json
        @tables r.store
        retime T s.store
        waits r.store --format json
        """,
    "compare": """
        compare T T --clocks lt_1
        compare T --clocks physical,lt_1 --format json
        compare T --clocks physical,lt_1 --plot c.svg
        """,
    "phases": """
        phases T
        phases T --format json
        phases T --method epas --key full --top 5
        phases T --method pas2p --format csv
        """,
    "signature": """
        signature build T -o app.sig
        signature build T -o epas.sig --method epas --phase-table table.txt --format json
        @measure app.sig measured.json
        predict app.sig measured.json
        predict app.sig measured.json measured.json --estimator mean --format json
        predict app.sig measured.json --format csv
        """,
    "browse": """
        browse T
        @browse T
        @browse T down enter b p
        """,
    "tables": "@tables T",
    "limits": """
        info T --memory 256Mi
        info T --memory 300Mi
        info T --memory 1G
        convert T m.store --memory 256Mi
        convert T n.store --memory 300Mi
        convert T o.store --memory 1G
        @tables o.store
        info T --memory 16Mi
        convert T p.store --memory 16Mi
        convert T q.store --memory 64Mi
        convert T q.otf2 --memory 64Mi
        structure T --memory 32Mi
        table T -o t.parquet --memory 32Mi
        cut o.store r.prv --first 300ms --memory 16Mi
        convert o.store s.prv --memory 16Mi
        """,
}
MORE = {
    "structure-more": """
        structure T --method exact --format csv
        structure T --method seed --format json
        structure T --method seed --rank-merge early --scale minmax --eps 0.3
        structure T --min-share 0 --bursts 1us --show-ranks 0-1 --depth 2
        structure T --counter TASK-CLOCK
        structure T -o s.parquet
        structure T -o s.csv
        @listing s.parquet
        structure T --features
        structure T --features loops --format json
        structure T --factor-map f.svg
        structure T --from 100ms --to 800ms --ranks 0-2
        """,
    "iterations": """
        structure T --iterations 1 --slowest 2 %
        structure T --iterations 1 --format json
        structure T --iterations 1 --format csv
        structure T --iterations 1 -o i.parquet
        structure T --loop 1 --iterations 2:3
        """,
    "table-more": """
        table T %
        table T --format csv --columns rank,burst,duration_ns
        table T -o t.csv --min-duration 10us --ranks 0-1
        table T -o t.arrow
        table T --loop 1 --iterations 1:2 --format json
        """,
    "plot-more": """
        plot T --method seed -o p.png
        plot T --from 50ms %
        """,
    "cut": """
        cut T a.prv --first 500ms
        cut T b.prv.gz --last 300ms --ranks 0-1
        cut T c.store --from 100ms --to 900ms --format json
        info c.store
        cut T d.otf2 --loop 1 --iterations 2:3
        info d.otf2
        cut T e.prv --from 1ms --to 5ms
        """,
    "annotate": """
        annotate T -o a.prv --cfg-dir cfgs
        annotate T b.store --method seed --format json
        annotate T -o c.otf2 --max-depth 1 --from 100ms --to 900ms
        structure a.prv
        structure a.prv --features loops
        annotate T -o d.prv --waits
        """,
    "api": "@calls T",
    "api-read": """
        @tables T raw=false
        @tables T threads=1 strict=true
        @tables T memory=400000000
        """,
}
ON_COUNTED = {
    "clocks": """
        waits T --clock lt_bb
        waits T --clock lt_loop --format json
        waits T --intrinsic
        waits T --intrinsic --format json
        retime T s.prv
        retime T h.store --clock lt_hwctr --counter IR_LD_INS=2,IR_TOT_INS --without-mpi
        @tables h.store
        compare T --clocks physical,lt_stmt,lt_bb
        """,
    "effort": """
        clocks fit T -o fitted.toml
        clocks fit T -o some.toml --counter IR_TOT_INS,IR_LD_INS --format json
        retime T --clock lt_hwctr --effort-model fitted.toml -o ns.prv
        waits T --clock lt_hwctr --effort-model fitted.toml
        compare T --clocks physical,lt_hwctr --effort-model fitted.toml --format json
        clocks calibrate -o c.toml --compiler no-such
        """,
}
ON_RING = {
    "record": """
        record -o recorded.prv -- mpirun -n 3 RING ~
        @shape recorded.prv
        record --profile -- mpirun -n 3 RING ~
        signature build T -o ring.sig
        signature run ring.sig -o measured.json --format json -- mpirun -n 3 RING ~
        predict validate ring.sig --runs 1 --format json -- mpirun -n 3 RING ~
        """.replace("RING", str(recordings.PLACE / "ring")),
}
ON_DAMAGED = {
    "existing": """
        convert T out.prv
        convert T out.prv
        convert T out.prv --force --quiet
        convert T out.store
        convert T out.store
        convert T out.store --force --format json
        convert T out.otf2
        convert T out.otf2
        convert T out.csv --threads 1 --progress
        convert T out.csv
        convert T out.xyz
        convert T
        table T -o t.csv
        table T -o t.csv
        """,
    "application": """
        info T --app 0 --format json
        structure T --app 0
        info T --app 7
        cut T a.prv --app 0 --first 100ms
        annotate T -o b.prv --app 0
        """,
}
ON_PAIRS = {
    "merge": """
        merge A B
        merge A B %
        merge A B --format json
        merge A B -o m.prv --dataset m.parquet --pairs p.parquet --plot m.svg
        @listing m.parquet p.parquet
        info m.prv
        table m.prv --format json
        learn m.parquet --format json
        check-merge A m.prv
        """,
    "merge-seed": """
        merge A B --method seed -o s.prv.gz --dataset s.csv --drop-unmatched
        merge A B --method seed --format json
        """,
    "check": """
        check-merge A B
        check-merge A B --method seed --format json
        check-merge A B --by phase --plot c.svg %
        check-merge A B --by call-path --top 3 --format csv
        """,
}
ON_SMALL_PAIRS = {
    "each": """
        compare A B
        merge A B -o m.prv --dataset m.parquet --pairs p.csv
        check-merge A B --by phase
        learn m.parquet --most 300 --format json
        """,
    "scaling": """
        info A B
        info A B --scaling weak --format json
        signature build A B -o app.sig --format json
        """,
    "compare": """
        compare A B
        compare A B %
        compare A --with B --clocks lt_1 --format json
        compare A B --clocks physical,lt_1 --plot c.png --top 3 --format csv
        """,
    "merge-ways": """
        merge A B --method seed --assignment optimal --block 64 --both-sizes --aligned-spans
        merge B A --base 2 --window 32 --limit 0.5 --place-weight 0.2 --format csv
        convert A a.store
        convert B b.store
        merge a.store b.store -o c.prv --pairs c.csv --rank 1 --plot c.png
        merge a.store B --dataset d.arrow
        """,
    "learn": """
        learn A B
        learn A B --model boosting --control --repeats --format json
        learn A B --features base --by code --plot l.svg --most 500 %
        """,
}


def conversions() -> dict[str, str]:
    """Return for each format the commands that write it and read it back."""
    made = {}
    for ending in ENDINGS:
        lines = [f"convert T out.{ending}"]
        if ending in READABLE:
            lines += [f"info out.{ending} --format json", f"@tables out.{ending}"]
        if ending in {"store", "otf2", "csv", "parquet"}:
            lines.append(f"convert out.{ending} back.prv")
        if ending == "store":
            lines += ["@listing out.store/*.parquet", "convert T short.store --no-raw"]
            lines += ["structure out.store --format json", "table out.store"]
            lines += ["convert out.store other.store", "convert out.store out.csv"]
        if ending == "perfetto.json":
            lines.append("convert T out.perfetto.json.gz")
        made[f"convert-{ending}"] = "\n".join(lines)
    return made


def damages(files: list[str]) -> dict[str, str]:
    """Return commands on a trace of which one file is cut short, changed or not there."""
    made = {}
    for name in files:
        for action in ("halve", "spoil", "remove"):
            made[f"damage-{action}-{name}"] = (
                f"@{action} {name}\ninfo T\n@tables T strict=true\nconvert T out.store\n"
                "structure T --format json"
            )
    return made


def damages_to_outputs() -> dict[str, str]:
    """Return commands on outputs of which a file is cut short, changed or not there."""
    made = {}
    for ending, names in {
        "store": ("calls.parquet", "metadata.parquet", "burstline-store.json"),
        "csv": ("calls.csv", "locations.csv", "event_types.csv"),
        "parquet": ("calls.parquet", "messages.parquet"),
    }.items():
        for name in names:
            lines = [f"convert T whole.{ending}"]
            for action in ("halve", "spoil", "remove"):
                lines += [
                    f"convert whole.{ending} out.{ending} --force",
                    f"@{action} out.{ending}/{name}",
                    f"info out.{ending}",
                    f"@tables out.{ending}",
                    f"convert out.{ending} out.prv --force",
                ]
            made[f"damage-{ending}-{name}"] = "\n".join(lines)
    return made


def without_trace() -> dict[str, str]:
    """Return commands that need no trace."""
    made = {f"help-{name}": f"{name} --help\n{name}\n{name} --no-such" for name in COMMANDS}
    made["help"] = "--help\n--version\n\nno-such"
    made["completion"] = "completion bash\ncompletion zsh\ncompletion fish"
    made["nowhere"] = "info no.prv\nconvert no.prv a.store\ncut no.otf2 b.prv\nplot no.store"
    made["record"] = "record\nrecord -- ./no-such\nrecord --counters none -- true"
    made["demo"] = "demo\ndemo %"
    made["counters"] = """
        counters list
        counters list --format json
        @papi libpapi.so
        counters list --papi ./libpapi.so
        counters plan PAPI_TOT_CYC PAPI_L1_DCM PAPI_L2_DCM --papi ./libpapi.so -o sets.toml
        """
    made["compile"] = """
        @program sum.c
        cc -- clang -O1 -c sum.c -o all.o
        cc --count statements,flops --loops -- clang -O1 -c sum.c -o some.o
        c++ -- clang++ -O1 -x c++ -c sum.c -o other.o
        cc -- gcc -c sum.c
        """
    return made


def plan(root: Path, folder: Path) -> list[Case]:
    """Return all cases, after copying their traces below `folder`."""
    inputs = gather(root, folder)
    made = [
        Case(f"no_trace/{name}", "", commands(text)) for name, text in without_trace().items()
    ]
    for one in inputs.every:
        for name, text in texts(one, folder).items():
            steps = commands(text, one.file)
            if one.kind == "pair":
                runs = sorted(path.name for path in (folder / one.name).glob("*.prv.gz"))
                steps = commands(re.sub(r"\bA\b", runs[0], re.sub(r"\bB\b", runs[1], text)))
            made.append(Case(f"{one.name}/{name}", one.name, steps, inputs.hashes[one.name]))
    return made


def texts(one: Input, folder: Path) -> dict[str, str]:
    """Return what is run on a trace: more on small ones, and on one of each format."""
    if one.kind == "pair":
        return ON_PAIRS | (ON_SMALL_PAIRS if one.size < SMALL else {})
    if one.kind == "cube":
        return ON_CUBE
    each = EACH if one.name in SHORT else {}
    if one.kind == "long":
        return {name: PRINTED[name] for name in ("info", "limits")} | BASIC
    if one.kind == "text":
        return ON_TEXT | each | (damages([one.file]) if one.name == "text_A1" else {})
    if one.name not in REPRESENTATIVE:
        limits = {"limits": PRINTED["limits"]} if one.name in LIMITED else {}
        return BASIC | each | limits | (ON_COUNTED if one.name == COUNTED else {})
    made = PRINTED | MORE | each | conversions()
    if one.name == RING:
        made |= ON_RING
    if one.name == COLD:
        made |= damages_to_outputs()
    if one.name in DAMAGED:
        inside = folder / one.name
        files = sorted(path for path in inside.rglob("*") if path.is_file())
        made |= ON_DAMAGED | damages([str(path.relative_to(inside)) for path in files])
    return made
