"""Small profiles as files, written by the rules of the format and sometimes against them."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from dataclasses import dataclass, field

CALLS = """
<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"/><cnode id="2" calleeId="2"/></cnode>
"""
METRICS = """
<metric id="0" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name>
<dtype>DOUBLE</dtype><uom>sec</uom><url/><descr>all of it</descr>
<metric id="1" type="EXCLUSIVE"><disp_name>Wait</disp_name><uniq_name>wait</uniq_name>
<dtype>UINT64</dtype><uom>occ</uom><url/><descr/></metric></metric>
<metric id="2" type="EXCLUSIVE"><disp_name>Least</disp_name><uniq_name>least</uniq_name>
<dtype>MINDOUBLE</dtype><uom>sec</uom><url/><descr/></metric>
<metric id="3" type="EXCLUSIVE"><disp_name>Spread</disp_name><uniq_name>spread</uniq_name>
<dtype>TAU_ATOMIC</dtype><uom/><url/><descr/></metric>
"""
REGIONS = "".join(
    f'<region id="{number}" mod="{module}" begin="{line}" end="-1"><name>{name}</name>'
    f"<mangled_name>{name}</mangled_name><paradigm>{paradigm}</paradigm>"
    f"<role>function</role><url/><descr/></region>"
    for number, (name, module, line, paradigm) in enumerate(
        [
            ("main", "a.c", 3, "user"),
            ("solve", "a.c", 9, "user"),
            ("MPI_Recv", "MPI", -1, "mpi"),
        ]
    )
)
SYSTEM = """
<systemtreenode Id="0"><name>machine</name><class>machine</class>
<systemtreenode Id="1"><name>node a</name><class>node</class>
<locationgroup Id="0"><name>MPI Rank 0</name><rank>0</rank><type>process</type>
<location Id="0"><name>Master</name><rank>0</rank><type>thread</type></location></locationgroup>
<locationgroup Id="1"><name>MPI Rank 1</name><rank>1</rank><type>process</type>
<location Id="1"><name>Master</name><rank>0</rank><type>thread</type></location></locationgroup>
</systemtreenode></systemtreenode>
"""


def anchor(calls=CALLS, metrics=METRICS, system=SYSTEM):
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<cube version="4.4">'
        '<attr key="Creator" value="a test"/><doc/>'
        f"<metrics>{metrics}</metrics><program>{REGIONS}{calls}</program>"
        f"<system>{system}</system></cube>\n"
    ).encode()


def index(*rows, order="<", style=1):
    head = b"CUBEX.INDEX" + struct.pack(f"{order}IHB", 1, 0, style)
    return head + struct.pack(f"{order}I{len(rows)}I", len(rows), *rows)


def data(*values, kind="d", order="<", packed=False):
    raw = struct.pack(f"{order}{len(values)}{kind}", *values)
    if not packed:
        return b"CUBEX.DATA" + raw
    stream = zlib.compress(raw)
    return b"ZCUBEX.DATA" + struct.pack(f"{order}4Q", 1, 0, 0, len(stream)) + stream


@dataclass
class Member:
    """One member of an archive; `kind` as tar knows it."""

    name: str
    content: bytes = b""
    kind: bytes = tarfile.REGTYPE
    link: str = ""


@dataclass
class Cube:
    """The members of a profile: those of a small sound one, unless they are changed.

    Call paths 0 main, 1 solve and 2 MPI_Recv below it, two ranks.
    """

    members: dict[str, bytes] = field(
        default_factory=lambda: {
            "0.data": data(10, 20, 4, 8, 3, 5),
            "0.index": index(0, 1, 2),
            "1.data": data(7, 2**64 - 1, kind="Q"),
            "1.index": index(2),
            "2.data": data(0.5, 0.25, 2.0, 4.0),
            "2.index": index(1, 2),
            "anchor.xml": anchor(),
        }
    )
    more: list[Member] = field(default_factory=list)

    @classmethod
    def of(cls, changed, more=()):
        """A profile with other members, or without those that are None."""
        cube = cls(more=[*more])
        cube.members = {k: v for k, v in (cube.members | changed).items() if v is not None}
        return cube

    def write(self, path):
        members = [Member(name, content) for name, content in self.members.items()]
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for member in self.more + members:
                info = tarfile.TarInfo(member.name)
                info.size, info.type = len(member.content), member.kind
                info.linkname = member.link
                tar.addfile(info, io.BytesIO(member.content))
        return path
