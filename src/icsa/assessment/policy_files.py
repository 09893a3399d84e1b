"""Policies as TOML files: the thresholds of the verdict, each with a reason and an owner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import tomlkit

from icsa.errors import InputError, UnknownNameError
from icsa.files import read_toml, require_readable
from icsa.privacy import Policy, Threshold

__all__ = ["policy_text", "read_policy"]

_VERSION = 1
_KEYS = ("owner", "reason", "source", "value")
# Thresholds that count something instead of being a probability, a share or a ratio.
_COUNTS = (
    *("part_cells", "part_excess", "part_surprise", "closer_clear", "large_clear"),
    "before_factor",
)
_ORDERED = (
    ("group_ratio_stop", "group_ratio_look"),
    ("before_look", "before_stop"),
    ("exact_stop", "exact_look"),
    ("equal_stop", "equal_look"),
    ("near_stop", "near_look"),
    ("closer_look", "closer_stop"),
)

_HEADING = """\
# Policy of icsa: the thresholds of the verdict (release, look again, do not release).
#
# Change a value, say why, and say who answers for it:
#   icsa assess ORIGINAL RELEASED --policy THIS-FILE
# What you leave out stays as it is here. The report prints the policy that it used.
#
# P: chance that fresh data would come as near to the person, corrected for the number of people.
# rho: distance of the nearest released row over that of the nearest other original.
# Lambda: number of replicas that a person can expect before any key is drawn.
"""


def policy_text(policy: Policy | None = None) -> str:
    """Return a policy as a commented TOML file.

    Examples
    --------
    >>> print(policy_text().splitlines()[0])
    # Policy of icsa: the thresholds of the verdict (release, look again, do not release).
    """
    chosen = Policy() if policy is None else policy
    lines = [_HEADING, f"version = {_VERSION}"]
    for item in fields(chosen):
        threshold: Threshold = getattr(chosen, item.name)
        document = tomlkit.document()
        for key in ("value", "reason", "source", "owner"):
            document.add(key, getattr(threshold, key))
        lines.append(f"\n[{item.name}]\n{tomlkit.dumps(document).strip()}")
    return "\n".join(lines) + "\n"


def read_policy(path: str | Path) -> Policy:
    r"""Return the policy in a TOML file, taken at its word.

    Parameters
    ----------
    path : str or Path
        Begins with ``version = 1``; each threshold is a table with value, reason, source and owner.
        A value that differs from the usual one needs a reason and an owner. Thresholds that are not
        there are the usual ones.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "policy.toml"
    ...     _ = path.write_text(
    ...         'version = 1\n[person_chance]\nvalue = 0.1\nreason = "all are ill"\nowner = "DPO"\n'
    ...     )
    ...     read_policy(path).person_chance.value
    0.1
    """
    require_readable(Path(path), "Check its name, or print one to begin with: icsa policy.")
    said = read_toml(Path(path), "Compare it with what icsa policy prints.")
    if said.pop("version", None) != _VERSION:
        raise InputError(
            f"{path}: version is missing or not {_VERSION}. Begin with a line version = {_VERSION}."
        )
    usual = {item.name: getattr(Policy(), item.name) for item in fields(Policy)}
    for name in said:
        if name not in usual:
            raise _where(path, UnknownNameError("threshold", name, usual))
    policy = Policy(
        **{name: _threshold(path, name, table, usual[name]) for name, table in said.items()}
    )
    values = policy.values()
    for low, high in _ORDERED:
        if values[low] > values[high]:
            raise InputError(f"{path}: {low} must not be larger than {high}.")
    return policy


def _threshold(path: str | Path, name: str, said: object, usual: Threshold) -> Threshold:
    where = f"{path}: [{name}]"
    if not isinstance(said, Mapping):
        raise InputError(f"{where} is no table. Write [{name}] and below it value = ...")
    for key in said:
        if key not in _KEYS:
            raise _where(where, UnknownNameError("key", key, _KEYS))
    for key in ("owner", "reason", "source"):
        if key in said and (not isinstance(said[key], str) or not said[key].strip()):
            raise InputError(f"{where} {key} must be a text in quotes, and not empty.")
    value = _value(where, name, said.get("value", usual.value))
    if value != usual.value:
        for key in ("reason", "owner"):
            if said.get(key, getattr(usual, key)) == getattr(usual, key):
                raise InputError(
                    f"{where} value is not the usual one: say why and who answers for it "
                    f"({key} is missing or still the usual one)."
                )
    return Threshold(
        value,
        said.get("reason", usual.reason),
        said.get("source", usual.source if value == usual.value else "not given"),
        said.get("owner", usual.owner),
    )


def _value(where: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{where} value must be a number.")
    most = math.inf if name in _COUNTS else 1.0
    if not 0.0 <= value <= most:
        limit = "0 or larger" if name in _COUNTS else "from 0 to 1"
        raise InputError(f"{where} value must be {limit}.")
    return float(value)


def _where(place: object, error: UnknownNameError) -> InputError:
    return InputError(f"{place}: {error}")
