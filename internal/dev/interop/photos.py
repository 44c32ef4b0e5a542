"""Makes many photographs of a few: copies turned and cut in different ways.

    photos.py SRC OUT COUNT

SRC has a directory for each class. OUT gets as many classes, with COUNT images in all.
"""

import pathlib
import sys

from PIL import Image

src, out, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
paths = sorted(p for p in src.glob("*/*") if p.suffix.lower() in (".jpg", ".jpeg"))
if not paths:
    sys.exit(f"photos.py: no photographs in {src}")
for i in range(count):
    path, turn = paths[i % len(paths)], i // len(paths)
    to = out / path.parent.name / f"{path.stem}-{turn}.jpg"
    to.parent.mkdir(parents=True, exist_ok=True)
    if turn == 0:
        to.write_bytes(path.read_bytes())
        continue
    image = Image.open(path).convert("RGB")
    image = image.rotate(90 * turn, expand=True).crop((turn // 4, 0, image.width, image.height))
    image.save(to, quality=90)
