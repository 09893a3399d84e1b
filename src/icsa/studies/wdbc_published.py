"""The published figures of the Wisconsin study, and what follows from them."""

from __future__ import annotations

__all__ = [
    "METRICS",
    "PUBLISHED_INTERVALS",
    "PUBLISHED_MEANS",
    "PUBLISHED_RATIOS",
    "PUBLISHED_RELEASES",
    "RATIO_METRICS",
    "SEARCH_RANGES",
    "published_ahead",
    "published_error",
]

METRICS = ("ore", "distance", "recall", "precision", "jaccard", "fpr")
RATIO_METRICS = ("distance", "recall", "fpr", "precision", "jaccard")
# Releases a method and target, and targets.
PUBLISHED_RELEASES, _TARGETS = 2000, 10
# Least and largest mean of mcd50-mcd75 with the MCDs that R's covMcd ends in after ten seeds, as
# `python -m benchmarks.wdbc_search` found them.
SEARCH_RANGES: dict[str, tuple[float, float]] = {
    "ore": (0.00402, 0.00538),
    "distance": (360.0, 720.0),
    "recall": (0.855, 0.908),
    "precision": (0.745, 0.790),
    "jaccard": (0.671, 0.715),
    "fpr": (0.560, 0.700),
}

# Mean and standard deviation as published, by metric: SA, then mcd50-mcd75.
PUBLISHED_MEANS: dict[str, dict[str, tuple[float, float]]] = {
    "sa": {
        "ore": (0.00104, 0.0009),
        "distance": (267.68, 759.82),
        "recall": (0.942, 0.070),
        "precision": (0.810, 0.114),
        "jaccard": (0.767, 0.102),
        "fpr": (0.529, 0.286),
    },
    "mcd50-mcd75": {
        "ore": (0.00490, 0.0044),
        "distance": (436.69, 1208.80),
        "recall": (0.884, 0.118),
        "precision": (0.774, 0.105),
        "jaccard": (0.694, 0.101),
        "fpr": (0.634, 0.264),
    },
}
# Ratios as printed (no root), by target, in the order of RATIO_METRICS.
PUBLISHED_RATIOS: dict[str, tuple[float, ...]] = {
    "radius": (2.98, 3.56, 4.79, 4.65, 4.31),
    "texture": (3.92, 5.75, 4.74, 4.98, 5.26),
    "perimeter": (3.20, 2.87, 3.12, 3.33, 3.36),
    "area": (1.89, 1.12, 3.58, 3.33, 2.97),
    "smoothness": (1.16, 4.36, 3.79, 3.97, 4.06),
    "compactness": (1.69, 1.72, 4.24, 4.17, 3.85),
    "concavity": (1.20, 2.54, 2.84, 2.71, 2.78),
    "concave points": (2.61, 2.74, 6.75, 6.75, 6.03),
    "symmetry": (3.03, 1.81, 6.10, 5.03, 3.32),
    "fractal dimension": (0.74, 1.97, 5.41, 5.18, 4.33),
    "overall": (2.88, 2.33, 3.91, 3.95, 3.58),
}
# Their 95% intervals over all targets.
PUBLISHED_INTERVALS: dict[str, tuple[float, float]] = {
    "distance": (2.81, 2.95),
    "recall": (2.27, 2.39),
    "fpr": (3.85, 3.97),
    "precision": (3.89, 4.01),
    "jaccard": (3.53, 3.63),
}


def published_error(method: str, metric: str) -> float:
    """Return the standard error of a published mean: its standard deviation over all releases.

    Examples
    --------
    >>> round(published_error("sa", "recall"), 6)
    0.000495
    """
    return float(PUBLISHED_MEANS[method][metric][1] / (PUBLISHED_RELEASES * _TARGETS) ** 0.5)


def published_ahead(form: str) -> int:
    """Return how many of the 50 published cells favour mcd50-mcd75 over SA.

    The table is printed without the root. With it, a ratio is smaller by the root of the ratio of
    the two mean OREs; the published means over all targets are taken for it.

    Examples
    --------
    >>> published_ahead("printed"), published_ahead("defined")
    (49, 41)
    """
    robust, spectral = (PUBLISHED_MEANS[method]["ore"][0] for method in ("mcd50-mcd75", "sa"))
    root = (robust / spectral) ** 0.5 if form == "defined" else 1.0
    targets = (ratios for target, ratios in PUBLISHED_RATIOS.items() if target != "overall")
    return sum(ratio / root > 1.0 for ratios in targets for ratio in ratios)
