"""Make examples/survey.csv: 600 invented people in a weighted sample of four regions.

Nobody in the table exists. The recipe:

- each of four regions gives 150 people, though one has eight times as many as another, so that
  people of the largest stand for eight times as many;
- within a region young people answer less often, and those who did count for more: weights differ
  by a third within regions;
- income follows age, schooling and the region; trust in neighbours (0 to 10) goes with schooling.

Run ``python examples/make_survey.py`` to write the same file again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("survey.csv")
SEED = 5
PEOPLE = {"north": 80_000, "east": 20_000, "south": 120_000, "west": 160_000}
A_REGION = 150
HEADER = "respondent,region,age,sex,schooling_years,income_eur,trust,employed,survey_weight"


def rows_of(rng: np.random.Generator, place: int, region: str, first: int) -> list[str]:
    """Return the lines of one region."""
    age = np.clip(rng.normal(50 - 2 * place, 16, A_REGION), 18, 92).astype(int)
    answered = np.clip(1.3 - 0.01 * (age - 18), 0.7, 1.3)
    weight = PEOPLE[region] * answered / answered.sum()
    lines = []
    for number in range(A_REGION):
        sex = rng.choice(["f", "m"])
        schooling = int(np.clip(np.rint(rng.normal(13 - 0.03 * (age[number] - 50), 2.5)), 7, 21))
        employed = "yes" if age[number] < 66 and rng.random() < 0.75 else "no"
        high = 5.6 + 0.09 * schooling + 0.15 * place + 0.7 * (employed == "yes")
        income = int(np.rint(np.exp(high + rng.normal(0, 0.35)) / 10) * 10)
        trust = int(np.clip(np.rint(rng.normal(3.0 + 0.2 * schooling, 1.8)), 0, 10))
        cells = (5_000 + 3 * (first + number), region, age[number], sex, schooling, income, trust)
        lines.append(",".join(map(str, (*cells, employed, f"{weight[number]:.2f}"))))
    return lines


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(SEED)
    lines = []
    for place, region in enumerate(PEOPLE):
        lines += rows_of(rng, place, region, place * A_REGION)
    FILE.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
