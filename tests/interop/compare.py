"""Compares what DuckDB, pandas (pyarrow) and polars read in a run with what `sonde get` said.

    python3 compare.py RUN QUESTIONS

QUESTIONS is a JSON list: table, column, kind, sparse, times (the table that tells when the
source was read), by, where (word column to value) and the groups of the answer.
"""

import json
import math
import pathlib
import sys

import duckdb
import pandas as pd
import polars as pl

run = pathlib.Path(sys.argv[1])
questions = json.loads(pathlib.Path(sys.argv[2]).read_text())
frames = {path.stem: pd.read_parquet(path, engine="pyarrow") for path in run.glob("*.parquet")}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def by_duckdb(q):
    keys = "".join(quoted(name) + ", " for name in q["by"])
    tests = "".join(f" and {quoted(name)} = ?" for name in q["where"])
    column = quoted(q["column"])
    text = (
        f"select {keys} sum({column}) from read_parquet(?)"
        f" where {column} is not null{tests} group by all"
    )
    path = str(run / (q["table"] + ".parquet"))
    found = duckdb.execute(text, [path, *q["where"].values()]).fetchall()
    return {row[:-1]: float(row[-1]) for row in found if row[-1] is not None}


def by_polars(q):
    frame = pl.read_parquet(run / (q["table"] + ".parquet")).drop_nulls(q["column"])
    for name, value in q["where"].items():
        frame = frame.filter(pl.col(name) == value)
    if not q["by"]:
        return {(): float(frame[q["column"]].sum())} if len(frame) else {}
    found = frame.group_by(q["by"]).agg(pl.col(q["column"]).sum())
    return {row[:-1]: float(row[-1]) for row in found.rows()}


def kept(q):
    frame = frames[q["table"]]
    for name, value in q["where"].items():
        frame = frame[frame[name] == value]
    return frame.dropna(subset=[q["column"]])


def split(q, frame):
    if not q["by"]:
        return {(): frame} if len(frame) else {}
    return {key: part for key, part in frame.groupby(q["by"], observed=True)}


def by_pandas(q):
    return {key: float(part[q["column"]].sum()) for key, part in split(q, kept(q)).items()}


def intervals(frame):
    """Length of each interval by its end in nanoseconds."""
    first = frame.drop_duplicates("timestamp")
    ends = first["timestamp"].astype("int64")
    return dict(zip(ends.tolist(), first["interval"].tolist()))


def observed(q):
    """The intervals in which a sparse table was sampled, with rows or without."""
    own = intervals(frames[q["table"]])
    other = intervals(frames[q["times"]])
    found = dict(own)
    for end, length in other.items():
        middle = end - length * 0.5e9
        if not any(o - own[o] * 1e9 < middle and end < o for o in own):
            found.setdefault(end, length)
    return found


def means(q):
    found = {}
    for key, part in split(q, kept(q)).items():
        lengths = intervals(part)
        if q["kind"] == "sum":
            seconds = sum((observed(q) if q["sparse"] else lengths).values())
            found[key] = float(part[q["column"]].sum()) / seconds
        else:
            amounts = part.groupby("timestamp")[q["column"]].sum()
            ends = amounts.index.astype("int64").tolist()
            weighted = sum(a * lengths[e] for a, e in zip(amounts.tolist(), ends))
            found[key] = weighted / sum(lengths.values())
    return found


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def compare(q, what, ours, theirs):
    same_keys = ours.keys() == theirs.keys()
    if not same_keys or not all(close(ours[key], theirs[key]) for key in ours):
        return [f"{q['expr']}: {what}: sonde {ours}, {theirs}"]
    return []


problems = []
compared = 0
for q in questions:
    groups = {tuple(g["key"].values()): g for g in q["groups"]}
    if q["kind"] == "sum":
        totals = {key: g["total"] for key, g in groups.items()}
        for name, engine in (("DuckDB", by_duckdb), ("pandas", by_pandas), ("polars", by_polars)):
            problems += compare(q, f"total by {name}", totals, engine(q))
    problems += compare(q, "mean", {key: g["mean"] for key, g in groups.items()}, means(q))
    compared += len(groups)
for problem in problems[:20]:
    print(problem, file=sys.stderr)
print(json.dumps({"questions": len(questions), "groups": compared, "problems": len(problems)}))
sys.exit(bool(problems))
