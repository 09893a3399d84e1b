"""What is claimed of attacks and masks, and what the results say: yes or no, with the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from icsa.studies.named_methods import Method, method_of
from icsa.studies.pages import Claim

__all__ = ["claims"]

# Shares that count as nearly all, as often, and as next to nothing.
_MOST, _HALF, _HARDLY = 0.8, 0.5, 0.05
# Errors relative to knowing nothing that count as everything and as little learnt.
_ALL_LEARNT, _LITTLE_LEARNT = 0.1, 0.85
_FAR = 50.0
_HIDDEN = 0.3
_CHANCE = 0.65


def claims(found: pl.DataFrame) -> list[Claim]:
    """Return what is said of the masks on the pages, with a yes or no from these results."""
    return [
        *_reassembly(found),
        *_shares(found, "digits", "rows", pl.col("columns") <= 4),
        *_shares(found, "two releases", "coordinates", pl.col("columns") <= 4),
        *_insiders(found),
        *_all_but_one(found),
        *_membership(found),
    ]


def _keeps_scores(method: Method) -> bool:
    return method.mask == "permute"


def _draws_anew(method: Method) -> bool:
    return method.mask in ("rotate", "redraw")


def _robust(method: Method) -> bool:
    return all(name.startswith("mcd") for name in method.scatters)


def _of(
    found: pl.DataFrame, attack: str, measure: str, wanted: Callable[[Method], bool]
) -> pl.DataFrame:
    """Return the cells of an attack's measure for the methods that are wanted."""
    names = [name for name in found["method"].unique() if wanted(method_of(name))]
    return found.filter(
        pl.col("attack") == attack, pl.col("measure") == measure, pl.col("method").is_in(names)
    )


def _range(cells: pl.DataFrame) -> str:
    """Return the least and the largest mean, and their standard errors."""
    ends = [cells.sort("mean").row(place, named=True) for place in (0, -1)]
    texts = [f"{end['mean']:.3f} ({end['se'] or 0.0:.3f})" for end in ends]
    return f"{texts[0]} to {texts[1]} in {cells.height} cells"


def _claim(
    text: str, cells: pl.DataFrame, holds: Callable[[pl.Series], pl.Series]
) -> Iterator[Claim]:
    """Yield the claim that the means of all cells satisfy something, unless there are none."""
    if not cells.is_empty():
        yield Claim(text, bool(holds(cells["mean"]).all()), _range(cells))


def _reassembly(found: pl.DataFrame) -> Iterator[Claim]:
    far = found.filter(pl.col("severity") == _FAR, pl.col("columns") == 5, pl.col("n") == 240)
    robust = _of(far, "reassembly", "found", lambda m: _keeps_scores(m) and _robust(m))
    yield from _claim(
        "permute, robust scatters: a lone person at 50 sd among 240 with 5 columns is put together "
        "again in more than half of the tables, whatever their kind.",
        robust,
        lambda mean: mean > _HALF,
    )
    hidden = _of(far, "reassembly", "ORE of nearest row", lambda m: _keeps_scores(m) and _robust(m))
    yield from _claim(
        "The paper's ORE calls the same people hidden.", hidden, lambda mean: mean > _HIDDEN
    )
    for text, measure, wanted in (
        (
            "rotate, redraw: fewer than one person in 1,000 is found, over all cells.",
            "",
            _draws_anew,
        ),
        (
            "Fewer than one in 100 who are not in the table are found, over all cells and methods.",
            ", control",
            lambda _: True,
        ),
    ):
        cells = _of(found, "reassembly", f"found{measure}", wanted)
        if not cells.is_empty():
            people = int(cells["tables"].sum())
            times = round(float((cells["mean"] * cells["tables"]).sum()))
            limit = 0.01 if measure else 0.001
            yield Claim(text, times < limit * people, f"{times} of {people}")


def _shares(found: pl.DataFrame, attack: str, measure: str, reach: pl.Expr) -> Iterator[Claim]:
    cells = found.filter(reach)
    yield from _claim(
        f"{attack}: permute gives nearly all {measure} away with up to 4 columns, decorrelated or "
        "not.",
        _of(cells, attack, measure, _keeps_scores),
        lambda mean: mean > _MOST,
    )
    yield from _claim(
        f"{attack}: rotate and redraw give no {measure} away.",
        _of(found, attack, measure, _draws_anew),
        lambda mean: mean == 0.0,
    )


def _insiders(found: pl.DataFrame) -> Iterator[Claim]:
    plain = _of(found, "insiders", "directions", lambda m: m.is_published)
    yield from _claim(
        "insiders: p + 2 of them find nearly the whole map of a permuted release.",
        plain,
        lambda mean: mean > _MOST,
    )
    others = _of(found, "insiders", "directions", lambda m: not m.is_published)
    yield from _claim(
        "insiders: they find nothing of any other release.", others, lambda mean: mean < _HARDLY
    )


def _all_but_one(found: pl.DataFrame) -> Iterator[Claim]:
    attack, normal = "all but one", found.filter(pl.col("kind") == "normal")
    yield from _claim(
        "all but one: where means are kept (permute, and decorrelating after anything but redraw) "
        "the last row is computed exactly.",
        _of(
            found,
            attack,
            "error from means",
            lambda m: m.mask == "permute" or (m.decorrelate and m.mask != "redraw"),
        ),
        lambda mean: mean < 1e-6,
    )
    yield from _claim(
        "all but one: flip and rotate hide the sign of the last score and give its size away, in "
        "normal tables.",
        _of(normal, attack, "size", lambda m: m.mask in ("flip", "rotate")),
        lambda mean: mean < _ALL_LEARNT,
    )
    for measure in ("score", "size"):
        yield from _claim(
            f"all but one: with redraw little is learnt of the last person's {measure}.",
            _of(found, attack, measure, lambda m: m.mask == "redraw"),
            lambda mean: mean > _LITTLE_LEARNT,
        )


def _membership(found: pl.DataFrame) -> Iterator[Claim]:
    yield from _claim(
        "membership: who has the map recognises every member of a permuted release.",
        _of(found, "membership", "nearest", lambda m: m.is_published),
        lambda mean: mean > 0.99,
    )
    narrow = found.filter(pl.col("columns") <= 10)
    for measure in ("nearest", "density"):
        yield from _claim(
            f"membership: with redraw the area under the curve ({measure}) is below .65, with up "
            "to 10 columns.",
            _of(narrow, "membership", measure, lambda m: m.mask == "redraw"),
            lambda mean: mean < _CHANCE,
        )
