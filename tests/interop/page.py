"""Runs the fenced `sql` (DuckDB) and `python` blocks of a page, each on its own.

    python3 page.py PAGE

They read the run in the directory `run` below the working directory. A query must give a
row, a Python block must print something.
"""

import contextlib
import io
import pathlib
import re
import sys

import duckdb

page = pathlib.Path(sys.argv[1]).read_text()
ran = {"sql": 0, "python": 0}
for language, text in re.findall(r"^```(sql|python)\n(.*?)^```$", page, re.M | re.S):
    if language == "sql":
        database = duckdb.connect()
        database.execute("create table answer as " + text)
        rows = database.execute("select count(*) from answer").fetchone()[0]
        assert rows > 0, f"no rows:\n{text}"
    else:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, sys.argv[1], "exec"), {})
        assert printed.getvalue().strip(), f"prints nothing:\n{text}"
    ran[language] += 1
assert min(ran.values()) > 0, ran
print(ran["sql"] + ran["python"])
