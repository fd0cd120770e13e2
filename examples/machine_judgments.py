"""A machine's judgments, made in the open from those of people by stated errors: to try what `--predicted` does.

    python examples/machine_judgments.py qrels_samples/rivers.qrels --judged 25

Writes two files of qrels. human.qrels has the judgments of some topics, drawn by lot, as if people had judged no
others. llm.qrels has all topics and all documents, as if a language model had judged them: each grade from 0 up is
raised by 1 with one probability and lowered by 1 with another, and stays on the scale. No language model was asked, and
the errors of a real one may depend on topic, document and system, as these do not.
"""

from __future__ import annotations

import argparse
import random


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("qrels")
    parser.add_argument("--judged", type=int, default=25, help="topics that people judge")
    parser.add_argument("--raised", type=float, default=0.15, help="probability of one grade too many")
    parser.add_argument("--lowered", type=float, default=0.10, help="probability of one grade too few")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()

    with open(told.qrels, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip()]
    topics = list(dict.fromkeys(row[0] for row in rows))
    dice = random.Random(told.seed)
    judged = set(dice.sample(topics, told.judged))
    with open("human.qrels", "w", encoding="utf-8") as file:
        file.writelines(f"{' '.join(row)}\n" for row in rows if row[0] in judged)

    top = max(int(row[3]) for row in rows)
    with open("llm.qrels", "w", encoding="utf-8") as file:
        for topic, second, docno, grade in rows:
            luck = dice.random()
            error = 1 if luck < told.raised else -1 if luck >= 1 - told.lowered else 0
            given = int(grade) if int(grade) < 0 else min(top, max(0, int(grade) + error))  # spam stays spam
            file.write(f"{topic} {second} {docno} {given}\n")


if __name__ == "__main__":
    main()
