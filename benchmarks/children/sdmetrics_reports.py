"""What SDMetrics reports on two CSV files: quality, and closest records of a part of the rows.

Runs in an environment of its own; prints the seconds of each and its version.
"""

import json
import sys
import time
import warnings

warnings.simplefilter("ignore")
import pandas as pd  # noqa: E402
import sdmetrics  # noqa: E402
from sdmetrics.reports.single_table import QualityReport  # noqa: E402
from sdmetrics.single_table import DCRBaselineProtection  # noqa: E402

original, released = (pd.read_csv(path) for path in sys.argv[1:3])
kinds = {
    name: {"sdtype": "numerical" if original[name].dtype.kind == "f" else "categorical"}
    for name in original
}
start = time.perf_counter()
QualityReport().generate(original, released, {"columns": kinds}, verbose=False)
quality = time.perf_counter() - start
start = time.perf_counter()
DCRBaselineProtection.compute_breakdown(
    original,
    released,
    {"tables": {"table": {"columns": kinds}}},
    "table",
    num_rows_subsample=int(sys.argv[3]),
)
closest = time.perf_counter() - start
print(json.dumps({"quality": quality, "closest": closest, "version": sdmetrics.__version__}))
