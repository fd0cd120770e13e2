"""Runs and qrels with names of markup, scripts and invisible characters."""

from pathlib import Path

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img/src=x/onerror=alert(1)>',
    "</script><b>",
    "'\"&amp;",
    "a\u202eb",
    "l\u2028s",
)


def hostile_runs(folder: Path) -> list[str]:
    """Runs, topics and documents that are called after markup."""
    topics = ['"><img/src=x/onerror=alert(1)>', "</script><script>alert(2)</script>", "{{7*7}}"]
    for number, name in enumerate(("a<img src=x onerror=alert(3)>.run", "b'\"&{{1}}.run")):
        lines = [
            f"{topic} Q0 {doc} 1 {9 - (rank + number) % 6} <script>alert(4)</script>\n"
            for topic in topics
            for rank, doc in enumerate(HOSTILE)
        ]
        (folder / name).write_text("".join(lines), encoding="utf-8")
    judged = [f"{topic} 0 {doc} {rank % 3}\n" for topic in topics for rank, doc in enumerate(HOSTILE[:-1])]
    (folder / "q.txt").write_text("".join(judged), encoding="utf-8")
    return sorted(path.name for path in folder.glob("*.run"))
