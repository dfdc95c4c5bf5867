"""What is shown of predictors: for programs, people, and as a picture."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import pytest
from matplotlib.image import imread

from burstline.show import output, view
from burstline.show.pictures.learning import learn_plot
from burstline.studies import learn
from fused_tables import law_of_base, law_of_merged

pytestmark = pytest.mark.usefixtures("few_trees")
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module")
def learnt():
    """Give what is learnt where the duration follows a counter that the base has not."""
    return learn({"a": law_of_merged()}, control=True)


def test_json_says_what_was_agreed(learnt):
    document = json.loads(json.dumps(learnt.as_dict(), allow_nan=False))

    assert document["target"] == "duration_ns"
    assert {"mean", "spread"} <= {*document["base"]} & {*document["merged"]}
    assert document["importance"]["IR_LD_INS"] > 0
    assert learn({"a": law_of_base()}, features="base").as_dict()["merged"] is None


def test_people_are_told_whether_more_counters_help(learnt, capsys):
    output(view(learnt), "table")

    shown = capsys.readouterr().out
    assert "predicts better than base" in shown
    assert "IR_LD_INS" in shown
    assert "always the median" in shown


@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_a_picture_is_the_same_each_time_and_names_features(model):
    found = learn({"a": law_of_merged(200)}, model=model)

    picture = learn_plot(found, form="svg")

    assert picture == learn_plot(found, form="svg")
    texts = {"".join(text.itertext()) for text in ET.fromstring(picture).iter(TEXT)}  # noqa: S314
    assert {"IR_LD_INS", "base", "merged", "1.00 µs"} <= texts
    assert not any("$" in text for text in texts)
    png = learn_plot(found, form="png")
    assert png.startswith(b"\x89PNG")
    pixels = imread(io.BytesIO(png))[:, :, :3]
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1).all(), "something is cut off"
