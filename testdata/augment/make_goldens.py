"""Writes what Pillow makes of the steps of package augment.

    python make_goldens.py                      writes manifest.jsonl and goldens.bin in this folder
    python make_goldens.py --random 2000 DIR    writes as many random cases to DIR
    python make_goldens.py --torchvision --random 2000 DIR    has torchvision make them

It needs pillow==13.0.0 and numpy. Where torchvision works on Pillow pictures by
calling Pillow, so does this; where it computes itself (the matrix of affine, the
table of gamma, the turn of hue, the kernel of gaussian_blur) its formula is
written out here.

Each line of the manifest is a case: the step, the size of the source (cut from
the top left of source.npy, repeated where that is smaller), and where in
goldens.bin the result lies.
"""

import argparse
import json
import math
import os

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
RESIZE = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS}
TRANSFORM = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


def color(im, rgb):
    """A colour as the picture has it."""
    return tuple(rgb) if im.mode == "RGB" else Image.new("RGB", (1, 1), tuple(rgb)).convert("L").getpixel((0, 0))


def crop(im, s):
    out = Image.new(im.mode, (s["w"], s["h"]), color(im, s.get("fill", (0, 0, 0))))
    out.paste(im, (-s["x"], -s["y"]))
    return out


def resized_crop(im, s):
    box = im.crop((s["x"], s["y"], s["x"] + s["w"], s["y"] + s["h"]))
    return box.resize((s["width"], s["height"]), RESIZE[s["filter"]])


def rotate(im, s):
    fill = color(im, s.get("fill", (0, 0, 0)))
    return im.rotate(s["angle"], TRANSFORM[s["filter"]], s.get("expand", False), fillcolor=fill)


def affine(im, s):
    turn, shear_x, shear_y = (math.radians(v) for v in (s["angle"], *s["shear"]))
    cx, cy = (0, 0) if s.get("corner") else (im.width * 0.5, im.height * 0.5)
    tx, ty = s["translate"]
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    m = [v / s["scale"] for v in (d, -b, 0.0, -c, a, 0.0)]
    m[2] += m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] += m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    fill = color(im, s.get("fill", (0, 0, 0)))
    return im.transform(im.size, Image.AFFINE, m, TRANSFORM[s["filter"]], fillcolor=fill)


def perspective_coefficients(s, w, h):
    """What Image.transform wants, in the operations of augment/step_perspective.go, so that the last bits are the same."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = [[float(v) for v in p] for p in s["corners"]]
    dx1, dy1, dx2, dy2, sx, sy = x1 - x2, y1 - y2, x3 - x2, y3 - y2, x0 - x1 + x2 - x3, y0 - y1 + y2 - y3
    det = dx1 * dy2 - dx2 * dy1
    g, i = (sx * dy2 - dx2 * sy) / det, (dx1 * sy - sx * dy1) / det
    a, b, c = x1 - x0 + g * x1, x3 - x0 + i * x3, x0
    d, e, f = y1 - y0 + g * y1, y3 - y0 + i * y3, y0
    z = a * e - b * d
    x, y = [e - f * i, c * i - b, b * f - c * e], [f * g - d, a - c * g, c * d - a * f]
    return [w * v / z for v in x] + [h * v / z for v in y] + [(d * i - e * g) / z, (b * g - a * i) / z]


def perspective(im, s):
    fill = color(im, s.get("fill", (0, 0, 0)))
    return im.transform(im.size, Image.PERSPECTIVE, perspective_coefficients(s, *im.size), TRANSFORM[s["filter"]], fillcolor=fill)


def hue(im, s):
    if im.mode == "L":
        return im
    h, saturation, value = im.convert("HSV").split()
    turned = np.array(h) + np.int32(s["factor"] * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")


def gamma(im, s):
    table = [int((255 + 1 - 1e-3) * s["gain"] * pow(v / 255.0, s["gamma"])) for v in range(256)]
    return im.point(table * len(im.getbands()))


def grayscale(im, s):
    return im.convert("L").convert(im.mode)


def gaussian_blur(im, s):
    def kernel(size, sigma):
        limit = (size - 1) / (2 * math.sqrt(2))
        k = np.exp(-((np.linspace(-limit, limit, size) / sigma) ** 2))
        return k / k.sum()

    a = np.asarray(im, np.float64)
    for axis, (size, sigma) in enumerate(zip(s["kernel"][::-1], s["sigma"][::-1])):
        pad = [(0, 0)] * a.ndim
        pad[axis] = (size // 2, size // 2)
        padded = np.pad(a, pad, mode="reflect")
        n = a.shape[axis]
        a = sum(w * padded.take(range(i, i + n), axis) for i, w in enumerate(kernel(size, sigma)))
    return Image.fromarray(np.round(a).astype(np.uint8))


def erase(im, s):
    out = im.copy()
    out.paste(color(im, s.get("value", (0, 0, 0))), (s["x"], s["y"], s["x"] + s["w"], s["y"] + s["h"]))
    return out


def enhance(kind):
    return lambda im, s: kind(im).enhance(s["factor"])


OPS = {
    "crop": crop,
    "resized_crop": resized_crop,
    "resize": lambda im, s: im.resize((s["width"], s["height"]), RESIZE[s["filter"]]),
    "hflip": lambda im, s: ImageOps.mirror(im),
    "vflip": lambda im, s: ImageOps.flip(im),
    "rotate": rotate,
    "affine": affine,
    "perspective": perspective,
    "brightness": enhance(ImageEnhance.Brightness),
    "contrast": enhance(ImageEnhance.Contrast),
    "saturation": enhance(ImageEnhance.Color),
    "hue": hue,
    "gamma": gamma,
    "grayscale": grayscale,
    "invert": lambda im, s: ImageOps.invert(im),
    "posterize": lambda im, s: ImageOps.posterize(im, s["bits"]),
    "solarize": lambda im, s: ImageOps.solarize(im, s["threshold"]),
    "equalize": lambda im, s: ImageOps.equalize(im),
    "autocontrast": lambda im, s: ImageOps.autocontrast(im),
    "sharpness": enhance(ImageEnhance.Sharpness),
    "gaussian_blur": gaussian_blur,
    "erase": erase,
}

# Without parameters, or with one of each kind that matters.
SIMPLE = [{"op": op} for op in ("hflip", "vflip", "grayscale", "invert", "equalize", "autocontrast")]
CASES = SIMPLE + [
    {"op": "crop", "x": 3, "y": 5, "w": 20, "h": 11},
    {"op": "crop", "x": -4, "y": -2, "w": 50, "h": 13, "fill": [9, 200, 77]},
    {"op": "crop", "x": 30, "y": 20, "w": 12, "h": 15, "fill": [255, 255, 255]},
    {"op": "crop", "x": 100, "y": 0, "w": 3, "h": 2, "fill": [1, 2, 3]},
    {"op": "resized_crop", "x": 4, "y": 3, "w": 25, "h": 20, "width": 16, "height": 16, "filter": "bilinear", "antialias": True},
    {"op": "resized_crop", "x": 11, "y": 0, "w": 7, "h": 29, "width": 15, "height": 9, "filter": "bicubic", "antialias": True},
    {"op": "resize", "width": 19, "height": 33, "filter": "bilinear", "antialias": True},
    {"op": "resize", "width": 8, "height": 8, "filter": "lanczos3", "antialias": True},
    {"op": "affine", "angle": 0, "translate": [5, -3], "scale": 1, "shear": [0, 0], "filter": "nearest", "fill": [7, 8, 9]},
    {"op": "affine", "angle": 0, "translate": [0, 0], "scale": 1.37, "shear": [0, 0], "filter": "nearest"},
    {"op": "affine", "angle": 0, "translate": [0, 0], "scale": 0.0005, "shear": [3, 0], "filter": "nearest", "fill": [90, 80, 70]},
    {"op": "affine", "angle": 0, "translate": [0, 0], "scale": 1, "shear": [math.degrees(math.atan(0.3)), 0], "corner": True, "filter": "nearest"},
    {"op": "affine", "angle": 0, "translate": [0, 0], "scale": 1, "shear": [0, math.degrees(math.atan(-0.3))], "corner": True, "filter": "bilinear"},
    {"op": "affine", "angle": 33, "translate": [-2, 4], "scale": 0.8, "shear": [10, -20], "filter": "nearest", "fill": [255, 0, 0]},
    {"op": "affine", "angle": -75.5, "translate": [1, 1], "scale": 1.9, "shear": [-15, 4], "filter": "bilinear"},
    {"op": "affine", "angle": 181, "translate": [0, 2], "scale": 1.1, "shear": [2, 2], "filter": "bicubic", "fill": [0, 0, 255]},
    {"op": "perspective", "corners": [[3, 2], [35, 0], [37, 27], [1, 29]], "filter": "nearest", "fill": [7, 8, 9]},
    {"op": "perspective", "corners": [[9, 7], [29, 3], [21, 20], [4, 28]], "filter": "bilinear"},
    {"op": "perspective", "corners": [[0, 0], [37, 5], [30, 29], [6, 14]], "filter": "bicubic", "fill": [255, 0, 0]},
    {"op": "perspective", "corners": [[16, 14], [20, 14], [37, 29], [0, 29]], "filter": "nearest", "fill": [1, 2, 3]},
    {"op": "perspective", "corners": [[50, -9], [-12, 3], [-3, 40], [41, 33]], "filter": "bilinear"},
    {"op": "gamma", "gamma": 0.45, "gain": 1},
    {"op": "gamma", "gamma": 2.2, "gain": 1.3},
    {"op": "gamma", "gamma": 0, "gain": 0.5},
    {"op": "gaussian_blur", "kernel": [5, 9], "sigma": [0.8, 2.5]},
    {"op": "gaussian_blur", "kernel": [23, 23], "sigma": [2, 2]},
    {"op": "gaussian_blur", "kernel": [1, 3], "sigma": [0.1, 10]},
    {"op": "erase", "x": 4, "y": 6, "w": 10, "h": 8, "value": [124, 116, 104]},
    {"op": "erase", "x": 30, "y": -5, "w": 50, "h": 11},
]
for angle, expand, filter in (
    (30, False, "nearest"), (-12.5, False, "bilinear"), (45, False, "bicubic"), (90, False, "nearest"), (90, True, "nearest"),
    (180, False, "bilinear"), (270, True, "bicubic"), (-90, False, "bilinear"), (360, False, "nearest"), (17, True, "nearest"),
    (200.25, True, "bilinear"), (-45, True, "bicubic"), (0.001, False, "bilinear"),
):
    CASES.append({"op": "rotate", "angle": angle, "expand": expand, "filter": filter, "fill": [10, 250, 130]})
for factor in (0, 0.3, 0.5, 1, 1.4, 7):
    CASES += [{"op": op, "factor": factor} for op in ("brightness", "contrast", "saturation", "sharpness")]
CASES += [{"op": "hue", "factor": f} for f in (-0.5, -0.1, 0, 0.05, 0.25, 0.5)]
CASES += [{"op": "posterize", "bits": b} for b in (1, 4, 7, 8)]
CASES += [{"op": "solarize", "threshold": t} for t in (0, 28.5, 128, 255, 256)]

# Height and width of the sources of all cases that any size will do for.
SMALL = [(1, 1), (1, 9), (8, 1), (2, 2), (3, 3), (2, 5)]


def convex(p):
    return all((b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0]) for a, b, c in zip(p, p[1:] + p[:1], p[2:] + p[:2]))


def random_step(r, h, w):
    """A step for a picture of that size, with parameters of any value."""
    op = str(r.choice(list(OPS)))
    s = {"op": op}
    rgb = [int(v) for v in r.integers(0, 256, 3)]
    box = {"x": int(r.integers(-9, w + 5)), "y": int(r.integers(-9, h + 5)), "w": int(r.integers(1, 2 * w + 2)), "h": int(r.integers(1, 2 * h + 2))}
    size = {"width": int(r.integers(1, 60)), "height": int(r.integers(1, 60)), "filter": str(r.choice(list(RESIZE))), "antialias": True}
    if op == "crop":
        s |= box | {"fill": rgb}
    elif op == "resized_crop":
        x, y = int(r.integers(0, w)), int(r.integers(0, h))
        s |= {"x": x, "y": y, "w": int(r.integers(1, w - x + 1)), "h": int(r.integers(1, h - y + 1))} | size
    elif op == "resize":
        s |= size
    elif op == "rotate":
        angle = r.choice([r.uniform(-400, 400), r.integers(-30, 30) * 15])
        s |= {"angle": float(angle), "expand": bool(r.random() < 0.5), "filter": str(r.choice(list(TRANSFORM))), "fill": rgb}
    elif op == "affine":
        s |= {"angle": float(r.choice([0, r.uniform(-200, 200)])), "translate": [int(v) for v in r.integers(-10, 10, 2)]}
        s |= {"scale": float(r.choice([1, r.uniform(0.2, 3)])), "shear": [float(v) for v in r.uniform(-40, 40, 2) * r.integers(0, 2, 2)]}
        s |= {"corner": bool(r.random() < 0.3), "filter": str(r.choice(list(TRANSFORM))), "fill": rgb}
    elif op == "perspective":
        near = lambda at, side: int(at + r.integers(-3, 1 + side // 2) * (1 if at == 0 else -1))
        s["corners"] = [[near(x, w), near(y, h)] for x, y in ((0, 0), (w, 0), (w, h), (0, h))]
        if not convex(s["corners"]):
            s["corners"] = [[0, 0], [w, 0], [w, h], [0, h]]
        s |= {"filter": str(r.choice(list(TRANSFORM))), "fill": rgb}
    elif op in ("brightness", "contrast", "saturation", "sharpness"):
        s["factor"] = float(r.choice([r.uniform(0, 2), r.integers(0, 20) / 10, r.uniform(0, 50)]))
    elif op == "hue":
        s["factor"] = float(r.uniform(-0.5, 0.5))
    elif op == "gamma":
        s |= {"gamma": float(r.uniform(0, 5)), "gain": float(r.uniform(0, 3))}
    elif op == "posterize":
        s["bits"] = int(r.integers(1, 9))
    elif op == "solarize":
        s["threshold"] = float(r.uniform(0, 256))
    elif op == "gaussian_blur":
        most = [(w - 1) // 2 if w > 1 else 0, (h - 1) // 2 if h > 1 else 0]
        s |= {"kernel": [2 * int(r.integers(0, min(n, 15) + 1)) + 1 for n in most], "sigma": [float(v) for v in r.uniform(0.1, 5, 2)]}
    elif op == "erase":
        s |= box | {"value": rgb}
    return s


class Writer:
    def __init__(self, folder):
        self.source = np.load(os.path.join(HERE, "source.npy"))
        self.manifest = open(os.path.join(folder, "manifest.jsonl"), "w")
        self.bytes = open(os.path.join(folder, "goldens.bin"), "wb")

    def write(self, step, h, w, channels):
        reps = (-(-h // self.source.shape[0]), -(-w // self.source.shape[1]), 1)
        part = np.tile(self.source, reps)[:h, :w]
        im = Image.fromarray(np.ascontiguousarray(part if channels == 3 else part[:, :, 1]))
        got = np.asarray(OPS[step["op"]](im, step))
        case = {"step": step, "from": [h, w, channels], "to": list(got.shape[:2]), "at": self.bytes.tell()}
        self.manifest.write(json.dumps(case) + "\n")
        self.bytes.write(got.tobytes())


def make_source():
    """Smooth parts, flat parts, noise, and all of the levels."""
    h, w = 29, 37
    y, x = np.mgrid[:h, :w]
    im = np.stack([x * 255 // (w - 1), y * 255 // (h - 1), (x * 7 + y * 11) % 256], -1)
    r = np.random.RandomState(7)
    im[:, 14:24] = r.randint(0, 256, (h, 10, 3))
    im[8:20, 26:33] = (200, 30, 90)
    im[22:27, 2:12] = r.randint(100, 140, (5, 10, 1))
    np.save(os.path.join(HERE, "source.npy"), im.astype(np.uint8))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--random", type=int, default=0)
    p.add_argument("--torchvision", action="store_true")
    p.add_argument("folder", nargs="?", default=HERE)
    a = p.parse_args()
    if a.torchvision:
        import torchvision_steps

        OPS.clear()
        OPS.update(torchvision_steps.OPS)
        del RESIZE["lanczos3"]
    if a.random == 0:
        make_source()
        w = Writer(HERE)
        for s in CASES:
            for channels in (3, 1):
                w.write(s, 29, 37, channels)
        for h, wd in SMALL:
            for s in CASES:
                if s["op"] in ("crop", "erase", "resized_crop", "resize"):
                    continue  # plain enough, or cut by the size
                if s["op"] == "gaussian_blur" and any(k // 2 >= n for k, n in zip(s["kernel"], (wd, h))):
                    continue  # numpy mirrors differently here
                for channels in (3, 1):
                    w.write(s, h, wd, channels)
        return
    os.makedirs(a.folder, exist_ok=True)
    w = Writer(a.folder)
    r = np.random.default_rng(a.random)
    for _ in range(a.random):
        h, wd = (int(v) for v in r.integers(1, 60, 2))
        w.write(random_step(r, h, wd), h, wd, int(r.choice([1, 3])))


if __name__ == "__main__":
    main()
