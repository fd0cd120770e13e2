"""The sessions of https://github.com/kurakimai/clickmodel_wc as a click log: 7,018 to fit on, 1,791 to test on.

python examples/clickmodel_wc_log.py sample/train_data sample/test_data > log.tsv
gradedeval clicks observe log.tsv

A line there has, between tabs: the id of a query, ten ids of documents, ten times 0 or 1 for a click, ten times in
seconds (-1 without a click), and movements of the mouse. Clicks are written in the order of their times.
"""

import sys

print("topic\tclicks\tshown")
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            query, documents, clicked, times = line.rstrip("\n").split("\t")[:4]
            ranks = [rank for rank, click in enumerate(clicked.split(), 1) if click == "1"]
            ranks.sort(key=[0.0, *map(float, times.split())].__getitem__)
            print(query, " ".join(map(str, ranks)) or "-", documents, sep="\t")
