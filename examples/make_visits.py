"""Make examples/visits.csv: 1,000 or so visits of 180 invented patients, two of whom stand out.

Nobody in the table exists. The recipe:

- every patient has an age, a sex, an arm of a trial, a level and a slope of inflammation, and is
  followed up for 200 to 2,200 days, shorter where the level is high;
- visits come about every half year until then; at each, C-reactive protein follows the patient's
  level and slope, pain and haemoglobin go with it, and one haemoglobin in twelve is missing;
- the first patient has a protein 40 times as high as usual, the second one a visit a week.

Run ``python examples/make_visits.py`` to write the same file again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("visits.csv")
SEED = 3
N_PATIENTS = 180
HEADER = "patient_id,age,sex,arm,followed_days,day,crp_mg_per_l,pain,haemoglobin_g_per_dl,on_drug"


def visit_days(rng: np.random.Generator, followed: int, usual: float) -> np.ndarray:
    """Return the days of visits up to the end of follow-up, from 0 on."""
    gaps = np.maximum(rng.lognormal(np.log(usual), 0.25, 60).astype(int), 1)
    days = np.concatenate([[0], np.cumsum(gaps)])
    return days[days <= followed]


def rows_of(rng: np.random.Generator, patient: int) -> list[str]:
    """Return the lines of one patient."""
    age, sex = int(np.clip(rng.normal(55, 12), 20, 88)), rng.choice(["f", "m"])
    arm = rng.choice(["drug", "placebo"])
    level = rng.normal(1.4 + 0.02 * (age - 55), 0.7) + 3.7 * (patient == 0)
    slope = rng.normal(0.12 if arm == "placebo" else -0.05, 0.12)
    followed = int(np.clip(rng.normal(1200 - 150 * level, 450), 200, 2200))
    lines = []
    for day in visit_days(rng, followed, 7.0 if patient == 1 else 180.0):
        crp = np.exp(level + slope * day / 365.25 + rng.normal(0, 0.35))
        pain = int(np.clip(np.rint(rng.normal(1.5 + 0.6 * np.log(crp), 1.1)), 0, 10))
        blood = rng.normal(13.8 - 0.4 * np.log(crp) + 0.9 * (sex == "m"), 0.7)
        shown = "" if rng.random() < 1 / 12 else f"{blood:.1f}"
        on_drug = "yes" if arm == "drug" and rng.random() < 0.9 else "no"
        cells = (f"P{7 * patient + 1003}", age, sex, arm, followed, day, f"{crp:.1f}", pain)
        lines.append(",".join(map(str, (*cells, shown, on_drug))))
    return lines


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(SEED)
    lines = [line for patient in range(N_PATIENTS) for line in rows_of(rng, patient)]
    FILE.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
