"""Model files that version 0.1 wrote: they load, predict what they predicted then, and have a report.

The folder has files of every kind, some with options of published methods that are objects now, written by
``save_model`` of version 0.1 after fits to made-up rows. predictions.json has what that version predicted for ROWS, or
for PEOPLE where there is a schema.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.models import CARDS
from tacit.report import report_html

FOLDER = Path(__file__).parent / "written_by_0_1"
PREDICTIONS = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
ROWS = np.array([[-0.5, 0.2], [0.4, -0.3], [0.0, 0.0], [0.9, 0.9], [-1.5, 0.1]])
PEOPLE = {"age": [79, 63, 54, 37, 40], "region": ["north", "north", "south", "south", "south"]}

every_file = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tacit")), ids=lambda path: path.stem)


def test_there_is_a_file_of_every_kind_of_model_that_0_1_had():
    written = {json.loads(path.read_bytes())["estimator"] for path in FOLDER.glob("*.tacit")}
    assert written <= {*CARDS}
    assert len(written) == 16


@every_file
def test_it_loads_and_predicts_as_it_did(path):
    model = tacit.load_model(path)
    assert model.privacy_.version == "0.1.0"
    assert hasattr(model, "predict") == (path.stem in PREDICTIONS)
    if path.stem in PREDICTIONS:
        predicted = model.predict(PEOPLE if isinstance(model.bounds, tacit.Schema) else ROWS)
        assert predicted.tolist() == pytest.approx(PREDICTIONS[path.stem], rel=1e-9, abs=1e-12)


@every_file
def test_it_has_a_report_and_can_be_written_again(path, tmp_path):
    model = tacit.load_model(path)
    assert model.privacy_.plan.steps[0].name in report_html(model)
    again = tacit.load_model(tacit.save_model(model, tmp_path / "again.tacit"))
    assert again._stored() == model._stored()
