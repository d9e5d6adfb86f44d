"""Reads a mail with Python's own parser and prints it as JSON; its pictures are decoded.

    python3 mail.py FILE
"""

import email
import email.policy
import html.parser
import io
import json
import sys

from PIL import Image


class Page(html.parser.HTMLParser):
    """Elements, attributes and texts of a page; rows of its tables."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.sources, self.rows = set(), set(), [], []
        self.styles, self.cell = [], False

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, text in attributes:
            self.attributes.add(name)
            if name == "src":
                self.sources.append(text)
            if name == "style":
                self.styles.append(text)
        if tag == "tr":
            self.rows.append([])
        self.cell = tag in ("td", "th")
        if self.cell:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, text):
        if self.cell:
            self.rows[-1][-1] += text


with open(sys.argv[1], "rb") as file:
    raw = file.read()
mail = email.message_from_bytes(raw, policy=email.policy.default)
pictures = {}
for part in mail.walk():
    if part.get_content_type() == "image/png":
        picture = Image.open(io.BytesIO(part.get_content()))
        picture.load()
        pictures[part["Content-ID"].strip("<>")] = {
            "size": picture.size,
            "colours": len(picture.convert("RGB").getcolors(1 << 24)),
        }
page = Page()
text = mail.get_body(("html",)).get_content()
page.feed(text)
print(
    json.dumps(
        {
            "headers": dict(mail.items()),
            "structure": [part.get_content_type() for part in mail.walk()],
            "text": mail.get_body(("plain",)).get_content(),
            "html": text,
            "tags": sorted(page.tags),
            "attributes": sorted(page.attributes),
            "styles": page.styles,
            "sources": page.sources,
            "rows": page.rows,
            "pictures": pictures,
            "longest": max(len(line) for line in raw.split(b"\r\n")),
            "bare": raw.replace(b"\r\n", b"").count(b"\n"),
            "defects": [str(d) for part in mail.walk() for d in part.defects],
        }
    )
)
