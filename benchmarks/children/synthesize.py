"""A peer's synthesis of a CSV file of numbers, in the peer's own environment.

    python synthesize.py arfpy|sdv|tvae IN.csv OUT.csv SEED LEVELLED,COLUMNS

Nothing of icsa is imported here.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd


def main(name: str, source: str, target: str, seed: str, levelled: str) -> None:
    frame = pd.read_csv(source)
    np.random.seed(int(seed))  # noqa: NPY002  (peers draw from the global generator)
    levels = [column for column in levelled.split(",") if column]
    drawn = {"arfpy": by_forests, "sdv": by_copula, "tvae": by_autoencoder}[name](frame, levels)
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
    from sdv.single_table import GaussianCopulaSynthesizer

    return by_sdv(GaussianCopulaSynthesizer(metadata_of(frame, levels)), frame)


def by_autoencoder(frame: pd.DataFrame, levels: list[str]) -> pd.DataFrame:
    """Return rows of SDV's variational autoencoder, 200 epochs."""
    import torch
    from sdv.single_table import TVAESynthesizer

    torch.set_num_threads(1)
    torch.manual_seed(int(np.random.randint(1 << 30)))  # noqa: NPY002
    return by_sdv(TVAESynthesizer(metadata_of(frame, levels), epochs=200), frame)


def by_sdv(synthesizer: Any, frame: pd.DataFrame) -> pd.DataFrame:
    synthesizer.fit({"people": frame})
    # All its first samples are drawn by one seed: they would differ by nothing.
    synthesizer._set_random_state(int(np.random.randint(1 << 30)))  # noqa: NPY002
    return synthesizer.sample(num_rows=len(frame))["people"]


def metadata_of(frame: pd.DataFrame, levels: list[str]) -> Any:
    from sdv.metadata import Metadata

    kinds = {
        column: {"sdtype": "categorical" if column in levels else "numerical"} for column in frame
    }
    return Metadata.load_from_dict({"tables": {"people": {"columns": kinds}}})


if __name__ == "__main__":
    main(*sys.argv[1:])
