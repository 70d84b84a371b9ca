"""A real table to try things on: the RAND Health Insurance Experiment, in the public domain; see README.md here."""

from __future__ import annotations

from importlib.resources import as_file, files

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.tables import Schema

__all__ = ["load_randhie"]


def load_randhie() -> tuple[pa.Table, Schema]:
    """Return 20,190 person-years of the RAND Health Insurance Experiment, and what is publicly known about the columns.

    Visits to a doctor, the insurance plan that was drawn by lot, and the state of health, in 10 columns: numbers, whole
    numbers and truth values. The table is in the public domain. The schema's bounds are from the columns' published
    definitions, not from rows.

    Examples
    --------
    >>> from tacit.data import load_randhie
    >>> table, schema = load_randhie()
    >>> table.shape
    (20190, 10)
    >>> schema.columns["mdvis"].low, schema.columns["mdvis"].high
    (0, 100)
    >>> import tacit
    >>> model = tacit.GaussianMixture(4, bounds=schema, random_state=0).fit(table)
    >>> model.sample(2)[0].column_names[:4]
    ['mdvis', 'lncoins', 'idp', 'lpi']
    """
    folder = files(__name__)
    with as_file(folder / "randhie.parquet") as path:
        table = pq.read_table(path)
    with as_file(folder / "randhie.toml") as path:
        return table, Schema.from_toml(path)
