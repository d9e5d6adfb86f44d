"""Writes expect.json beside the folder of a sealed run: what pyarrow reads in it.

    python3 expect.py v1

Only for a new folder: an expectation is never made again.
"""

import json
import math
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[1])
tables = {}
for path in sorted((folder / "sealed").glob("*.parquet")):
    table = pq.read_table(path)
    times = table["timestamp"].cast(pa.int64()).to_pylist()
    columns = {}
    for name in table.column_names[2:]:
        values = table[name].to_pylist()
        if pa.types.is_string(table[name].type):
            columns[name] = {"words": {word: values.count(word) for word in sorted(set(values))}}
        else:
            known = [value for value in values if value is not None]
            columns[name] = {"sum": math.fsum(known), "unknown": len(values) - len(known)}
    tables[path.stem] = {
        "rows": table.num_rows,
        "first": min(times),
        "last": max(times),
        "seconds": math.fsum(table["interval"].to_pylist()),
        "columns": columns,
    }
text = json.dumps({"tables": tables}, indent=1, ensure_ascii=False)
(folder / "expect.json").write_text(text + "\n")
