"""Compares the PNG frames of two folders, a folder a scene: see the script `glmark2` next to this."""

import argparse
import pathlib
import struct
import sys
import zlib

# A frame passes if at most this fraction of its pixels differs by more than OVER (of 255).
SHARE, OVER = 0.01, 2


def read_png(path):
    """Width, height and rows of bytes (RGB, 8 bits) of a PNG as the card writes them."""
    data, at, chunks = path.read_bytes(), 8, []
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 2), f"{path}: not RGB of 8 bits"
        elif kind == b"IDAT":
            chunks.append(body)
        at += length + 12
    raw, size, rows = zlib.decompress(b"".join(chunks)), width * 3, []
    before = bytearray(size)
    for y in range(height):
        kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1 : (y + 1) * (size + 1)])
        for x in range(size):
            a, b, c = row[x - 3] if x >= 3 else 0, before[x], before[x - 3] if x >= 3 else 0
            if kind == 1:
                row[x] = (row[x] + a) & 255
            elif kind == 2:
                row[x] = (row[x] + b) & 255
            elif kind == 3:
                row[x] = (row[x] + (a + b) // 2) & 255
            elif kind == 4:
                distances = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                row[x] = (row[x] + (a, b, c)[distances.index(min(distances))]) & 255
        rows.append(row)
        before = row
    return width, height, rows


def difference(one, two):
    """Largest difference of two pictures, and how many pixels differ by more than OVER."""
    (width, height, a), (width2, height2, b) = one, two
    assert (width, height) == (width2, height2), "pictures of different sizes"
    largest = over = 0
    for p, q in zip(a, b):
        for x in range(0, 3 * width, 3):
            most = max(abs(p[x] - q[x]), abs(p[x + 1] - q[x + 1]), abs(p[x + 2] - q[x + 2]))
            largest, over = max(largest, most), over + (most > OVER)
    return largest, over, width * height


def tolerances(path):
    """Scene to share of pixels, from lines `scene share reason`."""
    lines = (line.split("#")[0].split(None, 2) for line in path.read_text().splitlines())
    return {line[0]: (float(line[1]), line[2]) for line in lines if line}


def main():
    parser = argparse.ArgumentParser(prog="tools/card/glmark2")
    parser.add_argument("right", type=pathlib.Path)
    parser.add_argument("given", type=pathlib.Path)
    parser.add_argument("--tolerance", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    allowed, failed = tolerances(arguments.tolerance), False
    print(f"{'scene':14} {'frames':>6} {'largest':>8} {'over ' + str(OVER):>8} {'share':>8}")
    for folder in sorted(path for path in arguments.given.iterdir() if path.is_dir()):
        right = sorted((arguments.right / folder.name).glob("*.png"))
        given = sorted(folder.glob("*.png"))
        names = [path.name for path in right]
        # The first frame shows the screen before the scene draws.
        if len(given) < 2 or [path.name for path in given] != names:
            print(f"{folder.name:14} {len(given)} frames, llvmpipe {len(right)}")
            failed = True
            continue
        results = [difference(read_png(a), read_png(b)) for a, b in zip(right, given)]
        largest, over = max(r[0] for r in results), max(r[1] for r in results)
        share = max(r[1] / r[2] for r in results)
        limit, reason = allowed.get(folder.name, (SHARE, ""))
        failed |= share > limit
        verdict = "differs" if share > limit else reason and f"({reason})"
        print(f"{folder.name:14} {len(given):6} {largest:8} {over:8} {share:8.2%} {verdict}")
    return failed


sys.exit(main())
