"""Tokens in a buffer, as the tokenizer finds them."""

from typing import Any

import numpy as np

from gradedeval.kernel.trec.tokenizer import PAD, padded


def buffer_of(tokens: list[bytes]) -> tuple[Any, Any, Any]:
    text = b" ".join([*tokens, b""])
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    end = PAD + np.cumsum([len(token) + 1 for token in tokens]) - 1
    return buffer, end - [len(token) for token in tokens], end
