"""Reads a packed clip number by number, as ``viewer/packing.py`` describes it."""

import base64
import json
import re
import struct
import zlib


def clip_of(page):
    """Return the header and the streams of the clip in a page."""
    (text,) = re.findall(r'<script id="clip" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    return unpacked(base64.b64decode(text, validate=True))


def unpacked(packed):
    """Return the header, and by name the rows of each stream, lists of whole numbers."""
    content = zlib.decompress(packed)
    (size,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + size])
    streams, end = {}, 4 + size
    for name, width, rows, count in header["streams"]:
        length = width * rows * count
        planes, end = content[end : end + length], end + length
        streams[name] = [
            _row(planes, width, rows * count, row * count, count) for row in range(rows)
        ]
    assert end == len(content)
    return header, streams


def _row(planes, width, size, first, count):
    """Return one row: sums of differences that wrap."""
    found, last, span = [], 0, 1 << (8 * width)
    for k in range(first, first + count):
        folded = sum(planes[plane * size + k] << (8 * plane) for plane in range(width))
        change = folded // 2 if folded % 2 == 0 else -(folded + 1) // 2
        last = (last + change + span // 2) % span - span // 2
        found.append(last)
    return found
