"""The memory that reading takes: what is refused does not depend on what is allowed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from otf2.enums import ParameterType

import burstline
import raw_files
from burstline import cli
from burstline.formats import raw
from burstline.formats.definitions import text_bytes
from burstline.formats.intake.budget import BASE, ReadingCosts, memory_each, memory_of_all
from burstline.formats.intake.source import window_borders
from burstline.formats.intake.target import HeldTables
from burstline.formats.raw import source
from burstline.formats.store import pages, read_footer
from burstline.model import schema
from burstline.testing import trace_of
from otf2_archives import archive
from paraver_text import HEADER, LINES
from raw_files import Run
from vouched import vouch

COSTS = ReadingCosts(
    tables=2, made=2, ahead=3, streamed=1, disk=1, least=16, most=64, base=0, way_out=""
)


def paraver_trace(folder):
    path = folder / "run.prv"
    path.write_text(HEADER + "\n" + LINES * 100)
    return path


def otf2_trace(folder):
    with archive(folder / "run", 3) as made:
        for rank in range(3):
            made.thread(rank).region("f", 0, 1)
    return folder / "run"


def raw_trace(folder, calls=40):
    run = Run(3)
    for rank in range(3):
        for number in range(calls + 20 * rank):
            run[rank].call(
                "MPI_Allreduce", 40 * number, 40 * number + 5, raw_files.collective()
            )
    run.end(50 * 90).write(folder)
    return folder


def needed(path, memory):
    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.read(path, memory=memory)
    return refused.value.needed_bytes


@pytest.mark.parametrize("trace", [paraver_trace, otf2_trace, raw_trace])
def test_a_refusal_has_one_number_and_that_is_enough(tmp_path, trace):
    path = trace(tmp_path)
    least = needed(path, 1)

    assert {needed(path, memory) for memory in (1 << 20, least // 2, least - 1)} == {least}
    assert burstline.read(path, memory=least).locations.num_rows == 3


def test_in_the_least_memory_processes_are_cut_and_the_tables_are_the_same(
    tmp_path, monkeypatch
):
    folder = raw_trace(tmp_path)
    monkeypatch.setattr(source, "COSTS", replace(source.COSTS, least=16, made=10**6))
    cut = []
    sliced = source.sliced
    monkeypatch.setattr(
        source, "sliced", lambda basis, number, *rest: cut.append(number) or
        sliced(basis, number, *rest)
    )  # fmt: skip
    whole = raw.read(folder, operations=raw_files.NUMBERS)
    assert not cut

    slices = raw.read(folder, operations=raw_files.NUMBERS, memory=needed(folder, 1))
    assert cut == [0, 1, 2]
    for name in schema.TABLES:
        assert (name in whole) == (name in slices)
        assert (
            name not in whole or whole.table(name).to_pylist() == slices.table(name).to_pylist()
        )


@pytest.mark.parametrize(
    ("memory", "plan"),
    [(None, (64, None, 2)), (1000, (64, None, 2)), (650, (16, None, 0)), (550, (16, 16, 0))],
)
def test_ever_less_is_read_at_once_until_it_fits(memory, plan):
    assert COSTS.whole_within([100, 100], [20, 20], memory, 64, 2)[:3] == plan


@pytest.mark.parametrize("uncut", [10, 30, 60])
def test_what_a_conversion_holds_of_processes_that_are_not_cut_fits(uncut):
    at_once, _, threads = COSTS.streamed_within([200], [uncut], BASE + 100, 4)

    assert (threads + 1) * max(at_once, uncut) <= 100


@pytest.mark.parametrize("memory", [BASE // 2, BASE, BASE + 1000])
def test_traces_that_share_a_memory_take_no_more_than_it_together(memory):
    assert memory_of_all(memory_each(memory, 3), 3) <= max(memory, BASE)


def test_tables_are_refused_where_they_do_not_fit_and_not_before():
    rows = pa.table({"location": [0, 0]})
    tables = HeldTables(rows.nbytes, locations=9)

    tables.append("calls", rows)

    with pytest.raises(burstline.MemoryBudgetError):
        tables.append("calls", rows)


@pytest.mark.parametrize(
    ("sizes", "borders"), [([1, 1], [1, 2, 3]), ([2, 2, 4], [2, 4, 5]), ([4, 1], [1, 2])]
)
def test_collectives_are_joined_up_to_the_parts_of_the_largest_communicator(sizes, borders):
    instances = np.full(len(sizes), 2)

    assert window_borders(instances, np.array(sizes), 1).tolist() == borders


def test_two_runs_that_fit_beside_one_process_are_merged(tmp_path, capsys):
    """Half of the memory is less than a process takes; it is there once, not once a run."""
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        runs.append(str(paraver_trace(tmp_path / name)))
    with pytest.raises(SystemExit) as refused:
        cli.main(["merge", *runs, "--memory", "150Mi", "--format", "json"])
    assert refused.value.code == 5

    cli.main(["merge", *runs, "--memory", "240Mi", "--format", "json"])

    assert '"runs"' in capsys.readouterr().out


def test_a_store_of_one_row_many_times_is_refused_before_it_is_read(tmp_path, monkeypatch):
    burstline.write(burstline.read(paraver_trace(tmp_path)), path := tmp_path / "x.store")
    calls = pq.read_table(file := path / "calls.parquet")
    operations = {b"operations": pq.read_metadata(file).metadata[b"operations"]}
    same = pa.concat_tables([calls.slice(0, 1)] * 1000).combine_chunks()
    with pq.ParquetWriter(file, calls.schema, compression="zstd") as writer:
        writer.write_table(pa.concat_tables([same] * 1500), row_group_size=1_500_000)
        writer.add_key_value_metadata(operations)
    vouch(path, calls=1_500_000)
    read = pq.ParquetFile.read_row_groups

    def small(self, *groups, **options):
        assert self.metadata.num_rows < 10_000
        return read(self, *groups, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", small)

    assert file.stat().st_size < 2**20
    assert burstline.read(path).rows("calls") == 1_500_000
    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.summarise(burstline.read(path, memory=2**24))
    assert refused.value.needed_bytes > 2**24


def test_rows_near_a_window_are_those_that_begin_there_and_one_before(tmp_path):
    trace = trace_of("""
        ranks 1
        0 | 0 enter MPI_Init | 1 leave
          | 900 enter MPI_Barrier | 901 leave | 910 enter MPI_Barrier | 911 leave
          | 920 enter MPI_Barrier | 921 leave | 930 enter MPI_Finalize | 931 leave
    """)
    burstline.write(trace, tmp_path / "x.store")

    for each, before in ((trace, 0), (burstline.read(tmp_path / "x.store"), 1)):
        assert each.rows_near("calls", window=(10, 800)) == before
        assert each.rows_near("calls", window=(910, 1000)) == 3 + before


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.txt"])
def test_tables_and_texts_that_do_not_fit_are_refused_before_they_are_read(tmp_path, name):
    if name.endswith("txt"):
        (tmp_path / name).write_text("ranks 1\n0 | 0 enter MPI_Barrier | 5 leave\n" * 9999)
    else:
        burstline.write(burstline.read(paraver_trace(tmp_path)), tmp_path / name)
    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.read(tmp_path / name, memory=2**20)
    assert refused.value.needed_bytes > BASE


def lengthen(path, name, column, texts):
    """Write the first row of a table several times, with other texts in a column."""
    kept = pq.read_table(file := path / f"{name}.parquet")
    columns = {key: kept[key].take([0] * len(texts)) for key in kept.column_names}
    pq.write_table(pa.table(columns | {column: texts}), file, store_schema=False)
    if path.suffix == ".store":
        vouch(path, **{name: len(texts)})


def test_long_texts_of_a_table_are_held_while_the_next_is_read(tmp_path):
    """Each fits, both do not."""
    burstline.write(burstline.read(paraver_trace(tmp_path)), path := tmp_path / "x.store")
    for name, column in (("metadata", "value"), ("source", "text")):
        lengthen(path, name, column, pa.array(["x" * 10_000_000]))
    for name in ("metadata", "source"):
        assert burstline.read(path, memory=50_000_000).table(name).num_rows == 1

    trace = burstline.read(path, memory=50_000_000)
    trace.table("metadata")
    with pytest.raises(burstline.MemoryBudgetError):
        trace.table("source")


def test_a_text_of_many_rows_is_counted_for_each_in_a_folder_of_tables(tmp_path):
    burstline.write(burstline.read(paraver_trace(tmp_path)), path := tmp_path / "x.parquet")
    one = pa.DictionaryArray.from_arrays(pa.repeat(0, 200).cast(pa.int32()), ["x" * 1_000_000])
    lengthen(path, "metadata", "value", one)

    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.read(path, memory=BASE + 250_000_000)

    assert refused.value.needed_bytes > 3 * 200_000_000


def test_a_text_of_many_events_is_counted_for_each(tmp_path):
    with archive(tmp_path / "run") as made:
        parameter = made.definitions.parameter("x" * 1_000_000, ParameterType.INT64)
        for number in range(200):
            made.thread(0).writer.parameter_int(number, parameter, number)

    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.read(tmp_path / "run", memory=400_000_000)

    assert refused.value.needed_bytes > 3 * 200_000_000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_headers_of_pages_say_what_an_honest_footer_says(tmp_path, version):
    words = pa.array([f"text {number % 700}" for number in range(30_000)])
    numbers = pa.array(range(30_000))
    table = pa.table({"words": words, "numbers": numbers, "lists": words.cast(pa.binary())})
    file = tmp_path / "x.parquet"
    pq.write_table(
        table, file, data_page_version=version, data_page_size=4_000, write_page_checksum=True
    )
    footer, column_of = read_footer(file), pq.read_metadata(file).row_group(0).column

    for k in range(3):
        with file.open("rb") as opened:
            read = list(pages._page_headers(opened.fileno(), footer.groups[0].chunks[k]))
        assert len(read) > 3
        assert sum(page.values for page in read) == 30_000
        assert 0.6 < sum(page.bytes for page in read) / column_of(k).total_uncompressed_size < 1

    needed = sum(pages.bytes_to_read(file, footer, [0], ["words", "numbers"]))
    read = pages.open_parquet(file, footer).read(columns=["words", "numbers"])
    assert read.nbytes < needed < 2 * read.nbytes
    assert text_bytes(read, coded=True) == sum(map(len, words.to_pylist()))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\x15\x00\x15",  # it ends within
        b"\x15\x00\x15\x01\x15\x02\x00",  # a size below 0
        b"\x15\x00\x15\x02\x15\x02\x05\x04\x02\x00",  # the same size twice
        b"\x15" + b"\xff" * 20,
        b"\x1c" * 20,  # nested deeper than any
        b"\x19\x15",  # a list
    ],
)
def test_a_header_of_a_page_that_is_none_is_damage(tmp_path, header):
    burstline.write(burstline.read(paraver_trace(tmp_path)), path := tmp_path / "x.store")
    file = path / "metadata.parquet"
    column = pq.read_metadata(file).row_group(0).column(0)
    data = bytearray(file.read_bytes())
    data[4 : 4 + len(header)] = header
    assert column.dictionary_page_offset == 4
    file.write_bytes(data if header else data[:4] + bytes(len(data) - 4))

    with pytest.raises(burstline.FormatError, match=r"metadata\.parquet"):
        burstline.read(path, memory=2**30).table("metadata")


@pytest.mark.parametrize("refusal", [pa.ArrowMemoryError("malloc"), OSError("std::bad_alloc")])
@pytest.mark.parametrize("name", ["x.store", "x.parquet"])
def test_memory_that_the_system_refuses_is_no_damage(
    tmp_path, monkeypatch, capsys, name, refusal
):
    burstline.write(burstline.read(paraver_trace(tmp_path)), tmp_path / name)

    def refuse(*_, **__):
        raise refusal

    for reader in ("read", "read_row_groups"):
        monkeypatch.setattr(pq.ParquetFile, reader, refuse)
    with pytest.raises(SystemExit) as ended:
        cli.main(["convert", str(tmp_path / name), str(tmp_path / "y.prv"), "--quiet"])

    assert ended.value.code == 5
    assert capsys.readouterr().err.startswith("error: out of memory")
    assert not list(tmp_path.glob("*y.*"))
