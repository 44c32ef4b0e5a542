"""Resizes parts of resize_noise_in.npy with Pillow and writes what comes out.

Run it in this folder, with pillow==13.0.0 and numpy installed: it writes
pillow_*.npy, and manifest.json with those and with the TensorFlow goldens that
lie here.
"""

import glob
import json
import re

import numpy as np
from PIL import Image

FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS}

# Height and width of the part of the input, and of what it becomes.
SIZES = [
    ((61, 83), (32, 32)),
    ((61, 83), (61, 20)),
    ((61, 83), (7, 83)),
    ((60, 82), (30, 41)),
    ((61, 83), (1, 1)),
    ((61, 1), (17, 3)),
    ((1, 83), (2, 29)),
    ((1, 1), (5, 4)),
    ((9, 11), (31, 40)),
    ((9, 40), (23, 13)),
    ((61, 40), (13, 27)),  # Pillow 13 reduces the height first here
    ((61, 40), (35, 27)),  # and here, by one pixel, not
    ((30, 20), (9, 33)),
]

noise = np.load("resize_noise_in.npy")
cases = []
for name, f in FILTERS.items():
    for (h, w), (oh, ow) in SIZES:
        for channels in (3, 1):
            part = noise[:h, :w] if channels == 3 else noise[:h, :w, 1]
            got = np.asarray(Image.fromarray(np.ascontiguousarray(part)).resize((ow, oh), f))
            file = f"pillow_{name}_{h}x{w}x{channels}_{oh}x{ow}.npy"
            np.save(file, got.reshape(oh, ow, channels))
            cases.append({"judge": "pillow", "from": [h, w, channels], "method": name, "antialias": True, "file": file})

for file in sorted(glob.glob("resize_noise_*x*.npy")):
    method, aa = re.fullmatch(r"resize_noise_([a-z0-9]+?)(_aa)?_\d+x\d+\.npy", file).groups()
    cases.append({"judge": "tensorflow", "from": list(noise.shape), "method": method, "antialias": bool(aa), "file": file})

with open("manifest.json", "w") as f:
    f.write("[\n" + ",\n".join(" " + json.dumps(c) for c in cases) + "\n]\n")
