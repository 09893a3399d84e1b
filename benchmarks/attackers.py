"""What the shipped attacks reach, and how often they alarm where there is nothing.

``python -m benchmarks.attackers`` prints the figures of docs/attacks.rst; names of parts after it
choose some (coverage, reassembly, digits, two-releases, all-but-one, word).
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from icsa import anonymize_matrix
from icsa.assessment.attackers import reasons_of_attacks
from icsa.attacks import Targets, run_attacks
from icsa.attacks.digits_attack import has_more_digits
from icsa.comparison.features import Features, FeatureTable, as_features
from icsa.matrices import Matrix
from icsa.privacy import Policy

Pair = tuple[Features, FeatureTable]
KINDS = ("normal", "lognormal", "t3", "rounded", "mixed")


def people(kind: str, n: int, p: int, rng: np.random.Generator) -> tuple[Matrix, np.ndarray]:
    """Return numbers and codes of n people of a kind."""
    z = rng.standard_t(3, size=(n, p)) if kind == "t3" else rng.normal(size=(n, p))
    x = z @ (np.eye(p) + 0.3).T
    if kind == "lognormal":
        x = np.exp(x / 1.5)
    if kind == "rounded":
        x = np.rint(3 * x)
    codes = np.empty((n, 0), dtype=int)
    if kind == "mixed":
        codes = np.column_stack([rng.integers(3, size=n), rng.integers(12, size=n)])
        x[rng.random(x.shape) < 0.05] = np.nan
    return x, codes


def fresh(kind: str, n: int, p: int, seed: int) -> Pair:
    """Return people, as many others as their release, and as many who are in neither."""
    rng = np.random.default_rng([seed, n, p])
    (x, a), (y, b), (z, c) = (people(kind, n, p, rng) for _ in range(3))
    features = as_features(x, y, original_codes=a, released_codes=b)
    return features, as_features(z, y, original_codes=c, released_codes=b).original


def lone(n: int, p: int, severity: float, seed: int) -> Matrix:
    """Return correlated normal people, the last of whom is so many deviations out."""
    rng = np.random.default_rng([seed, p])
    mixing = np.linalg.qr(rng.normal(size=(p, p)))[0] * np.linspace(1.0, 2.0, p)
    z = rng.normal(size=(n, p))
    if severity:
        direction = rng.normal(size=p)
        z[-1] = severity * direction / np.linalg.norm(direction)
    return z @ mixing.T


def released(x: Matrix, mask: str, seed: int, rounding: str | None = None) -> Matrix:
    """Return a release of a matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return anonymize_matrix(
            x, mask=mask, decorrelate=False, round=rounding, random_state=seed, threads=1
        )


def coverage(repetitions: int) -> None:
    """Print how often intervals of the difference hold 0 on fresh people, and lie above it."""
    held: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for kind in KINDS:
        for seed in range(repetitions):
            features, outsiders = fresh(kind, 240, 5, seed)
            targets = Targets(features=features, outsiders=outsiders)
            for result in run_attacks(targets, names=LITERATURE, seed=seed):
                difference = result.difference
                if difference.low is not None and difference.high is not None:
                    name = f"{result.attack}: {result.guesses}"
                    inside = difference.low <= 0.0 <= difference.high
                    held[name].append((inside, difference.low > 0.0))
    for name, outcomes in held.items():
        inside, above = np.mean(outcomes, axis=0)
        print(f"{name:58} n={len(outcomes)} holds 0: {inside:.3f}  above 0: {above:.3f}")


LITERATURE = ("singling out", "linkability", "inference", "membership")
# A copy of a rounded table with noise has more digits, which is another finding.
WITHOUT_DIGITS = (*LITERATURE, "reassembly")


def reassembly(repetitions: int) -> None:
    """Print how often a lone person is put together, by mask, columns and distance."""
    for mask in ("permute", "redraw"):
        for p in (5, 10, 20):
            for severity in (10.0, 20.0, 50.0):
                tables = (lone(240, p, severity, seed) for seed in range(repetitions))
                _alarms(f"{mask}, p={p}, {severity:.0f} sd", tables, mask)
    for kind in ("lognormal", "t3"):
        rng = np.random.default_rng(5)
        tables = (people(kind, 240, 5, rng)[0] for _ in range(repetitions))
        _alarms(
            f"permute, {kind}, p=5, 50 sd", (_with_lone(x, 50.0, rng) for x in tables), "permute"
        )
    for kind in ("normal", "lognormal", "t3"):
        for p in (3, 5, 10):
            pairs = (fresh(kind, 240, p, seed)[0] for seed in range(5 * repetitions))
            _print_alarms(f"fresh people, {kind}, p={p}", [_put_together(pair) for pair in pairs])
    for name, x in real_tables():
        for mask in ("redraw", "permute"):
            _alarms(f"{name}, {mask}", (x for _ in range(10)), mask)


def _with_lone(x: Matrix, severity: float, rng: np.random.Generator) -> Matrix:
    """Return a table whose last person lies so many deviations out."""
    direction = rng.normal(size=x.shape[1])
    spread = x.std(axis=0)
    moved = x.copy()
    moved[-1] = np.median(x, axis=0) + severity * spread * direction / np.linalg.norm(direction)
    return moved


def real_tables() -> Iterator[tuple[str, Matrix]]:
    """Return numeric columns without gaps of tables that ship with scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

    for load in (load_breast_cancer, load_diabetes, load_wine, load_iris):
        x = load().data
        yield load.__name__.removeprefix("load_"), x[:, : min(10, x.shape[1])]


def _alarms(name: str, tables: Iterator[Matrix], mask: str) -> None:
    found = [
        _put_together(as_features(x, released(x, mask, seed))) for seed, x in enumerate(tables)
    ]
    _print_alarms(name, found)


def _put_together(features: Features) -> tuple[bool, bool]:
    every, some = run_attacks(Targets(features=features), names=["reassembly"])
    return bool(every.rows), bool(every.rows or some.rows)


def _print_alarms(name: str, found: list[tuple[bool, bool]]) -> None:
    stop, look = np.mean(found, axis=0)
    error = np.sqrt(max(look * (1 - look), 1e-12) / len(found))
    print(f"{name:36} n={len(found)} stop {stop:.3f}  look or stop {look:.3f} (se {error:.3f})")


def digits(repetitions: int) -> None:
    """Print the share of rows that come back from the digits, by mask and columns."""
    for mask in ("permute", "redraw", "rotate"):
        for p in (2, 3, 4):
            rows = []
            for seed in range(repetitions):
                x = np.rint((10.0 if p < 4 else 5.0) * lone(240, p, 0.0, seed))
                features = as_features(x, released(x, mask, seed))
                (found,) = run_attacks(Targets(features=features), names=["digits"], seed=seed)
                rows.append(found.right.value or 0.0)
            whole = np.mean([share == 1.0 for share in rows])
            print(
                f"{mask}, p={p}: whole table {whole:.2f}, rows {np.mean(rows):.2f} (n={len(rows)})"
            )
        x = np.rint(10.0 * lone(240, 3, 0.0, 1))
        more = has_more_digits(Targets(features=as_features(x, released(x, mask, 1, "lattice"))))
        print(f"{mask}, rounded as the original: more digits {more}")


def two_releases(repetitions: int) -> None:
    """Print how much of the map two releases give, and whose scores are in both."""
    for mask in ("permute", "redraw"):
        for p in (4, 5):
            known: list[float] = []
            members: list[tuple[float, float]] = []
            for seed in range(repetitions):
                both = lone(480, p, 0.0, seed)
                x, others = both[:240], both[240:]
                one, two = (released(x, mask, 2 * seed + k) for k in (0, 1))
                targets = Targets(
                    features=as_features(x, one),
                    outsiders=as_features(others, one).original,
                    also_released=as_features(two, two).original,
                )
                results = run_attacks(targets, names=["two releases"], seed=seed)
                known.append(results[0].right.value or 0.0)
                members += [(r.right.value or 0.0, r.control.value or 0.0) for r in results[1:]]
            told, control = np.mean(members, axis=0)
            any_of_them = np.mean(np.array(known) > 0)
            print(
                f"{mask}, p={p}: coordinates {np.mean(known):.2f}, any {any_of_them:.2f}, "
                f"members {told:.2f}, others {control:.2f} (n={repetitions})"
            )


def all_but_one(repetitions: int) -> None:
    """Print the share of the last row's cells that means give, by mask."""
    for mask in ("permute", "redraw"):
        shares = []
        for seed in range(repetitions):
            x = lone(240, 5, 0.0, seed)
            (found,) = run_attacks(
                Targets(features=as_features(x, released(x, mask, seed))), names=["all but one"]
            )
            shares.append((found.right.value or 0.0, found.naive.value or 0.0))
        print(f"{mask}: right, naive {np.mean(shares, axis=0).round(3)} (n={len(shares)})")


def word(repetitions: int) -> None:
    """Print how often attackers change the word on fresh people and on copies with noise."""
    makers: dict[str, Callable[[Matrix, Matrix, np.random.Generator], Matrix]] = {
        "fresh people": lambda _x, y, _rng: y,
        "copy": lambda x, _y, rng: rng.permutation(x),
        "copy, 30% noise": lambda x, _y, rng: x + 0.3 * np.nanstd(x, 0) * rng.normal(size=x.shape),
        "one in ten copied": lambda x, y, _rng: np.vstack([x[: len(x) // 10], y[len(x) // 10 :]]),
    }
    for name, make in makers.items():
        counts: dict[str, int] = defaultdict(int)
        total = 0
        for kind in ("normal", "lognormal", "t3", "rounded"):
            for n, p in ((200, 5), (200, 10), (1000, 5)):
                for seed in range(repetitions):
                    rng = np.random.default_rng([seed, n, p, 7])
                    x, y, z = (people(kind, n, p, rng)[0] for _ in range(3))
                    features = as_features(x, make(x, y, rng))
                    targets = Targets(features=features, outsiders=as_features(z, y).original)
                    results = run_attacks(targets, names=WITHOUT_DIGITS, seed=seed)
                    total += 1
                    reasons = reasons_of_attacks(results, Policy())
                    for reason in reasons:
                        counts[f"{reason.rule}: {reason.word}"] += 1
                    counts["any"] += bool(reasons)
        told = ", ".join(f"{key} {value / total:.3f}" for key, value in sorted(counts.items()))
        print(f"{name} (n={total}): {told}")


PARTS: dict[str, tuple[Callable[[int], None], int]] = {
    "coverage": (coverage, 100),
    "reassembly": (reassembly, 40),
    "digits": (digits, 12),
    "two-releases": (two_releases, 12),
    "all-but-one": (all_but_one, 20),
    "word": (word, 25),
}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{Path(__file__).stem}")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--repetitions", type=int)
    asked = parser.parse_args()
    for name in asked.parts or PARTS:
        run, usual = PARTS[name]
        print(f"== {name}", flush=True)
        run(asked.repetitions or usual)


if __name__ == "__main__":
    main()
