"""Keys stay secret, derivations are as documented, streams are independent and uniform."""

from __future__ import annotations

import copy
import hashlib
import hmac
import logging
import math
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc, ndtr
from sklearn.base import BaseEstimator, clone

from icsa import randomness
from icsa.errors import InputError
from icsa.randomness import Key, as_key

SECRET = bytes(range(32))


def chi_square_p_value(counts: np.ndarray, expected: float) -> float:
    return float(chdtrc(counts.size - 1, np.sum((counts - expected) ** 2) / expected))


# --- what a key is made from ---------------------------------------------------------------------


@given(seed=st.integers(min_value=0, max_value=2**300))
def test_a_seed_gives_the_documented_key(seed: int) -> None:
    shortest = seed.to_bytes(math.ceil(seed.bit_length() / 8), "big")
    assert as_key(seed).reveal() == hashlib.sha256(b"icsa seed v1" + shortest).digest()
    assert as_key(seed).reproducible
    assert as_key(seed) != as_key(seed + 1)


def test_numpy_integers_are_seeds() -> None:
    assert as_key(np.int64(5)) == as_key(np.uint8(5)) == as_key(5)


def test_no_seed_gives_a_fresh_key_each_time() -> None:
    keys = {as_key().reveal() for _ in range(20)}
    assert len(keys) == 20
    assert not as_key().reproducible


def test_bytes_are_the_key_itself() -> None:
    assert as_key(SECRET).reveal() == as_key(bytearray(SECRET)).reveal() == SECRET
    assert not as_key(SECRET).reproducible


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_give_32_bytes_of_theirs(make: type) -> None:
    assert as_key(make(3)).reveal() == make(3).bytes(32)
    assert as_key(make(3)).reproducible
    generator = make(3)
    assert as_key(generator) != as_key(generator)


def test_a_key_is_itself() -> None:
    key = as_key(SECRET)
    assert as_key(key) is key


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (True, "object of type bool"),
        (np.True_, "object of type bool"),
        (1.5, "object of type float"),
        ("swordfish", "32 bytes, a numpy Generator or RandomState, or a Key"),
        ([1, 2], "object of type list"),
        (-41, "0 or more"),
        (b"swordfish", "A key has 32 bytes: got 9"),
    ],
)
def test_anything_else_is_refused_and_not_repeated(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        as_key(given)
    assert "swordfish" not in str(caught.value)
    assert "41" not in str(caught.value)


# --- a key does not show itself ------------------------------------------------------------------


def secret_forms(secret: bytes) -> list[str]:
    return [secret.hex(), repr(secret), repr(list(secret)), str(int.from_bytes(secret, "big"))]


@pytest.mark.parametrize("make", [lambda: Key(SECRET), lambda: Key(SECRET).stream("permute")])
def test_texts_and_logs_show_nothing(make, caplog: pytest.LogCaptureFixture) -> None:
    holder = make()
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("icsa").debug("%s %r", holder, {"key": holder})
    shown = [repr(holder), str(holder), f"{holder}", caplog.text, repr(vars(type(holder)))]
    assert not any(form in text for form in secret_forms(SECRET) for text in shown)
    assert "not shown" in repr(holder)
    assert not hasattr(holder, "__dict__")


@pytest.mark.parametrize("make", [lambda: Key(SECRET), lambda: Key(SECRET).stream("permute")])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_is_refused(make, protocol: int) -> None:
    with pytest.raises(InputError, match=r"secret and is not pickled.*key\.reveal\(\)"):
        pickle.dumps(make(), protocol)
    with pytest.raises(InputError, match="not pickled"):
        make().__getstate__()


def test_copies_and_clones_hold_the_same_key() -> None:
    class Estimator(BaseEstimator):
        def __init__(self, random_state: object = None) -> None:
            self.random_state = random_state

    key = as_key(SECRET)
    assert copy.copy(key) is key
    assert copy.deepcopy({"key": key})["key"] is key
    assert clone(Estimator(key)).random_state is key


def test_keys_compare_by_value_in_constant_time_and_have_no_hash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = []
    monkeypatch.setattr(
        randomness.hmac, "compare_digest", lambda a, b: compared.append(1) or a == b
    )
    assert Key(SECRET) == Key(SECRET)
    assert Key(SECRET) != Key(SECRET[::-1])
    assert Key(SECRET) != SECRET
    assert len(compared) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Key(SECRET))


# --- children and streams ------------------------------------------------------------------------


def test_children_and_streams_are_derived_as_documented() -> None:
    place = b"\x00\x00\x00\x07permute" + (3).to_bytes(8, "big")
    child = hmac.new(SECRET, b"icsa child v1" + place, "sha256").digest()
    assert Key(SECRET).child("permute", 3).reveal() == child
    secret = hmac.new(SECRET, b"icsa stream v1" + place, "sha256").digest()
    cipher = Cipher(algorithms.AES(secret), modes.CTR(bytes(16))).encryptor()
    expected = cipher.update(bytes(200_000))
    stream = Key(SECRET).stream("permute", 3)
    assert stream.random_bytes(200_000).tobytes() == expected
    first = Key(SECRET).stream("permute", 3).words(1)
    assert int(first[0]) == int.from_bytes(expected[:8], "little")
    half = Key(SECRET).stream("permute", 3).half_words(2)
    assert int(half[1]) == int.from_bytes(expected[4:8], "little")


def test_children_keep_the_mark_of_a_seed() -> None:
    assert as_key(1).child("a").reproducible
    assert not as_key(SECRET).child("a").reproducible


def test_every_purpose_and_index_has_its_own_stream() -> None:
    key = as_key(1)
    streams = [key.stream(p, i) for p in ("a", "b", "ab", "") for i in (0, 1, 256)]
    streams += [key.child(p, i).stream("a") for p in ("a", "b") for i in (0, 1)]
    words = np.concatenate([stream.words(50) for stream in streams])
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("index", [-1, 2**64])
def test_an_index_out_of_range_is_an_error(index: int) -> None:
    with pytest.raises(InputError, match=r"from 0 to 2\*\*64 - 1"):
        as_key(1).stream("a", index)


@given(sizes=st.lists(st.integers(0, 70_000), max_size=4))
def test_pieces_of_a_stream_make_the_whole(sizes: list[int]) -> None:
    whole = as_key(1).stream("a").random_bytes(sum(sizes))
    stream = as_key(1).stream("a")
    for size in sizes:
        piece = stream.random_bytes(size)
        np.testing.assert_array_equal(piece, whole[: piece.size])
        whole = whole[piece.size :]


def test_normals_and_signs_do_not_depend_on_blocks() -> None:
    def taken(method: str, *sizes: int) -> np.ndarray:
        stream = as_key(2).stream("a")
        return np.concatenate([getattr(stream, method)(size) for size in sizes])

    np.testing.assert_array_equal(taken("normals", 10, 7), taken("normals", 17))
    np.testing.assert_array_equal(taken("signs", 16, 7), taken("signs", 23))


def test_normals_are_the_documented_quantiles_and_finite_at_both_ends() -> None:
    class Ends:
        def words(self, size: int) -> np.ndarray:
            return np.array([0, 2**64 - 1, 2**63], dtype=np.uint64)

    low, high, middle = randomness.Stream.normals(Ends(), 3)  # type: ignore[arg-type]
    assert low == -high
    assert -8.3 < low < -8.1
    assert abs(middle) < 1e-15
    words = as_key(3).stream("a").words(1000)
    uniform = (words // np.uint64(2**12)).astype(float) / 2**52
    np.testing.assert_allclose(ndtr(as_key(3).stream("a").normals(1000)), uniform, atol=1e-14)


def test_bytes_signs_and_normals_are_uniform_fair_and_normal() -> None:
    n = 200_000
    counts = np.bincount(as_key(4).stream("a").random_bytes(n), minlength=256)
    assert chi_square_p_value(counts, n / 256) > 0.001
    signs = as_key(4).stream("a").signs(n)
    assert set(np.unique(signs)) == {-1, 1}
    assert abs(signs.sum(dtype=int)) < 4 * math.sqrt(n)
    normals = as_key(4).stream("a").normals(n)
    cells = np.floor(ndtr(normals) * 100).astype(int)
    assert chi_square_p_value(np.bincount(cells, minlength=100), n / 100) > 0.001
