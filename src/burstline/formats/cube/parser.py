"""pycubexr with call paths of any depth.

pycubexr calls itself for each level of the tree of call paths, and copies at each level all
that is below it. Here it is given the root alone, and the others are hung below it.
"""

from __future__ import annotations

import gzip
from typing import Any, Self
from xml.etree.ElementTree import Element, ElementTree, parse

from pycubexr import CubexParser
from pycubexr.classes import CNode
from pycubexr.parsers import anchor_xml_parser

from burstline.formats.cube.archive import ANCHOR, CALL_PATH, GZIP, opened


class Parser(CubexParser):  # type: ignore[misc] # pycubexr has no types
    """A profile that is opened as pycubexr opens it, except for the tree of call paths."""

    def __enter__(self) -> Self:
        tar: Any = opened(self._cubex_filename)
        self._cubex_file = tar
        self._tar_file_member_list = tar.getnames()
        with tar.extractfile(ANCHOR) as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            tree = parse(gzip.GzipFile(fileobj=file) if packed else file)  # noqa: S314 -- checked
        self._anchor_result = _anchor_of(tree)
        return self


def _anchor_of(tree: ElementTree[Any]) -> Any:  # noqa: ANN401 -- pycubexr has no types
    """What pycubexr makes of an anchor, with all call paths."""
    below = {}
    for root in tree.findall(f"program/{CALL_PATH}"):
        below[int(root.get("id", ""))] = _without_children(root)
    anchor = anchor_xml_parser.parse_anchor_xml(tree)
    for root in anchor.cnodes:
        waiting = [(root, child) for child in reversed(below[root.id])]
        while waiting:
            parent, element = waiting.pop()
            node = CNode(
                _id=int(element.get("id", "")),
                callee_region_id=int(element.get("calleeId", "")),
            )
            node.parent, node.region = parent, anchor.regions_by_id[node.callee_region_id]
            parent.add_child(node)
            anchor.all_cnodes[node.id] = node
            waiting += [(node, child) for child in reversed(element.findall(CALL_PATH))]
    # The order of values, which pycubexr derived of the root alone.
    anchor_xml_parser._metric_tree_enumerations(anchor)  # noqa: SLF001 -- no other way
    return anchor


def _without_children(root: Element) -> list[Element]:
    """The call paths below one, which are taken from it."""
    children = root.findall(CALL_PATH)
    for child in children:
        root.remove(child)
    return children
