"""Writes a folder as the archive that a kernel unpacks first (`newc`).

Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
"""

import os
import sys


def entry(out, name, mode, content=b""):
    head = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    out.write(b"070701" + b"".join(b"%08x" % n for n in head))
    written = 110 + len(name) + 1
    out.write(name + b"\0" + b"\0" * (-written % 4))
    out.write(content + b"\0" * (-len(content) % 4))


def main(root):
    out = sys.stdout.buffer
    for folder, folders, files in os.walk(root):
        for name in sorted(folders) + sorted(files):
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, root).encode()
            if os.path.isdir(path):
                entry(out, inside, 0o40755)
            else:
                with open(path, "rb") as file:
                    entry(out, inside, 0o100000 | os.stat(path).st_mode & 0o777, file.read())
    entry(out, b"TRAILER!!!", 0)


main(sys.argv[1])
