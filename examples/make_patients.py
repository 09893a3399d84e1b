"""Make examples/patients.csv: 300 invented people, three of whom stand out.

Nobody in the table exists. The recipe, all draws standard normal and independent:

- five hidden states a person: age, stress, inflammation, kidney, liver;
- eight measurements, each a usual level plus multiples of the states plus noise, see `measure`.
  Among the usual people white cells and temperature correlate by .7, creatinine and urea by .8,
  alanine transaminase and bilirubin by .7;
- the rows 40, 150 and 260 (counted from 0) are overwritten by three people with sepsis and failing
  organs: every measurement is far out, in the same direction for all three.

Run ``python examples/make_patients.py`` to write the same file again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("patients.csv")
SEED = 1
N_PEOPLE = 300
# One line a column: name (with its unit), and the decimals that a laboratory reports.
COLUMNS = {
    "heart_rate_per_min": 0,
    "temperature_celsius": 1,
    "white_cells_1e9_per_l": 1,
    "platelets_1e9_per_l": 0,
    "creatinine_umol_per_l": 0,
    "urea_mmol_per_l": 1,
    "alanine_transaminase_u_per_l": 0,
    "bilirubin_umol_per_l": 0,
}
STAND_OUT = {
    40: (142, 40.1, 27.0, 48, 210, 19.0, 120, 46),
    150: (128, 39.4, 21.0, 85, 170, 15.0, 90, 36),
    260: (151, 40.6, 31.0, 40, 260, 23.0, 160, 60),
}


def measure(rng: np.random.Generator, n_people: int) -> np.ndarray:
    """Return the measurements of `n_people` usual people, shape (n_people, 8)."""
    age, inflammation, kidney, liver, stress = rng.standard_normal((5, n_people))
    noise = rng.standard_normal((8, n_people))
    return np.column_stack(
        [
            74 + 7 * stress + 2 * inflammation + 5 * noise[0],
            36.8 + 0.2 * inflammation + 0.08 * stress + 0.15 * noise[1],
            7.2 + 1.1 * inflammation + 0.5 * stress + 0.9 * noise[2],
            255 + 20 * inflammation - 10 * age + 40 * noise[3],
            80 + 10 * kidney + 4 * age + 5 * noise[4],
            5.4 + 0.9 * kidney + 0.5 * age + 0.6 * noise[5],
            26 + 6 * liver + inflammation + 3 * noise[6],
            14 + 2.5 * liver + 2 * noise[7],
        ]
    )


def main() -> None:
    """Write the table."""
    table = measure(np.random.default_rng(SEED), N_PEOPLE)
    for row, values in STAND_OUT.items():
        table[row] = values
    formats = [f"%.{decimals}f" for decimals in COLUMNS.values()]
    np.savetxt(FILE, table, fmt=formats, delimiter=",", header=",".join(COLUMNS), comments="")


if __name__ == "__main__":
    main()
