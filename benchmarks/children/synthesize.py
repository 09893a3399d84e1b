"""A peer's synthesis of a CSV file of numbers, in the peer's own environment.

    python synthesize.py arfpy|sdv IN.csv OUT.csv SEED LEVELLED,COLUMNS

Nothing of icsa is imported here.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd


def main(name: str, source: str, target: str, seed: str, levelled: str) -> None:
    frame = pd.read_csv(source)
    np.random.seed(int(seed))  # noqa: NPY002  (peers draw from the global generator)
    levels = [column for column in levelled.split(",") if column]
    drawn = {"arfpy": by_forests, "sdv": by_copula}[name](frame, levels)
    drawn[frame.columns].to_csv(target, index=False)


def by_forests(frame: pd.DataFrame, levels: list[str]) -> pd.DataFrame:
    """Return rows of an adversarial random forest; it knows no missing cells, which are filled."""
    from arfpy import arf

    table = frame.copy()
    for column in table:
        if column in levels:
            table[column] = table[column].fillna(-1.0).astype("category")
        else:
            table[column] = table[column].fillna(table[column].median())
    forest = arf.arf(x=table)
    forest.forde()
    drawn = forest.forge(n=len(table))
    for column in levels:
        drawn[column] = pd.to_numeric(drawn[column].astype(str))
        drawn.loc[drawn[column] < 0, column] = np.nan
    return drawn


def by_copula(frame: pd.DataFrame, levels: list[str]) -> pd.DataFrame:
    """Return rows of SDV's Gaussian copula."""
    from sdv.metadata import SingleTableMetadata
    from sdv.single_table import GaussianCopulaSynthesizer

    metadata = SingleTableMetadata()
    for column in frame:
        kind = "categorical" if column in levels else "numerical"
        metadata.add_column(column_name=column, sdtype=kind)
    synthesizer = GaussianCopulaSynthesizer(metadata)
    synthesizer.fit(frame)
    return synthesizer.sample(num_rows=len(frame))


if __name__ == "__main__":
    main(*sys.argv[1:])
