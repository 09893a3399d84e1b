"""The names of methods in all studies: a pair of scatters, a mask, whether it decorrelates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from icsa.anonymization import masked_copy
from icsa.errors import InputError
from icsa.ics import InvariantCoordinates
from icsa.masks import resolve as resolve_mask
from icsa.matrices import Matrix
from icsa.randomness import Key
from icsa.scatters import resolve

__all__ = ["DECORRELATED", "PAPER_MASK", "Method", "method_of"]

# What ends the name of a method that decorrelates.
DECORRELATED = "+d"
# The paper's mask, which a name without one stands for.
PAPER_MASK = "permute"


@dataclass(frozen=True)
class Method:
    """A way to release a table.

    Attributes
    ----------
    name : str
        As it was given: PAIR, PAIR+MASK, PAIR+d or PAIR+MASK+d.
    scatters : pair of str
        Names of the two scatters; "sa" is identity and cov.
    mask : str
        The mask's name; permute where none was given.
    decorrelate : bool
        Whether the chance correlations between masked components are taken out.
    """

    name: str
    scatters: tuple[str, str]
    mask: str
    decorrelate: bool

    @property
    def is_published(self) -> bool:
        """Whether it has the paper's mask and nothing else: the paper's, with some scatters.

        Examples
        --------
        >>> method_of("hr-tyler").is_published, method_of("hr-tyler+d").is_published
        (True, False)
        """
        return self.mask == PAPER_MASK and not self.decorrelate

    @property
    def plain_name(self) -> str:
        """The name of the same method without decorrelating."""
        return self.name.removesuffix(DECORRELATED)

    def release(
        self,
        table: Matrix,
        coordinates: InvariantCoordinates,
        key: Key,
        mask: Callable[..., Matrix] | None = None,
    ) -> Matrix:
        """Return a release with all digits, by one thread; `mask` may be one drawn before."""
        return masked_copy(
            table,
            coordinates,
            mask=mask or self.mask,
            decorrelate=self.decorrelate,
            random_state=key,
            threads=1,
        )


@cache
def method_of(name: str) -> Method:
    """Return the method of a name such as "sa", "hr-tyler+d" or "mcd50-mcd75+rotate+d".

    Examples
    --------
    >>> method_of("sa")
    Method(name='sa', scatters=('identity', 'cov'), mask='permute', decorrelate=False)
    >>> method_of("mcd50-mcd75+rotate+d").mask
    'rotate'
    """
    plain = name.removesuffix(DECORRELATED)
    pair, plus, mask = plain.partition("+")
    first, dash, second = ("identity", "-", "cov") if pair == "sa" else pair.partition("-")
    if not dash or (plus and not mask):
        raise InputError(
            f"No method {name!r}: give sa or a pair of scatters such as mcd50-mcd75, then + and a "
            f"mask where it is not {PAPER_MASK}, then {DECORRELATED} to decorrelate: "
            "mcd50-mcd75+rotate+d."
        )
    resolve_mask(mask or PAPER_MASK)  # an unknown one is refused
    scatters = resolve(first).name, resolve(second).name
    return Method(name, scatters, mask or PAPER_MASK, name != plain)
