"""Synthetic rows by OpenDP's MST or AIM (Private-PGM), for benchmarks/synthetic.py.

    python opendp_tables.py MST 0.0175 codes.parquet levels.json synthetic.parquet

Runs with a Python that has ``opendp[mbi]`` and pandas, and need not have tacit. Columns hold codes from 0 up;
levels.json says how many there are of each. Neighbours differ in one row that is there or not.
"""

import json
import sys
from pathlib import Path

import opendp.extras.mbi._mst as mst
import opendp.prelude as dp
import polars as pl

# Some numbers of columns are refused by the library itself: equal parts of a budget add up, in rounding, to a hair more
# than the budget. So the parts are made smaller, by one in a million millions.
mst.prior = lambda budget: budget * (1 - 1e-12)

# AIM as it comes considers all triples of columns, in 208 rounds, with a model of up to 80 MB; on Adult no end of that
# was in sight after twenty minutes. So it is bounded: pairs, a round for each column, a smaller model, and a seventh
# of the iterations for each fit.
ROUNDS_PER_COLUMN, MOST_MEGABYTES, ITERATIONS = 1, 2.0, 150


def bounded(domain, loss, *, potentials=None):
    """Fit the graphical model as the library does, in fewer iterations."""
    from mbi.estimation import mirror_descent

    return mirror_descent(domain, loss, potentials=potentials, iters=ITERATIONS)


def settings(algorithm, columns):
    """Return what an algorithm is told."""
    if algorithm != "AIM":
        return {}
    return {"queries": 2, "rounds": ROUNDS_PER_COLUMN * columns, "max_size": MOST_MEGABYTES, "estimator": bounded}


algorithm, rho, codes, levels, output = sys.argv[1:]
dp.enable_features("contrib")
keys = {name: list(range(count)) for name, count in json.loads(Path(levels).read_text()).items()}
rows = pl.read_parquet(codes)
context = dp.Context.compositor(
    data=rows.lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=float(rho))
)
query = context.query(rho=float(rho)).select(*keys)
configured = getattr(dp.mbi, algorithm)(**settings(algorithm, len(keys)))
table = query.contingency_table(keys=keys, algorithm=configured).release()
# Drawn at random: the default, "round", makes columns that were not measured together go together.
table.synthesize(rows.height, method="sample").write_parquet(output)
