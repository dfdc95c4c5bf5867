"""Labels are read as Paraver reads them, and where Paraver loses them, read all the same."""

from burstline.extrae.states import STATE_COLORS, STATES
from burstline.formats.paraver.files.pcf import Pcf, TypeLabel, read_pcf, write_pcf


def kinds(pcf: Pcf) -> dict[str, int]:
    return {defect.kind: defect.count for defect in pcf.defects}


def test_odd_types_and_options_are_read_as_paraver_reads_them():
    among = read_pcf(b"EVENT_TYPE\n0 7 seven\nVALUES\n0 104 x\n")  # a value, and no type
    assert among.values == {0: {0: "104 x"}}
    assert list(among.types) == [7]

    unnamed = read_pcf(b"EVENT_TYPE\n0 77\nVALUES\n1 a\n")
    assert not unnamed.types[77].label
    assert unnamed.value_label(77, 1) == "a"
    assert b"0    77    Type 77\n" in write_pcf(unnamed)

    blank = read_pcf("DEFAULT_OPTIONS\n\u2003\nLOOK_BACK 7\n".encode())
    assert b"LOOK_BACK 7\n" in write_pcf(blank)


def test_a_type_named_again_keeps_its_last_label_and_all_its_values():
    pcf = read_pcf(
        b"EVENT_TYPE\n0 1 one\n0 2 two\nVALUES\n1 a\n2 b\n"
        b"EVENT_TYPE\n9 1 uno\nVALUES\n2 B\n3 C\n"
    )

    assert pcf.types[1].label == "uno"
    assert pcf.types[1].gradient == 9
    assert [pcf.value_label(1, value) for value in (1, 2, 3)] == ["a", "B", "C"]
    assert [pcf.value_label(2, value) for value in (1, 2, 3)] == ["a", "b", None]


def test_what_makes_no_sense_is_counted_and_shown_once():
    pcf = read_pcf(
        b"early\nSTATES\nno number\n-1 minus\nSTATES_COLOR\n0 blue\n"
        b"EVENT_TYPE\n7\n0 99999999999999999999 far\nVALUES\n5\n99999999999999999999 far\n"
        b"0 x\x1b[31m\n"
    )

    assert kinds(pcf) == {"pcf_line": 8}
    assert pcf.defects[0].text == "line 1: 'early'"
    assert pcf.types == {}


def test_text_of_another_encoding_is_read_and_named():
    pcf = read_pcf("EVENT_TYPE\n0 1 caf\u00e9\n0 2 na\u00efve\n".encode("latin-1"))

    assert [known.label for known in pcf.types.values()] == ["caf\u00e9", "na\u00efve"]
    assert kinds(pcf) == {"pcf_encoding": 2}


def test_options_states_gradients_and_precision_are_kept():
    pcf = read_pcf(
        b"DEFAULT_OPTIONS\n\nLEVEL  THREAD\nSPEED 2\n"
        b"DEFAULT_SEMANTIC\nTHREAD_FUNC State As Is\n"
        b"STATES\n1 Busy\n40 Mine\nSTATES_COLOR\n1 {0, 0,999}\n"
        b"GRADIENT_COLOR\n0 {0,255,2}\nGRADIENT_NAMES\n0 Gradient 0\n"
        b"EVENT_TYPE\n0 41100001 TopDown Retiring\nPRECISION 3\n"
    )

    assert pcf.options == ("LEVEL  THREAD", "SPEED 2")
    assert pcf.semantic == ("THREAD_FUNC State As Is",)
    assert pcf.states == {1: "Busy", 40: "Mine"}
    assert pcf.state_colors == {1: (0, 0, 255)}
    assert pcf.gradient_colors == {0: (0, 255, 2)}
    assert pcf.gradient_names == {0: "Gradient 0"}
    assert pcf.precision == {0: 3}
    assert pcf.defects == ()


def test_what_paraver_would_drop_is_not_written():
    pcf = Pcf(
        {2**31: TypeLabel("far", 0, 0), 5: TypeLabel("near", 0, 1)},
        {1: {2**31: "far", 7: "", 8: "near"}},
    )

    written = read_pcf(write_pcf(pcf))

    assert written.types == {5: TypeLabel("near", 0, 0)}
    assert written.values == {0: {8: "near"}}


def test_a_label_cannot_break_out_of_its_line():
    pcf = Pcf(
        {1: TypeLabel("a\nEVENT_TYPE\r\n0 2 b", 0, 0)},
        {0: {1: "\tx\nSTATES\n"}},
        options=("SPEED 1\nSTATES", "#", "STATES", " \n"),
        semantic=("EVENT_TYPE",),
    )

    written = read_pcf(write_pcf(pcf))

    assert list(written.types) == [1]
    assert written.types[1].label == "a EVENT_TYPE  0 2 b"
    assert written.values == {0: {1: "x STATES"}}
    assert written.states == STATES
    assert written.defects == ()


def test_a_type_named_in_thousands_of_blocks_costs_no_square():
    blocks = 3000
    values = "".join(f"{value} v\n" for value in range(blocks))
    types = "".join(f"0 {number} t\n" for number in range(blocks))
    file = f"EVENT_TYPE\n{types}VALUES\n{values}"
    file += "".join(f"EVENT_TYPE\n0 {n} t\nVALUES\n{n} w\n" for n in range(blocks))

    pcf = read_pcf(file.encode())

    assert sum(map(len, pcf.values.values())) < 10 * blocks + 2**17
    assert pcf.value_label(7, 7) == "w"
    assert kinds(pcf)["pcf_redeclared"] > 0


def test_real_files_are_understood_whole_and_survive_writing(real_traces):
    files = sorted([*real_traces.glob("*.pcf"), *real_traces.glob("fixtures/*.pcf")])

    for file in files:
        pcf = read_pcf(file.read_bytes())

        assert pcf.defects == (), file
        assert pcf.states == STATES, file
        assert pcf.state_colors == STATE_COLORS, file
        assert read_pcf(write_pcf(pcf)) == pcf, file
        assert pcf.value_label(50000003, 31) == "MPI_Init", file
    assert files


def test_labels_of_other_writers_survive_writing(real_traces):
    for file in real_traces.rglob("*.pcf"):
        pcf = read_pcf(file.read_bytes())
        written = read_pcf(write_pcf(pcf))

        assert (written.types, written.values) == (pcf.types, pcf.values), file
        assert written.states.items() >= pcf.states.items(), file
