"""Adds up a table of events with DuckDB, pandas and polars, exactly.

    python3 events.py RUN

Prints by process: events, bytes, nanoseconds of latency, and events slower than a millisecond.
"""

import decimal
import json
import pathlib
import sys

import duckdb
import pandas as pd
import polars as pl

path = str(pathlib.Path(sys.argv[1]) / "disk_event.parquet")
BILLION = decimal.Decimal(10**9)


def whole(value):
    assert value == int(value), value
    return int(value)


def answer(rows):
    return {r[0]: [whole(r[1]), whole(r[2]), whole(decimal.Decimal(r[3]) * BILLION), whole(r[4])] for r in rows}


def by_duckdb():
    text = """
        select process, sum(weight), sum(size * weight),
               sum((queue_time + service_time) * weight),
               sum(case when queue_time + service_time > 0.001 then weight else 0 end)
        from read_parquet(?) group by process
    """
    return answer(duckdb.execute(text, [path]).fetchall())


def by_polars():
    latency = pl.col("queue_time") + pl.col("service_time")
    nanos = (latency * 1_000_000_000).cast(pl.Int64)
    found = (
        pl.scan_parquet(path)
        .group_by("process")
        .agg(
            pl.col("weight").sum(),
            (pl.col("size") * pl.col("weight")).sum(),
            (nanos * pl.col("weight")).sum().alias("nanos"),
            pl.col("weight").filter(nanos > 1_000_000).sum().alias("slow"),
        )
        .collect()
    )
    return {r[0]: [whole(v) for v in r[1:]] for r in found.rows()}


def by_pandas():
    frame = pd.read_parquet(path, engine="pyarrow")
    assert str(frame["timestamp"].dtype) == "datetime64[ns, UTC]", frame.dtypes
    frame["latency"] = frame["queue_time"] + frame["service_time"]
    rows = []
    for process, part in frame.groupby("process"):
        slow = part[part["latency"] > decimal.Decimal("0.001")]
        time = sum((part["latency"] * part["weight"]), decimal.Decimal(0))
        size = (part["size"] * part["weight"]).sum()
        rows.append([process, part["weight"].sum(), size, time, slow["weight"].sum()])
    return answer(rows)


found = by_duckdb()
assert found == by_polars(), (found, by_polars())
assert found == by_pandas(), (found, by_pandas())
print(json.dumps(found))
