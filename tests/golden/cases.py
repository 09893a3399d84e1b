"""What the golden files are made of: tables, and the commands and calls whose outcome is frozen.

This module is run as a program, in a process whose arithmetic is pinned (see `pinning`), and makes
everything in a folder: ``python -m tests.golden.cases FOLDER``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Advice names the files as they were given: relative ones, so that it is the same in every clone.
ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent.relative_to(ROOT)
EXAMPLES = Path("examples")
SEED = "20"


@dataclass(frozen=True)
class Release:
    """A release by ``icsa anonymize``: what it is called, of which table, with which options."""

    name: str
    table: Path
    options: tuple[str, ...] = ()


def _release(name: str, table: str, options: str = "") -> Release:
    home = EXAMPLES if (ROOT / EXAMPLES / table).exists() else HERE / "tables"
    return Release(name, home / table, tuple(options.split()))


RELEASES = (
    _release("clinic_mixed.csv", "clinic.csv"),
    _release("clinic_topcode.csv", "clinic.csv", "--recipe topcode"),
    _release("clinic_paper.csv", "clinic.csv", "--recipe paper"),
    _release("clinic_sa.csv", "clinic.csv", "--method sa"),
    _release("clinic_mixed.xlsx", "clinic.csv"),
    _release("patients_mixed.csv", "patients.csv"),
    _release("patients_permute.csv", "patients.csv", "--mask permute"),
    _release("patients_flip.csv", "patients.csv", "--mask flip"),
    _release("patients_rotate.csv", "patients.csv", "--mask rotate"),
    _release("patients_hr.csv", "patients.csv", "--recipe paper --scatters hr,tyler"),
    _release("patients_raw.csv", "patients.csv", "--method sa --raw-units --recipe paper"),
    _release("birthwt_mixed.csv", "birthwt.csv"),
    _release("birthwt_keep.csv", "birthwt.csv", "--keep race --mask permute"),
    _release("colon_topcode.parquet", "colon.csv", "--recipe topcode --method icsa"),
    _release("pbc_mixed.sav", "pbc.csv", "--method icsa"),
    _release("pbc_sa_rotate.csv", "pbc.csv", "--method sa --mask rotate"),
    _release("pima_mixed.csv", "pima.csv"),
    _release("pima_cov4.csv", "pima.csv", "--recipe paper --scatters cov,cov4"),
    _release("gbsg2_topcode_sa.parquet", "gbsg2.csv", "--method sa --recipe topcode"),
    _release("gbsg2_mixed.csv", "gbsg2.csv", "--scatters mcd75,cov"),
    _release("lymph_node_mixed.csv", "lymph_node.csv", "--method icsa"),
    _release("lymph_node_auto.csv", "lymph_node.csv"),
    _release(
        "lymph_node_counts.csv",
        "lymph_node.csv",
        f"--method icsa --schema {HERE / 'tables/lymph_node.toml'}",
    ),
)

# The assessment of a release, with options that reach everything that it can hold.
ASSESSMENTS = {
    "clinic_mixed.json": ("clinic_mixed.csv", ()),
    "patients_permute.json": ("patients_permute.csv", ("--clusters", "2")),
    "pima_mixed.json": (
        "pima_mixed.csv",
        (*("--model", "glucose ~ age + mass"), *("--classify", "diabetes", "--select", "glucose")),
    ),
    "pbc_sa_rotate.json": ("pbc_sa_rotate.csv", ()),
    # Everybody stands in this "release" as he was.
    "birthwt_copied.json": ("birthwt.csv", ()),
}

MATRIX_MASKS = ("redraw", "permute", "flip", "rotate")
MATRIX_SCATTERS = ("mcd50,mcd75", "cov,cov4", "hr,tyler")


def main(folder: Path) -> None:
    """Make everything in a folder."""
    for release in RELEASES:
        _icsa("anonymize", release.table, "-o", folder / release.name, *release.options)
    for name, (released, options) in ASSESSMENTS.items():
        original = _original(released)
        both = (original, original if released == original.name else folder / released)
        _icsa("assess", *both, "--json", folder / name, *options, seeded=False)
    _matrices(folder)
    _a_million_rows(folder)


def _original(released: str) -> Path:
    """Return the table that a release is of."""
    return next(case.table for case in RELEASES if released in (case.name, case.table.name))


def _icsa(*arguments: str | Path, seeded: bool = True) -> None:
    from icsa.cli import run

    seed = ("--seed", SEED) if seeded else ()
    code = run([*(str(argument) for argument in arguments), *seed, "--quiet"])
    if code:
        raise SystemExit(f"icsa {' '.join(map(str, arguments))} ended with {code}.")


def _matrices(folder: Path) -> None:
    """Release a matrix with two people who stand out: every mask, three pairs, and SA."""
    import icsa

    x = np.random.default_rng(5).standard_normal((150, 4)) @ np.triu(np.ones((4, 4)))
    x[:2] += 40
    for mask in MATRIX_MASKS:
        for pair in MATRIX_SCATTERS:
            ours = icsa.ICSAnonymizer(pair.split(","), mask=mask, round=None, random_state=3)
            np.save(folder / f"matrix_{mask}_{pair.replace(',', '_')}.npy", ours.fit_transform(x))
        spectral = icsa.SpectralAnonymizer(mask=mask, round=None, random_state=3)
        np.save(folder / f"matrix_{mask}_sa.npy", spectral.fit_transform(x))


def _a_million_rows(folder: Path) -> None:
    """Release a million people with kinds of every sort, gaps and a sum."""
    import polars as pl

    people, draw = 1_000_000, np.random.default_rng(11)
    weight = np.round(draw.normal(75, 12, people), 1)
    visits = draw.poisson(3, people)
    frame = pl.DataFrame(
        {
            "weight": weight,
            "income": np.round(np.exp(draw.normal(10, 0.7, people) + weight / 100), 2),
            "visits": visits,
            "calls": draw.poisson(2, people) + visits,
            "ward": draw.choice(["north", "south", "east"], people, p=[0.5, 0.3, 0.2]),
            "smokes": draw.random(people) < 0.2,
            "marker": draw.gamma(2.0, 3.0, people),
        }
    ).with_columns(
        pl.when(pl.Series(draw.random(people) < 0.05)).then(None).otherwise(pl.col("marker")),
        contacts=pl.col("visits") + pl.col("calls"),
    )
    original = folder / "million.original.parquet"
    frame.write_parquet(original)
    _icsa("anonymize", original, "-o", folder / "million_mixed.parquet")
    original.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
