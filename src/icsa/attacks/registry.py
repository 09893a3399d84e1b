"""The attacks by name, and how they are run together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from zlib import crc32

import numpy as np

from icsa.attacks.all_but_one import last_person
from icsa.attacks.digits_attack import rows_from_digits
from icsa.attacks.inference import infer
from icsa.attacks.linkability import link
from icsa.attacks.membership_attack import tell_members
from icsa.attacks.protocol import AttackKind, AttackResult, Targets
from icsa.attacks.reassembly_attack import put_together
from icsa.attacks.singling_out import single_out
from icsa.attacks.two_releases_attack import compare_releases
from icsa.attacks.whom import places_of
from icsa.errors import InputError, UnknownNameError

__all__ = ["ATTACKS", "run_attacks"]

ATTACKS: Mapping[str, AttackKind] = MappingProxyType(
    {
        "singling out": AttackKind(
            single_out, "finds predicates that one released row meets, and so does one person"
        ),
        "linkability": AttackKind(
            link, "finds that two parts of the columns belong to one person", "two columns"
        ),
        "inference": AttackKind(
            infer, "guesses cells from other cells of the same person", "two columns"
        ),
        "membership": AttackKind(tell_members, "guesses who is in the table"),
        "digits": AttackKind(
            rows_from_digits,
            "computes rows of a rounded original from a release that is not rounded",
            "two to five numeric columns, rounded in the original and not in the release",
        ),
        "reassembly": AttackKind(
            put_together,
            "adds up far released rows to a person who stands out",
            "two numeric columns without missing cells",
        ),
        "two releases": AttackKind(
            compare_releases,
            "computes the map from two releases, and who is in the table",
            "another release of the same table",
        ),
        "all but one": AttackKind(
            last_person,
            "knows all rows but one and takes the difference",
            "as many released rows as original ones",
        ),
    }
)


def run_attacks(
    targets: Targets,
    *,
    names: Sequence[str] | None = None,
    people: int = 1_000,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[AttackResult, ...]:
    """Return what attackers get from a release, beside the same on people not in the table.

    Parameters
    ----------
    targets : Targets
        The people, the release, and who else is known.
    names : sequence of str, optional
        Of attacks in `icsa.attacks.ATTACKS`; by default all of them.
    people : int
        How many are tried at most, of either kind. The intervals are those of so many people.
    seed : int
        Of what is drawn: people, columns, predicates. Attacks do not depend on each other's draws.
    progress : callable, optional
        Called with the name of each attack and the share that is done before it.

    Returns
    -------
    tuple of AttackResult
        In the order of `ATTACKS`; one attack can give several.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> features = as_features(rng.normal(size=(80, 3)), rng.normal(size=(80, 3)))
    >>> outsiders = as_features(rng.normal(size=(80, 3)), rng.normal(size=(80, 3))).original
    >>> targets = Targets(features=features, outsiders=outsiders)
    >>> found, = run_attacks(targets, names=["linkability"])
    >>> print(found.means)
    No more is learnt than about people who were not in the table
    """
    wanted = list(ATTACKS) if names is None else list(names)
    for name in wanted:
        if name not in ATTACKS:
            raise UnknownNameError("attack", name, list(ATTACKS))
    if people < 1:
        raise InputError(f"people must be 1 or more: got {people}.")
    both = set(targets.knows) & set(targets.secret)
    if both:
        raise InputError(f"A column is either known or secret: {sorted(both)[0]!r} is both.")
    places_of(targets.features, (*targets.knows, *targets.secret))
    told = progress or (lambda _stage, _share: None)
    chosen = [name for name in ATTACKS if name in wanted]
    found: list[AttackResult] = []
    for place, name in enumerate(chosen):
        told(name, place / len(chosen))
        rng = np.random.default_rng([seed, crc32(name.encode())])
        found += ATTACKS[name].run(targets, people=people, rng=rng)
    return tuple(found)
