"""Speed of icsa as ratios to its peers: ``python -m benchmarks`` prints a table and writes JSON.

One thread unless a row says otherwise. The libraries that start threads read these variables when
they are loaded, so they are set before anything imports NumPy; child processes inherit them.
"""

import os

for _name in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
