"""Show what becomes of three people who stand out, under spectral anonymization (SA) and ICSA.

Both are shown as they were published, with the mask permute, and with the mask redraw, the default.
The table is examples/patients.csv: 300 invented people, made by examples/make_patients.py.
Nothing is written unless asked: ``--output FILE.csv`` writes one ICSA release under a fresh secret
key, which is not kept.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from icsa import anonymize_matrix, invariant_coordinates, masked_copy

TABLE = Path(__file__).with_name("patients.csv")
STAND_OUT = [40, 150, 260]
METHODS = {
    "SA, units as they are, permute": (("identity", "cov"), "permute"),
    "SA, columns standardised, permute": (("variances", "cov"), "permute"),
    "ICSA, permute": (("mcd50", "mcd75"), "permute"),
    "SA, columns standardised, redraw": (("variances", "cov"), "redraw"),
    "ICSA, redraw": (("mcd50", "mcd75"), "redraw"),
}

HEAD = """\
{n_rows} people, {n_columns} measurements; rows {rows} stand out.
{releases} releases a method (seeds 0 to {last}): mean (standard error).

How near a release comes to each of them: the distance to the nearest released row, divided by the
distance to the nearest other original row, in columns centred by their median and divided by
their MAD. Below 1, a released row is nearer than any other person is; near 0, it is a copy.
"""
MIDDLE = """
Outlier replication error (ORE): the mean over these {count} people of |x - x*|^2 / |x|^2, where x*
is the released row nearest to x. At 0 they are copied.
"""


def read_table(file: Path) -> tuple[list[str], np.ndarray]:
    """Return the column names and the numbers of a CSV file."""
    names = file.read_text(encoding="utf-8").splitlines()[0].split(",")
    return names, np.loadtxt(file, delimiter=",", skiprows=1)


def distances_to_nearest(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the distance from each point to the nearest of the rows."""
    return np.array([np.linalg.norm(rows - point, axis=1).min() for point in points])


def replication(x: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the nearness of each person who stands out, then the ORE, standardised and raw."""
    median = np.median(x, axis=0)
    spread = 1.4826 * np.median(np.abs(x - median), axis=0)
    z, z_released = (x - median) / spread, (released - median) / spread
    nearest = distances_to_nearest(z[STAND_OUT], z_released)
    others = [distances_to_nearest(z[[k]], np.delete(z, k, axis=0))[0] for k in STAND_OUT]
    ore = np.mean(nearest**2 / np.sum(z[STAND_OUT] ** 2, axis=1))
    nearest_raw = distances_to_nearest(x[STAND_OUT], released)
    ore_raw = np.mean(nearest_raw**2 / np.sum(x[STAND_OUT] ** 2, axis=1))
    return np.array([*(nearest / others), ore, ore_raw])


def replications(x: np.ndarray, scatters: tuple[str, str], mask: str, releases: int) -> np.ndarray:
    """Return `replication` of several releases, one a column."""
    coordinates = invariant_coordinates(x, scatters=scatters)  # once: releases differ by their keys
    made = [masked_copy(x, coordinates, mask=mask, random_state=seed) for seed in range(releases)]
    return np.column_stack([replication(x, released) for released in made])


def mean_and_error(values: np.ndarray, decimals: int) -> str:
    """Return "mean (standard error)"."""
    error = values.std(ddof=1) / math.sqrt(values.size)
    return f"{values.mean():.{decimals}f} ({error:.{decimals}f})"


def print_table(heads: list[str], lines: dict[str, list[str]]) -> None:
    """Print a table with a name before every line."""
    width = max(len(name) for name in lines)
    print(" " * width, *(f"{head:>16}" for head in heads))
    for name, cells in lines.items():
        print(f"{name:<{width}}", *(f"{cell:>16}" for cell in cells))


def main() -> None:
    """Print the tables; write a release when asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--releases", type=int, default=20, help="releases a method, 2 or more (default: 20)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE.csv", help="write one ICSA release here"
    )
    options = parser.parse_args()
    if options.releases < 2:
        parser.error("--releases must be 2 or more: a standard error needs two.")
    if options.output and options.output.exists():
        parser.error(f"{options.output} exists. Give another name, or remove it.")

    names, x = read_table(TABLE)
    found = {name: replications(x, *how, options.releases) for name, how in METHODS.items()}

    print(
        HEAD.format(
            n_rows=x.shape[0],
            n_columns=x.shape[1],
            rows=", ".join(map(str, STAND_OUT)),
            releases=options.releases,
            last=options.releases - 1,
        )
    )
    count = len(STAND_OUT)
    print_table(
        [f"row {k}" for k in STAND_OUT],
        {name: [mean_and_error(v, 2) for v in values[:count]] for name, values in found.items()},
    )
    print(MIDDLE.format(count=count))
    print_table(
        ["standardised", "units as given"],
        {name: [mean_and_error(v, 4) for v in values[count:]] for name, values in found.items()},
    )
    if options.output:
        released = anonymize_matrix(x)  # a fresh secret key
        np.savetxt(
            options.output, released, fmt="%.6g", delimiter=",", header=",".join(names), comments=""
        )
        print(f"\nWrote one ICSA release under a fresh key to {options.output}.")


if __name__ == "__main__":
    main()
