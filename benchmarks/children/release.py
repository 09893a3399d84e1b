"""Make one robust release of a 120 x 8 table and print where the package lies."""

import json

import numpy as np

import icsa

table = np.random.default_rng(0).normal(size=(120, 8))
released = icsa.anonymize_matrix(table, scatters=("mcd50", "mcd75"), mask="permute")
print(json.dumps({"shape": released.shape, "package": icsa.__file__}))
