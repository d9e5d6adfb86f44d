"""Prints what pyarrow finds of the files of a run: schema, metadata, times.

    python3 describe.py RUN
"""

import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

tables = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    file = pq.ParquetFile(path)
    table = file.read()
    about = json.loads(file.metadata.metadata[b"sonde"])
    times = table["timestamp"].cast(pa.int64())
    dimensions = [n for n in table.column_names if about["columns"][n]["kind"] == "dimension"]
    instances = table.group_by(["timestamp", *dimensions]).aggregate([]).num_rows
    # Events have no length.
    length = [name for name in ["interval"] if name in table.column_names]
    lengths = table.group_by(["timestamp", *length]).aggregate([]).num_rows
    tables[path.stem] = {
        "rows": table.num_rows,
        "columns": {field.name: str(field.type) for field in table.schema},
        "nullable": [field.name for field in table.schema if field.nullable],
        "about": about,
        "instances": instances,
        "lengths_and_times": [lengths, len(pc.unique(times))],
        "first": pc.min(times).as_py(),
        "last": pc.max(times).as_py(),
        "sorted": times.to_pylist() == sorted(times.to_pylist()),
        "least_interval": pc.min(table["interval"]).as_py() if length else None,
        "seconds": pc.sum(table["interval"]).as_py() if length else None,
        "compression": sorted(
            {file.metadata.row_group(0).column(i).compression for i in range(table.num_columns)}
        ),
    }
print(json.dumps(tables))
