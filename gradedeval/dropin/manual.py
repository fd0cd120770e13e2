"""The help of `gradedeval trec_eval -h`, in our own words."""

from __future__ import annotations

from collections.abc import Iterable

from gradedeval.dropin.names import ENTRIES, NICKNAMES, Setting
from gradedeval.errors import Fault, nearest


def manual(usage: str, measures: Iterable[str], qrels_format: str) -> str:
    return usage + "\n"
