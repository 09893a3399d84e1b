"""How often the verdict is right: harmless and harmful releases of six kinds of data.

``python -m benchmarks.verdict [--repetitions 200] [--quick] [--only TEXT] [--seed 0] [--output
FILE]`` prints, for each kind of release, the rate of "look again" or worse and of "do not release",
with Monte Carlo standard errors, beside the rates that a prototype had, and writes JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.spoiled import HARMFUL
from benchmarks.spoiled import Scene as SpoiledScene
from icsa.anonymization import anonymize_matrix
from icsa.comparison.column_pairs import Codes
from icsa.comparison.features import FeatureTable, as_features
from icsa.matrices import Matrix
from icsa.privacy.lenses import Lenses, fit_lenses
from icsa.privacy.people import Surroundings, measure_nearness, measure_surroundings
from icsa.privacy.people_findings import Findings, nearest_release_group
from icsa.privacy.standing_out import standing_out
from icsa.privacy.verdict import verdict

__all__ = ["KINDS", "RELEASES", "main"]

Generator = np.random.Generator
SIZES = ((200, 5), (200, 10), (1_000, 5))
_GRID = 0.1
# What is added to the names of `benchmarks.spoiled`, and the share of repetitions they get.
_ORDINARY, _FEWER = " (ordinary people)", 0.4
_ROBUST, _SPECTRAL = ("mcd50", "mcd75"), ("identity", "cov")


def _normal(rng: Generator, n: int, p: int) -> Matrix:
    return rng.normal(size=(n, p)) @ _mixing(p)


def _heavy(rng: Generator, n: int, p: int) -> Matrix:
    return _normal(rng, n, p) / np.sqrt(rng.chisquare(5, size=(n, 1)) / 5)


def _skewed(rng: Generator, n: int, p: int) -> Matrix:
    return np.exp(0.6 * _normal(rng, n, p))


def _clusters(rng: Generator, n: int, p: int) -> Matrix:
    centres = 4.0 * np.eye(3, p)
    return rng.normal(size=(n, p)) + centres[rng.choice(3, size=n, p=[0.6, 0.3, 0.1])]


def _factors(rng: Generator, n: int, p: int) -> Matrix:
    loadings = np.vstack([np.ones(p), np.linspace(-1.0, 1.0, p)])
    return rng.normal(size=(n, 2)) @ loadings + 0.5 * rng.normal(size=(n, p))


def _rounded(rng: Generator, n: int, p: int) -> Matrix:
    return _on_grid(_normal(rng, n, p))


def _mixing(p: int) -> Matrix:
    """Return a factor of the correlation matrix with .5^|i-j|."""
    distance = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return np.asarray(np.linalg.cholesky(0.5**distance).T)


def _on_grid(x: Matrix) -> Matrix:
    return np.rint(x / _GRID) * _GRID


KINDS: dict[str, Callable[[Generator, int, int], Matrix]] = {
    "normal": _normal,
    "t5": _heavy,
    "lognormal": _skewed,
    "clusters": _clusters,
    "factors": _factors,
    "rounded": _rounded,
}


@dataclass(frozen=True)
class Scene:
    """One original and who draws from its law."""

    original: Matrix
    rng: Generator
    chosen: np.ndarray
    fresh: Callable[[], Matrix] | None = None


def _gaussian(scene: Scene) -> Matrix:
    x = scene.original
    return scene.rng.multivariate_normal(x.mean(axis=0), np.cov(x.T), size=len(x), method="svd")


def _noisy(share: float) -> Callable[[Scene], Matrix]:
    def release(scene: Scene) -> Matrix:
        x = scene.original
        return scene.rng.permutation(x + share * x.std(axis=0) * scene.rng.normal(size=x.shape))

    return release


def _one_copied(scene: Scene) -> Matrix:
    released = _gaussian(scene)
    released[0] = scene.original[scene.chosen[0]]
    return released


def _rescaled(scene: Scene) -> Matrix:
    return scene.rng.permutation(3.0 * scene.original + 10.0)


def _blocks_swapped(scene: Scene) -> Matrix:
    x, half = scene.original, scene.original.shape[1] // 2
    order = scene.rng.permutation(len(x))
    return np.hstack([x[:, :half], x[order, half:]])


def _by(scatters: tuple[str, str], mask: str) -> Callable[[Scene], Matrix]:
    def release(scene: Scene) -> Matrix:
        seed = int(scene.rng.integers(2**31))
        return anonymize_matrix(scene.original, scatters=scatters, mask=mask, random_state=seed)

    return release


def _fresh(scene: Scene) -> Matrix:
    if scene.fresh is None:
        raise ValueError("A fresh sample needs the law that the table was drawn from.")
    return scene.fresh()


def _spoiled(name: str) -> Callable[[Scene], Matrix]:
    """Return a harmful release of `benchmarks.spoiled`, of people who do not stand out."""

    def release(scene: Scene) -> Matrix:
        tables = [FeatureTable(_columns(x), _no_codes(x)) for x in (scene.original, _fresh(scene))]
        ordinary = np.setdiff1d(np.arange(len(scene.original)), scene.chosen)
        return HARMFUL[name](SpoiledScene(*tables, ordinary, scene.rng)).numbers.T

    return release


def _columns(x: Matrix) -> Matrix:
    return np.ascontiguousarray(x.T)


def _no_codes(x: Matrix) -> Codes:
    return np.empty((0, len(x)), dtype=np.int32)


RELEASES: dict[str, Callable[[Scene], Matrix]] = {
    "fresh sample": _fresh,
    "Gaussian synthetic": _gaussian,
    "ICSA mcd50-mcd75": _by(_ROBUST, "permute"),
    "copy": lambda scene: scene.rng.permutation(scene.original),
    "copy + 1% noise": _noisy(0.01),
    "copy + 10% noise": _noisy(0.1),
    "copy + 30% noise": _noisy(0.3),
    "one outlier copied": _one_copied,
    "shifted and rescaled copy": _rescaled,
    "blocks swapped": _blocks_swapped,
    "ICSA redraw": _by(_ROBUST, "redraw"),
    **{f"{name}{_ORDINARY}": _spoiled(name) for name in HARMFUL},
}
_PLANTED = {
    "SA": _by(_SPECTRAL, "permute"),
    "ICSA": _by(_ROBUST, "permute"),
    "ICSA redraw": _by(_ROBUST, "redraw"),
}
# Rates of the prototype: "look again" or worse at the three sizes, and "do not release" at 20, 50
# and 100 standard deviations (n = 1,000).
_LOOK: dict[str, tuple[float, float, float]] = {
    "fresh sample": (0.012, 0.018, 0.018),
    "Gaussian synthetic": (0.022, 0.021, 0.007),
    "ICSA mcd50-mcd75": (0.050, 0.034, 0.038),
    "copy": (1.0, 1.0, 1.0),
    "copy + 1% noise": (1.0, 1.0, 1.0),
    "copy + 10% noise": (1.0, 1.0, 1.0),
    "copy + 30% noise": (0.89, 1.0, 0.86),
    "one outlier copied": (1.0, 1.0, 0.995),
    "shifted and rescaled copy": (1.0, 1.0, 1.0),
    "blocks swapped": (1.0, 1.0, 1.0),
    "SA, outliers at 20 sd": (0.21, 0.35, 0.07),
}
_STOP = {("SA", 5): (0.04, 0.45, 1.0), ("SA", 10): (0.09, 0.83, 1.0)}
_STOP_ROBUST = "0 to .04 (do not)"  # a range is all that is known of the prototype's ICSA
_UNKNOWN = "-"  # it knew neither redraw nor ordinary people
_FAR = (20.0, 50.0, 100.0)


@dataclass(frozen=True)
class Rate:
    """One line of the table: rates over repetitions, and by kind of data."""

    release: str
    n: int
    p: int
    look_again: float
    do_not: float
    error: float
    by_kind: dict[str, float]
    prototype: float | None
    prototype_is: str
    repetitions: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rates, print them and write JSON."""
    options = _parser().parse_args(arguments)
    repetitions = 5 if options.quick else options.repetitions
    started, rates, machine = time.perf_counter(), [], describe_machine()
    print(f"{'release':28s} {'n':>5s} {'p':>3s}  look again   do not  +- error  prototype")
    for rate in _all_rates(repetitions, options.only, options.seed):
        rates.append(rate)
        before = _STOP_ROBUST if rate.release.startswith("ICSA, one") else _UNKNOWN
        if rate.prototype is not None:
            before = f"{rate.prototype:.3f} ({rate.prototype_is})"
        cell = f"{rate.release:28s} {rate.n:5d} {rate.p:3d}"
        rest = f"{rate.look_again:10.3f} {rate.do_not:8.3f}  {rate.error:8.3f}  {before}"
        print(f"{cell}  {rest}", flush=True)
        report = {
            "repetitions": repetitions,
            "seed": options.seed,
            "seconds": time.perf_counter() - started,
            "machine": machine,
            "rates": [asdict(each) for each in rates],
        }
        options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - started:.0f} s; written to {options.output}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="of every cell and kind")
    parser.add_argument("--quick", action="store_true", help="5 repetitions")
    parser.add_argument("--seed", type=int, default=0, help="tables of another series")
    parser.add_argument("--only", default="", help="releases whose name contains this text")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).resolve().parent / "verdict_rates.json"
    )
    return parser


def _all_rates(repetitions: int, only: str, seed: int) -> Iterator[Rate]:
    for position, (n, p) in enumerate(SIZES):
        yield from _plain_rates(position, n, p, repetitions, only, seed)
        if only in "SA, outliers at 20 sd":
            yield _outlier_rate("SA, outliers at 20 sd", n, p, 20.0, repetitions, position, seed)
    for p in (5, 10):
        for method in _PLANTED:
            for position, far in enumerate(_FAR):
                name = f"{method}, one outlier at {far:.0f} sd"
                if only in name:
                    yield _outlier_rate(name, 1_000, p, far, repetitions, position, seed)


def _plain_rates(
    position: int, n: int, p: int, repetitions: int, only: str, seed: int
) -> Iterator[Rate]:
    """Yield the rates of all releases of tables without planted outliers."""
    wanted = [name for name in RELEASES if only in name]
    words: dict[str, dict[str, list[str]]] = {name: {kind: [] for kind in KINDS} for name in wanted}
    for kind, draw in KINDS.items():
        grid = _GRID if kind == "rounded" else 0.0
        for repetition in range(repetitions if wanted else 0):
            rng = np.random.default_rng([seed, repetition, n, p, list(KINDS).index(kind)])
            x = draw(rng, n, p)
            lenses, around = _fitted(x, grid)
            fresh = _repeated(draw, rng, n, p)
            scene = Scene(x, rng, around.people.rows, fresh)
            for name in wanted:
                if name.endswith(_ORDINARY) and repetition >= max(1, round(_FEWER * repetitions)):
                    continue
                words[name][kind].append(_word(RELEASES[name](scene), lenses, around, grid))
    for name in wanted:
        before = _LOOK[name][position] if name in _LOOK else None
        yield _rate(name, n, p, words[name], before, "look again")


def _repeated(
    draw: Callable[[Generator, int, int], Matrix], rng: Generator, n: int, p: int
) -> Callable[[], Matrix]:
    return lambda: draw(rng, n, p)


def _outlier_rate(
    name: str, n: int, p: int, far: float, repetitions: int, position: int, seed: int
) -> Rate:
    """Return the rate on tables with rows planted so many standard deviations away."""
    several = name.startswith("SA, outliers")
    method, _, _ = name.partition(",")
    release = _PLANTED[method]
    words: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, draw in KINDS.items():
        grid = _GRID if kind == "rounded" else 0.0
        for repetition in range(repetitions):
            rng = np.random.default_rng([seed, repetition, n, p, list(KINDS).index(kind), int(far)])
            x = draw(rng, n, p)
            count = max(1, round(0.01 * n)) if several else 1
            directions = rng.normal(size=(count, p))
            directions /= np.linalg.norm(directions, axis=1)[:, None]
            x[:count] = x.mean(axis=0) + far * directions * x.std(axis=0)
            if grid:
                x = _on_grid(x)
            lenses, around = _fitted(x, grid)
            scene = Scene(x, rng, around.people.rows)
            words[kind].append(_word(release(scene), lenses, around, grid))
    before: float | None = None
    if method == "SA":
        before = _LOOK[name][position] if several else _STOP[method, p][position]
    return _rate(name, n, p, words, before, "look again" if several else "do not")


def _fitted(x: Matrix, grid: float) -> tuple[Lenses, Surroundings]:
    lenses = fit_lenses(as_features(x, x, grids=[grid] * x.shape[1]))
    return lenses, measure_surroundings(lenses, standing_out(lenses))


def _word(released: Matrix, lenses: Lenses, around: Surroundings, grid: float) -> str:
    rows = _on_grid(released) if grid else released
    table = FeatureTable(_columns(rows), _no_codes(rows))
    seen = lenses.with_released(table)
    near = measure_nearness(seen, around)
    group = nearest_release_group(near.rho["E"], seen.original.shape[1], len(rows))
    found = Findings(seen, around, near, group)
    return verdict(
        around,
        near,
        group,
        exact=found.exact,
        everybody=found.everybody,
        reread=found.reread,
        extremes=found.extremes,
    ).word


def _rate(
    name: str, n: int, p: int, words: dict[str, list[str]], before: float | None, what: str
) -> Rate:
    every = [word for kind in words.values() for word in kind]
    look = sum(word != "release" for word in every) / len(every)
    stop = sum(word == "do not release" for word in every) / len(every)
    measured = look if what == "look again" else stop
    error = math.sqrt(measured * (1.0 - measured) / len(every))
    by_kind = {kind: sum(w != "release" for w in said) / len(said) for kind, said in words.items()}
    return Rate(name, n, p, look, stop, error, by_kind, before, what, len(every))


if __name__ == "__main__":
    raise SystemExit(main())
