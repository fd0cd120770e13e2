"""Ids that have one hash, made by inverting the hash of the tokenizer: 32 printable characters each."""

from functools import cache
from itertools import islice, product

import numpy as np

from gradedeval.arrays import Bools
from gradedeval.kernel.trec.tokenizer import _HALF, _ODD, Words

BATCH = 1 << 18
_SPECIAL = b"\"#,/\\:{}[]'<>&@-_"
_ALLOWED = np.array([32 < byte < 127 and byte not in _SPECIAL for byte in range(256)])


def colliding_ids(count: int) -> list[bytes]:
    """Return distinct ids whose hashes are all equal.

    The hash is a sum over words. So an id of two blocks with one sum each has the sum of any other two.
    """
    blocks = _blocks(int(np.ceil(np.sqrt(count))))
    return list(map(b"".join, islice(product(blocks, repeat=2), count)))


def unlike_ids(count: int) -> list[bytes]:
    """Return distinct ids of the same length whose hashes differ."""
    draw = np.random.default_rng(count)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", dtype=np.uint8)
    text = letters[draw.integers(0, 32, 32 * count)].tobytes()
    ids = dict.fromkeys(text[start : start + 32] for start in range(0, len(text), 32))
    assert len(ids) == count
    return list(ids)


@cache
def _blocks(count: int, target: int = 0x0123456789ABCDEF) -> list[bytes]:
    """Return blocks of two words that add the same to a hash: the first word is any, the second is solved for."""
    draw = np.random.default_rng(count)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", dtype=np.uint8)
    inverse = np.uint64(pow(_ODD[0], -2, 1 << 64))
    blocks: dict[bytes, None] = {}
    while len(blocks) < count:
        first = letters[draw.integers(0, 32, 8 * BATCH)].view("<u8")
        second = _mixed((np.uint64(target) - _mixed(first) * np.uint64(_ODD[0])) * inverse)
        rows = np.flatnonzero(_is_allowed(second))
        pairs = np.stack([first[rows], second[rows]], axis=1).astype("<u8")
        blocks.update(dict.fromkeys(pair.tobytes() for pair in pairs))
    return list(blocks)[:count]


def _mixed(words: Words) -> Words:
    """Return the shift and xor of each word, which undoes itself."""
    return words ^ (words >> _HALF)


def _is_allowed(words: Words) -> Bools:
    """Return whether all bytes of each word are printable, and special in no format."""
    allowed = np.ones(len(words), dtype=bool)
    for index in range(8):
        allowed &= _ALLOWED[words.view(np.uint8)[index::8]]
    return allowed
