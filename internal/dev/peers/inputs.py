"""The arguments of peers.py, and the inputs that it makes of them: directories of images, annotations."""
import argparse, glob, io, json, math, os, random, shutil, sys, tempfile

ARGS = argparse.ArgumentParser()
ARGS.add_argument("--large", default="")
ARGS.add_argument("tfrec", type=os.path.abspath)
ARGS.add_argument("photos", type=os.path.abspath)
ARGS.add_argument("work", nargs="*")
ARGS = ARGS.parse_args()
PHOTOS = ARGS.photos
TMP = tempfile.mkdtemp(prefix="tfrec-peers-")


def jpegs(directory):
    """The JPEG files in a directory and below it, sorted: those whose names tfrec takes for JPEG's."""
    found = [os.path.join(d, name) for d, _, names in os.walk(directory) for name in names if not name.startswith(".")]
    return sorted(path for path in found if path.lower().endswith((".jpg", ".jpeg", ".jpe", ".jfif")))


def photos():
    """The files of PHOTOS. Without any there is nothing to time, and the run ends."""
    return jpegs(PHOTOS) or sys.exit(f"peers.py: no JPEG files in {PHOTOS}: give a directory of photographs (make bench-peers PHOTOS=DIR)")


def many(n):
    """A directory of n photographs in class directories: those of PHOTOS, repeated."""
    src, files = os.path.join(TMP, f"many{n}"), photos()
    for i in range(n):
        d = f"{src}/c{i % 7}"
        os.makedirs(d, exist_ok=True)
        shutil.copy(files[i % len(files)], f"{d}/{i}.jpg")
    return src


def large(n):
    """A directory of n photographs of 4 to 15 megapixels: real ones of at least that size, cut to shape and reduced; without any, PHOTOS' own enlarged."""
    from PIL import Image, ImageOps
    src, made, sizes = os.path.join(TMP, "large"), [], [(2560, 1600), (2880, 1800), (3840, 2160), (5120, 2880)]

    def holds(path, size):
        with Image.open(path) as im:
            return im.width >= size[0] and im.height >= size[1]

    real = [path for path in jpegs(ARGS.large) if holds(path, sizes[0])] if ARGS.large else []
    print(f"large: {len(real)} real photographs, reduced" if real else "large: no real photographs (--large DIR): small ones enlarged, which decode faster", file=sys.stderr)
    for path in real or photos()[:3]:
        im = Image.open(path).convert("RGB")
        for size in sizes:
            if not real or holds(path, size):
                buf = io.BytesIO()
                ImageOps.fit(im, size, Image.LANCZOS).save(buf, "JPEG", quality=90)
                made.append(buf.getvalue())
    for i in range(n):
        os.makedirs(f"{src}/c{i % 7}", exist_ok=True)
        with open(f"{src}/c{i % 7}/{i}.jpg", "wb") as f:
            f.write(made[i % len(made)])
    return src


def pngs(n, kind):
    """A directory of n PNGs in class directories, made of photographs: 16 bits by OpenCV, interlaced ones as below, the others by Pillow at its defaults."""
    from PIL import Image
    src, files = os.path.join(TMP, f"png-{kind.replace(' ', '-')}"), photos()

    def encoded(path):
        im, out = Image.open(path).convert("RGB"), io.BytesIO()
        if kind in ("16 bits", "interlaced"):
            import cv2, numpy as np
            pixels = np.asarray(im)
            if kind == "interlaced":
                return interlaced(pixels)
            noise = np.random.default_rng(1).integers(0, 256, pixels.shape, np.uint16)  # the lower bytes, as a camera has them
            return cv2.imencode(".png", pixels.astype(np.uint16) * 256 + noise // 16)[1].tobytes()
        if kind == "RGBA":
            im.putalpha(Image.linear_gradient("L").resize(im.size))
        elif kind == "gray":
            im = im.convert("L")
        elif kind == "palette":
            im = im.quantize(256)
        im.save(out, "PNG", icc_profile=None)
        return out.getvalue()

    made = [encoded(path) for path in files[:n]]
    for i in range(n):
        d = f"{src}/c{i % 7}"
        os.makedirs(d, exist_ok=True)
        with open(f"{d}/{i}.png", "wb") as f:
            f.write(made[i % len(made)])
    return src


def interlaced(pixels):
    """An interlaced PNG of an array of RGB, each row with Paeth's filter, by the standard."""
    import struct, zlib
    import numpy as np
    height, width, _ = pixels.shape
    rows = []
    for x, y, dx, dy in (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2):
        part = pixels[y::dy, x::dx].astype(np.int16)
        if not part.size:
            continue
        a, b, c = np.zeros_like(part), np.zeros_like(part), np.zeros_like(part)
        a[:, 1:], b[1:], c[1:, 1:] = part[:, :-1], part[:-1], part[:-1, :-1]
        pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        rest = (part - np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c))).astype(np.uint8).reshape(part.shape[0], -1)
        rows.append(np.hstack([np.full((part.shape[0], 1), 4, np.uint8), rest]).tobytes())

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1)) + chunk(b"IDAT", zlib.compress(b"".join(rows), 6)) + chunk(b"IEND", b"")


def annotated(src, polygons):
    """Instances of COCO, 10 on each image of a directory: boxes and, if polygons, outlines of 24 points, of up to half the image."""
    from PIL import Image
    rnd, path = random.Random(1), os.path.join(TMP, "instances.json")
    d = {"images": [], "annotations": [], "categories": [{"id": i, "name": f"kind {i}"} for i in range(1, 8)]}
    for i, name in enumerate(sorted(glob.glob(src + "/*/*.jpg"))):
        with Image.open(name) as im:
            w, h = im.size
        d["images"].append({"id": i, "file_name": os.path.relpath(name, src), "width": w, "height": h})
        for _ in range(10):
            x, y, r = rnd.random() * w, rnd.random() * h, (.05 + .2 * rnd.random()) * min(w, h)
            turns = [(r * (.7 + .3 * rnd.random()), k * math.tau / 24) for k in range(24)]
            xs, ys = [min(max(x + s * math.cos(a), 0), w) for s, a in turns], [min(max(y + s * math.sin(a), 0), h) for s, a in turns]
            a = {"id": len(d["annotations"]) + 1, "image_id": i, "category_id": 1 + i % 7, "iscrowd": 0, "area": 1.5 * r * r}
            a["bbox"] = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
            if polygons:
                a["segmentation"] = [[round(v, 2) for xy in zip(xs, ys) for v in xy]]
            d["annotations"].append(a)
    with open(path, "w") as f:
        json.dump(d, f)
    return path
