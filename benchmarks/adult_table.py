"""The UCI Adult table, as it is downloaded, with what is publicly known about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "shared" / "data"


def adult_table(folder: Path) -> tuple[Any, Any, Any]:
    """Return the schema, the training rows and the test rows."""
    import pandas as pd

    import tacit

    schema = tacit.Schema.from_toml(HERE / "adult.toml")

    def read(name: str) -> pd.DataFrame:
        rows = pd.read_csv(
            folder / name, names=list(schema.columns), skipinitialspace=True, comment="|", na_filter=False
        )
        return rows.assign(income=rows["income"].str.rstrip("."))

    return schema, read("adult.data"), read("adult.test")
