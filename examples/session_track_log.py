"""The sessions of a TREC Session Track (2011 to 2014, sessiontrack*.xml) as a click log: a line for each query.

python examples/session_track_log.py sessiontrack2013.xml > log.tsv
gradedeval clicks measures log.tsv qrels.txt

The topic is the number in <topic num="…">; a user is a session of the track, whose queries are the sessions of the log.
Pages of results follow each other, so ranks go on past 10. Queries without results are left out.
"""

import sys
import xml.etree.ElementTree as ElementTree

print("topic\tclicks\tshown\tuser\tsession\tquery")
for session in ElementTree.parse(sys.argv[1]).getroot().iter("session"):
    number, topic = session.get("num"), session.find("topic").get("num")
    for interaction in session.iter("interaction"):
        results = sorted(interaction.iter("result"), key=lambda result: int(result.get("rank")))
        shown = [result.find("clueweb12id").text for result in results]
        clicks = sorted(interaction.iter("click"), key=lambda click: int(click.get("num")))
        ranks = [click.find("rank").text for click in clicks]
        if shown:
            query = " ".join(interaction.findtext("query").split())
            name = f"{number}-{interaction.get('num')}"
            print(topic, " ".join(ranks) or "-", " ".join(shown), number, name, query, sep="\t")
