"""A release from files that do not fit: time beside polars' copy, memory, scratch, workers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from benchmarks.large_tables import N_COLUMNS, both_sizes
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings

__all__ = ["cases"]

_MEMORY = "2GB"


def cases(settings: Settings) -> Iterator[Case]:
    """Yield one case: all its figures come from the same releases."""
    n = settings.choose(10_000_000, 3_000_000)
    name = f"large table {n}x{N_COLUMNS}"
    yield Case(name, partial(_rows, name, n))


def _rows(name: str, n: int) -> list[Row]:
    found = both_sizes(n, _MEMORY)
    large = found["large"]
    one, two, copies = large["1 worker(s)"], large["2 worker(s)"], large["copies"]
    copy, by_clock = median(each["cpu"] for each in copies), one["wall"] / two["wall"]
    shares = [each["cpu"] / one["cpu"] for each in copies]
    return [
        Row(
            f"{name} processor time",
            one["cpu"],
            "s CPU",
            "polars' streaming copy of the file",
            copy,
            copy / one["cpu"],
            min(shares),
            Target("ratio", 1 / 8),
            remark=f"one worker, --memory {_MEMORY}",
            details=found,
        ),
        Row(
            f"{name} two workers",
            two["wall"],
            peer="one worker, by the clock",
            peer_value=one["wall"],
            ratio=by_clock,
            target=Target("ratio", 1.0),
        ),
        Row(
            f"{name} memory",
            one["gigabytes together"],
            "GB",
            target=Target("ours", 2.25),
            remark=f"resident, all processes; --memory {_MEMORY}, and the program itself",
        ),
        Row(
            f"{name} scratch",
            one["scratch, in tables as numbers"],
            "tables",
            target=Target("ours", 2.5),
        ),
        Row(
            f"{name} from a tenth of the rows",
            found["exponent"],
            "exponent",
            target=Target("ours", 1.05),
            remark="processor time ~ n^exponent",
        ),
        Row(
            f"{name} assess",
            large["assessment"]["wall"],
            peer="release by one worker, by the clock",
            peer_value=one["wall"],
            ratio=one["wall"] / large["assessment"]["wall"],
            remark="at most three releases are asked of 50,000,000 rows",
        ),
    ]
