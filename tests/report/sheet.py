"""Reads a spreadsheet and prints what is in it as JSON: cells by sheet, charts, pictures.

    python3 sheet.py FILE
"""

import datetime
import json
import sys

import openpyxl

book = openpyxl.load_workbook(sys.argv[1])


def value(cell):
    if isinstance(cell.value, datetime.datetime):
        return {"date": cell.value.replace(tzinfo=datetime.timezone.utc).timestamp()}
    if cell.data_type == "f":
        return {"formula": cell.value}
    return cell.value


def place(of):
    return (of.numRef or of.strRef).f


def chart(one):
    return {
        "kind": type(one).__name__,
        "series": [
            {
                "name": s.tx.strRef.f,
                "x": place(s.xVal or s.cat),
                "y": (s.yVal or s.val).numRef.f,
            }
            for s in one.series
        ],
        "time": one.x_axis.numFmt and one.x_axis.numFmt.formatCode,
    }


sheets = {}
for sheet in book:
    rows = [[value(cell) for cell in row] for row in sheet.iter_rows()]
    sheets[sheet.title] = {
        "rows": rows,
        "charts": [chart(c) for c in sheet._charts],
        "pictures": len(sheet._images),
    }
print(json.dumps({"title": book.properties.title, "sheets": sheets}))
