"""The law of what is released depends on the multiset of rows, not on their order: in a folder kept by a value, too."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.audit.transcript import record_releases

ROWS = 320_000
SHARES = 16  # A default fit deals ROWS rows out into this many shares.


def written(path, order, first, x, y):
    """Write rows in an order: `first` of them as the first ward's file, all others as the second's."""
    for ward, mine in ((0, order[:first]), (1, order[first:])):
        (path / f"ward={ward}").mkdir(parents=True)
        pq.write_table(pa.table({"x": x[mine], "y": y[mine]}), path / f"ward={ward}" / "rows.parquet")
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two folders that differ in one person's ward: she moves from the first file to the end of the second."""
    place = np.arange(ROWS)
    x = np.random.default_rng(0).normal(size=ROWS)
    y = np.where(place % SHARES == 0, 90.0, -2.0)  # what shares by place would hold differs as much as can be
    root = tmp_path_factory.mktemp("wards")
    before = written(root / "before", place, 8, x, y)
    return before, written(root / "after", np.roll(place, -1), 7, x, y)  # all rows behind her move up by one


def first_releases(folder, seeds):
    """Return what the first release of default fits was, for several seeds, and the last of the fits."""
    found = []
    for seed in seeds:
        model = tacit.LinearRegression(bounds=5.0, target_bounds=100.0, delta=1e-7, random_state=seed)
        with record_releases() as script:
            model.fit(folder, "y")
        found.append(script.questions[0].answer.value)
    return np.array(found), model


def test_folders_that_differ_in_one_row_are_not_told_apart(folders):
    """By place, the first share would be of rows with a mean of 90 in one folder, and of -2 in the other."""
    (before, model), (after, _) = (first_releases(folder, range(4)) for folder in folders)
    assert any(getattr(step, "parts", 1) == SHARES for step in model.privacy_.plan.steps)
    apart = np.abs(before.mean(axis=0) - after.mean(axis=0))
    spread = np.concatenate([before - before.mean(axis=0), after - after.mean(axis=0)]).std(axis=0) * np.sqrt(8 / 6)
    assert (apart <= 6 * spread).all()
