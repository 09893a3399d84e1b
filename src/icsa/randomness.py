"""Secret keys and the random numbers that they give: AES-256-CTR streams, seeds, child keys.

Everything random in a release comes from one 256-bit `Key`. Whoever holds it can repeat every draw,
and with the fitted map undo what was only shuffled, so a key shows itself only when asked
(`Key.reveal`).

Derivations, so that others can check them (``|`` joins bytes; integers are big-endian)::

    seed    key    = SHA-256("icsa seed v1" | seed in the fewest bytes)
    child   key'   = HMAC-SHA-256(key, "icsa child v1"  | place)
    stream  secret = HMAC-SHA-256(key, "icsa stream v1" | place)
            bytes  = AES-256-CTR(secret), first counter block 0; words are little-endian,
                     two in a block
    place          = length of purpose (4 bytes) | purpose (UTF-8) | index (8 bytes)
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from numbers import Integral
from typing import Final, NoReturn, final

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from icsa.errors import InputError

__all__ = ["Key", "Stream", "as_key"]

_KEY_BYTES: Final = 32
_AES_BLOCK: Final = 16
_WORD: Final = np.dtype("<u8")
_HALF_WORD: Final = np.dtype("<u4")
# Encrypting zeros in pieces of this size stays in the cache and reaches the full speed of AES.
_ZEROS: Final = memoryview(bytes(1 << 16))


class _Secret:
    """Something that neither a text nor a pickle of it shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: secret, not shown>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InputError(
            f"A {type(self).__name__} is secret and is not pickled. To store a key on purpose, "
            "keep the bytes of key.reveal() and give them as random_state later."
        )

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(2)


@final
class Key(_Secret):
    """A 256-bit secret from which independent streams of random numbers come.

    Made by `as_key`. It is immutable, compares in constant time, and is neither shown nor pickled.

    Parameters
    ----------
    secret : bytes
        32 bytes.
    reproducible : bool
        Whether the key came from a seed: good for studies and tests, not for a release.

    Examples
    --------
    >>> as_key(7)
    <Key: secret, not shown>
    >>> as_key(7).child("study", 3) == as_key(7).child("study", 3)
    True
    """

    __slots__ = ("_reproducible", "_secret")

    def __init__(self, secret: bytes, *, reproducible: bool = False) -> None:
        if len(secret) != _KEY_BYTES:
            raise InputError(
                f"A key has {_KEY_BYTES} bytes: got {len(secret)}. "
                "Use secrets.token_bytes(32), or random_state=None for a fresh key."
            )
        self._secret = bytes(secret)
        self._reproducible = reproducible

    @property
    def reproducible(self) -> bool:
        """Whether the key came from a seed: whoever guesses it can repeat every draw."""
        return self._reproducible

    def reveal(self) -> bytes:
        """Return the 32 bytes; whoever holds them can repeat every draw.

        Examples
        --------
        >>> len(as_key(7).reveal())
        32
        """
        return self._secret

    def child(self, purpose: str, index: int = 0) -> Key:
        """Return the key for one purpose and number; it tells nothing about this one."""
        return Key(self._derive(b"icsa child v1", purpose, index), reproducible=self._reproducible)

    def stream(self, purpose: str, index: int = 0, *, first_word: int = 0) -> Stream:
        """Return the random numbers for one purpose and number, from a word on.

        Examples
        --------
        >>> as_key(7).stream("permute", 0).words(2)
        array([10941466384152187348, 15579769275352879546], dtype=uint64)
        >>> as_key(7).stream("permute", 0, first_word=1).words(1)
        array([15579769275352879546], dtype=uint64)
        """
        return Stream(self._derive(b"icsa stream v1", purpose, index), first_word)

    def _derive(self, kind: bytes, purpose: str, index: int) -> bytes:
        if not 0 <= index < 1 << 64:
            raise InputError("The index of a child key or stream must be from 0 to 2**64 - 1.")
        name = purpose.encode()
        message = kind + len(name).to_bytes(4, "big") + name + int(index).to_bytes(8, "big")
        return hmac.digest(self._secret, message, "sha256")

    def __eq__(self, other: object) -> bool:
        """Compare in constant time."""
        if not isinstance(other, Key):
            return NotImplemented
        return hmac.compare_digest(self._secret, other._secret)

    __hash__ = None  # type: ignore[assignment]  # a hash would be a trace of the secret

    def __deepcopy__(self, memo: object) -> Key:
        """Return the key itself: it is immutable, and cloning an estimator must not pickle it."""
        return self

    def __copy__(self) -> Key:
        """Return the key itself."""
        return self


@final
class Stream(_Secret):
    """Random numbers from AES-256 in counter mode, taken in order.

    Calls for a and then b numbers give what one call for a + b gives (`signs`: where a is a
    multiple of 8), so the size of blocks does not matter. For one thread at a time.

    Parameters
    ----------
    secret : bytes
        The 32 bytes of the cipher's key; see `Key.stream`.
    first_word : int
        How many words are passed over.
    """

    __slots__ = ("_cipher",)

    def __init__(self, secret: bytes, first_word: int = 0) -> None:
        block, within = divmod(first_word * _WORD.itemsize, _AES_BLOCK)
        counter = modes.CTR(block.to_bytes(_AES_BLOCK, "big"))
        self._cipher = Cipher(algorithms.AES(secret), counter).encryptor()
        self.random_bytes(within)

    def random_bytes(self, size: int) -> npt.NDArray[np.uint8]:
        """Return the next `size` bytes.

        Examples
        --------
        >>> as_key(7).stream("example").random_bytes(3)
        array([ 28, 208, 148], dtype=uint8)
        """
        # Older versions of cryptography want room for one block more than they write.
        room = np.empty(size + _AES_BLOCK - 1, dtype=np.uint8)
        for start in range(0, size, len(_ZEROS)):
            piece = _ZEROS[: min(len(_ZEROS), size - start)]
            self._cipher.update_into(piece, room[start:])  # type: ignore[arg-type]
        return room[:size]

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Return the next `size` words of 64 bits.

        Examples
        --------
        >>> as_key(7).stream("example").words(1)
        array([6761709775023820828], dtype=uint64)
        """
        return self.random_bytes(8 * size).view(_WORD).astype(np.uint64, copy=False)

    def half_words(self, size: int) -> npt.NDArray[np.uint32]:
        """Return the next `size` words of 32 bits.

        Examples
        --------
        >>> as_key(7).stream("example").half_words(1)
        array([513069084], dtype=uint32)
        """
        return self.random_bytes(4 * size).view(_HALF_WORD).astype(np.uint32, copy=False)

    def normals(self, size: int) -> npt.NDArray[np.float64]:
        """Return `size` standard normals: the normal quantiles of (word // 2**12 + 1/2) / 2**52.

        The half keeps 0 and 1 out; 52 bits, because with 53 the largest would be rounded to 1.

        Examples
        --------
        >>> as_key(7).stream("example").normals(2).round(6)
        array([-0.340997, -0.640989])
        """
        from scipy.special import ndtri  # needed by one mask only

        uniform = (self.words(size) >> np.uint64(12)).astype(np.float64)
        uniform += 0.5
        uniform *= 2.0**-52
        return ndtri(uniform, out=uniform)  # type: ignore[no-any-return]

    def signs(self, size: int) -> npt.NDArray[np.int8]:
        """Return `size` signs, 1 or -1, one random bit each; the bits are taken a byte at a time.

        Examples
        --------
        >>> as_key(7).stream("example").signs(4)
        array([ 1,  1,  1, -1], dtype=int8)
        """
        bits = np.unpackbits(self.random_bytes(-(-size // 8)), count=size).view(np.int8)
        return 1 - 2 * bits


def as_key(random_state: object = None) -> Key:
    """Return the key that `random_state` stands for.

    Parameters
    ----------
    random_state : None, int, bytes, numpy Generator or RandomState, or Key
        - None: a fresh key from the operating system at every call; right for a release.
        - an int, 0 or more: the key derived as the module's text says. Reproducible, and easily
          guessed: for studies and tests, not for release.
        - a Generator or RandomState: 32 bytes drawn from it. Reproducible too.
        - 32 bytes: the key itself. Keep it secret: whoever has it can repeat every draw.
        - a Key: itself.

    Returns
    -------
    Key
        With `reproducible` set where it came from an int, a Generator or a RandomState.

    Raises
    ------
    InputError
        For anything else; the message does not repeat what was given.

    Examples
    --------
    >>> as_key(7) == as_key(7)
    True
    >>> as_key() == as_key()
    False
    >>> as_key(7).reproducible, as_key().reproducible
    (True, False)
    """
    if isinstance(random_state, Key):
        return random_state
    if random_state is None:
        return Key(secrets.token_bytes(_KEY_BYTES))
    if isinstance(random_state, bytes | bytearray):
        return Key(bytes(random_state))
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return Key(random_state.bytes(_KEY_BYTES), reproducible=True)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return _key_of_seed(int(random_state))
    raise InputError(
        "random_state must be None (a fresh key), an int of 0 or more, 32 bytes, a numpy Generator "
        f"or RandomState, or a Key: got an object of type {type(random_state).__name__}."
    )


def _key_of_seed(seed: int) -> Key:
    if seed < 0:
        raise InputError("random_state: an int must be 0 or more, got a negative one.")
    digits = seed.to_bytes((seed.bit_length() + 7) // 8, "big")
    return Key(hashlib.sha256(b"icsa seed v1" + digits).digest(), reproducible=True)
