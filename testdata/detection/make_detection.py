"""Draws the images of this directory and writes what is on them in every format.

    python make_detection.py            writes this directory; of odd/ only the images
    python make_detection.py DIR        writes to DIR

It needs pillow==13.0.0, numpy and pycocotools, which says what the pixels of polygons are. All
coordinates are multiples of 1/4 pixel, so that two decimals hold them. Those of polygons do not end
in .5, where a rounded share of the width (YOLO) may be another pixel.
"""

import json
import os
import shutil
import sys
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image
from pycocotools import mask as rle

# Names, ids of COCO and colours. Ids of the other formats are positions in NAMES, from 1, but for
# YOLO, whose list has another order.
CLASSES = {"bar": (3, (230, 40, 40)), "box": (17, (40, 200, 40)), "disc": (18, (50, 60, 240)), "dot": (90, (240, 230, 20)), "stern-ö": (41, (230, 30, 220))}
NAMES = sorted(CLASSES, key=lambda n: n.encode())
YOLO = ["box", "disc", "stern-ö", "dot", "bar"]
TURNS = {1: [], 3: [Image.ROTATE_180], 5: [Image.TRANSPOSE], 6: [Image.ROTATE_90], 8: [Image.ROTATE_270]}


def rectangle(cls, x0, y0, x1, y1, **more):
    return dict(cls=cls, outline="rectangle", points=[(x0, y0), (x1, y0), (x1, y1), (x0, y1)], **more)


def polygon(cls, *points, **more):
    return dict(cls=cls, outline="polygon", points=list(points), **more)


def ellipse(cls, cx, cy, rx, ry, **more):
    return dict(cls=cls, outline="ellipse", ellipse=(cx, cy, rx, ry), **more)


STAR = [(24, 2), (27.25, 12.25), (39, 12.25), (30, 19), (33.25, 30), (24, 23.25), (14.75, 30), (18, 19), (9, 12.25), (20.75, 12.25)]

# An image: name, width and height as shown, EXIF orientation, whether annotations that state a
# size are on the image as stored, and its objects; later ones are drawn over earlier ones.
IMAGES = [
    ("border.png", 50, 40, 1, False, [
        rectangle("box", 0, 0, 50, 40), rectangle("bar", 0, 10, 3, 30), rectangle("bar", 46, 5, 50, 40), rectangle("disc", 10, 0, 40, 4),
        rectangle("box", 40, 33, 56, 47, truncated=1), polygon("stern-ö", (-6, 20), (14, 12), (14, 32)), ]),
    ("crowd.png", 44, 36, 1, False, [
        ellipse("disc", 20.5, 18, 15.25, 12, crowd=1), ellipse("dot", 36, 8, 4, 4), rectangle("box", 3.25, 2.5, 17.75, 9.25), ]),
    ("dots.png", 33, 17, 1, False, [
        rectangle("dot", 0, 0, 1, 1), rectangle("dot", 32, 16, 33, 17), rectangle("dot", 0, 16, 1, 17), rectangle("dot", 15, 8, 16, 9),
        rectangle("bar", 2, 3, 31, 4), rectangle("bar", 5, 5, 6, 15), polygon("bar", (8, 6), (30, 12), (30, 13.25), (8, 7.25)), ]),
    ("empty.jpg", 40, 30, 1, False, []),
    ("gray.png", 21, 34, 1, False, [ellipse("disc", 10, 17, 6, 6), rectangle("box", 2, 28, 19, 33, view="Rear")]),
    ("overlap.jpg", 80, 60, 1, False, [
        rectangle("box", 5, 5, 45, 40, difficult=1, view="Left"), rectangle("box", 20, 15, 70, 55, truncated=1, view="Frontal"),
        ellipse("disc", 42, 30, 20, 20, difficult=1, truncated=1), polygon("stern-ö", *[(x + 30, y + 20) for x, y in STAR]), ]),
    ("plain.png", 64, 48, 1, False, [
        rectangle("box", 2, 30, 20, 44), ellipse("disc", 50, 12, 10, 10), polygon("stern-ö", *STAR),
        polygon("bar", (44, 30), (60, 26), (61.25, 31), (45.25, 36.75)), ]),
    ("turned/3.jpg", 40, 28, 3, False, [rectangle("box", 4, 3, 15, 20), ellipse("disc", 30, 9, 6, 6), polygon("stern-ö", (18, 26), (24.25, 14), (36, 25.75))]),
    ("turned/5.jpg", 30, 45, 5, True, [rectangle("box", 1, 2, 12, 30), ellipse("disc", 21, 20, 7, 7), rectangle("dot", 29, 44, 30, 45)]),
    ("turned/6.jpg", 28, 52, 6, False, [rectangle("bar", 20, 6, 26, 50), ellipse("disc", 9, 10, 8, 8), polygon("stern-ö", (2, 50), (9.25, 28), (17, 47))]),
    ("turned/8.png", 36, 22, 8, True, [rectangle("box", 3, 4, 20, 9, view="Right"), ellipse("disc", 28, 14, 7, 5.5, crowd=1), rectangle("bar", 0, 21, 36, 22)]),
]


def stored(orientation, array):
    """An array as shown, as it is stored."""
    im = Image.fromarray(array)
    for turn in TURNS[orientation]:
        im = im.transpose(turn)
    return np.asarray(im)


def mask_of(o, w, h):
    """The pixels of an object: centres in the ellipse, or what pycocotools says."""
    if o["outline"] == "ellipse":
        cx, cy, rx, ry = o["ellipse"]
        y, x = np.mgrid[0:h, 0:w] + 0.5
        return ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1
    return rle.decode(rle.merge(rle.frPyObjects([[float(v) for p in o["points"] for v in p]], h, w))).astype(bool)


def box_of(o):
    """The box of an object, which may stick out of its image."""
    if o["outline"] == "ellipse":
        cx, cy, rx, ry = o["ellipse"]
        return [cx - rx, cy - ry, cx + rx, cy + ry]
    xs, ys = zip(*o["points"])
    return [min(xs), min(ys), max(xs), max(ys)]


def turn_point(orientation, x, y, w, h):
    """A point of an image of w x h as shown, on the image as stored."""
    return {1: (x, y), 3: (w - x, h - y), 5: (y, x), 6: (y, w - x), 8: (h - y, x)}[orientation]


def in_frame(im, o):
    """Box, points and mask of an object where annotations that state a size have them."""
    box, points, mask = box_of(o), o.get("points"), o["mask"]
    if not im["stored"]:
        return box, points, mask
    turn = lambda x, y: turn_point(im["orientation"], x, y, im["width"], im["height"])
    (xa, ya), (xb, yb) = turn(*box[:2]), turn(*box[2:])
    box = [min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)]
    return box, points and [turn(*p) for p in points], stored(im["orientation"], mask.astype(np.uint8)).astype(bool)


def frame_size(im):
    return (im["height"], im["width"]) if im["stored"] else (im["width"], im["height"])


def paint(im, rng):
    """The pixels of an image as shown: shapes on quiet noise."""
    w, h = im["width"], im["height"]
    px = np.repeat(rng.integers(100, 130, (h, w, 1), dtype=np.uint8), 3, axis=2)
    for o in im["objects"]:
        px[o["mask"]] = CLASSES[o["cls"]][1]
    return px


def write_image(path, im, rng):
    picture = Image.fromarray(stored(im["orientation"], paint(im, rng)))
    if im["name"].startswith("gray"):
        picture = picture.convert("L")
    exif = Image.Exif()
    if im["orientation"] != 1:
        exif[0x0112] = im["orientation"]
    options = dict(exif=exif.tobytes()) if im["orientation"] != 1 else {}
    picture.save(path, **(dict(quality=85) if path.endswith(".jpg") else dict(optimize=True)), **options)


def save(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


def number(v):
    return "%g" % v


def coco(out, images):
    """RLE for ellipses: compressed, but for crowds. Polygons for the rest."""
    anns = []
    for k, im in enumerate(images):
        for o in im["objects"]:
            box, points, mask = in_frame(im, o)
            if o["outline"] != "ellipse":
                segmentation = [[v for p in points for v in p]]
            elif o.get("crowd"):
                flat, counts = mask.flatten(order="F"), []
                edges = np.flatnonzero(np.diff(np.concatenate([[0], flat.astype(int), [1 - int(flat[-1])]])))
                counts = np.diff(np.concatenate([[0], edges])).tolist()
                segmentation = dict(size=list(mask.shape), counts=counts)
            else:
                code = rle.encode(np.asfortranarray(mask.astype(np.uint8)))
                segmentation = dict(size=list(mask.shape), counts=code["counts"].decode())
            anns.append(dict(id=len(anns) + 1, image_id=10 * k + 7, category_id=CLASSES[o["cls"]][0], iscrowd=o.get("crowd", 0),
                             area=int(o["mask"].sum()), bbox=[box[0], box[1], box[2] - box[0], box[3] - box[1]], segmentation=segmentation))
    lists = dict(images=[dict(id=10 * k + 7, file_name=im["name"], width=frame_size(im)[0], height=frame_size(im)[1]) for k, im in enumerate(images)],
                 categories=[dict(id=CLASSES[n][0], name=n, supercategory="shape") for n in CLASSES], annotations=anns)
    save(out + "/coco.json", "{\n" + ",\n".join('"%s": [\n%s\n]' % (k, ",\n".join(json.dumps(v, ensure_ascii=False) for v in lists[k])) for k in lists) + "\n}\n")


def voc(out, im, base):
    w, h = frame_size(im)
    text = "<annotation>\n<filename>%s</filename>\n<size><width>%d</width><height>%d</height><depth>3</depth></size>\n" % (os.path.basename(im["name"]), w, h)
    for o in im["objects"]:
        box, _, _ = in_frame(im, o)
        text += "<object><name>%s</name><pose>%s</pose><truncated>%d</truncated><difficult>%d</difficult>\n" % (
            escape(o["cls"]), o.get("view", "Unspecified"), o.get("truncated", 0), o.get("difficult", 0))
        text += "<bndbox>" + "".join("<%s>%s</%s>" % (k, number(v), k) for k, v in zip(("xmin", "ymin", "xmax", "ymax"), box)) + "</bndbox></object>\n"
    save(f"{out}/voc/{base}.xml", text + "</annotation>\n")


def yolo(out, im, base):
    text = ""
    for o in im["objects"]:
        w, h = im["width"], im["height"]
        if o["outline"] == "polygon" and box_of(o)[0] >= 0:
            values = [v / s for p in o["points"] for v, s in zip(p, (w, h))]
        else:
            x0, y0, x1, y1 = box_of(o)
            values = [(x0 + x1) / 2 / w, (y0 + y1) / 2 / h, (x1 - x0) / w, (y1 - y0) / h]
        text += " ".join([str(YOLO.index(o["cls"]))] + ["%.12f" % v for v in values]) + "\n"
    save(f"{out}/yolo/labels/{base}.txt", text)


def kitti(out, im, base):
    text = ""
    for o in im["objects"]:
        text += " ".join([o["cls"], "%.2f" % (0.25 * o.get("truncated", 0)), "0", "-10"] + ["%.2f" % v for v in box_of(o)] + ["-1", "-1", "-1", "-1000", "-1000", "-1000", "-10"]) + "\n"
    save(f"{out}/kitti/{base}.txt", text + "DontCare -1 -1 -10 1.00 1.00 9.00 9.00 -1 -1 -1 -1000 -1000 -1000 -10\n")


def labelme(out, im, base):
    shapes = []
    for o in im["objects"]:
        box, points, _ = in_frame(im, o)
        kind = o["outline"]
        if kind == "ellipse":
            cx, cy = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            kind, points = "rectangle", [box[:2], box[2:]]
            if box[2] - box[0] == box[3] - box[1]:
                kind, points = "circle", [[cx, cy], [cx, box[3]]]
        elif kind == "rectangle":
            points = [box[:2], box[2:]]
        shapes.append(dict(label=o["cls"], points=points, group_id=None, shape_type=kind, flags={}))
    w, h = frame_size(im)
    save(f"{out}/labelme/{base}.json", json.dumps(dict(version="5.4.1", flags={}, shapes=shapes, imagePath=os.path.basename(im["name"]), imageData=None, imageHeight=h, imageWidth=w), ensure_ascii=False, indent=1) + "\n")


def masks(out, im, base):
    """Classes as a palette PNG in the frame of annotations; and, as shown, bit k for object k."""
    shape = (im["height"], im["width"])
    classes, bits = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    for k, o in enumerate(im["objects"]):
        classes[o["mask"]] = 1 + NAMES.index(o["cls"])
        bits |= o["mask"].astype(np.uint8) << k
    if im["stored"]:
        classes = stored(im["orientation"], classes)
    mask = Image.fromarray(classes).convert("P")
    mask.putdata(classes.flatten().tolist())
    mask.putpalette([v for rgb in [(0, 0, 0)] + [CLASSES[n][1] for n in NAMES] for v in rgb])
    for kind, picture in (("masks", mask), ("instances", Image.fromarray(bits))):
        path = f"{out}/{kind}/{base}.png"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        picture.save(path, optimize=True)


def write_odd_images(out):
    """1.png and 2.png of 64 x 48 pixels, and turned.jpg, stored as 30 x 20 and shown as 20 x 30."""
    os.makedirs(out, exist_ok=True)
    for k in (1, 2):
        Image.new("L", (64, 48), 40 * k).save(f"{out}/{k}.png", optimize=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (30, 20), 90).save(f"{out}/turned.jpg", exif=exif.tobytes())


def main(out):
    for name in ("images", "voc", "yolo", "kitti", "labelme", "masks", "instances"):
        shutil.rmtree(f"{out}/{name}", ignore_errors=True)
    rng = np.random.default_rng(23)
    images = []
    for name, w, h, orientation, on_stored, objects in IMAGES:
        im = dict(name=name, width=w, height=h, orientation=orientation, stored=on_stored, objects=objects)
        for o in objects:
            o["mask"] = mask_of(o, w, h)
        images.append(im)
        os.makedirs(os.path.dirname(f"{out}/images/{name}"), exist_ok=True)
        write_image(f"{out}/images/{name}", im, rng)
        base = os.path.splitext(name)[0]
        for write in (voc, yolo, kitti, labelme, masks):
            write(out, im, base)
    coco(out, images)
    save(f"{out}/yolo/classes.txt", "".join(n + "\n" for n in YOLO))
    write_odd_images(out + "/odd/images")
    truth = []
    for im in images:
        truth.append(dict({k: im[k] for k in ("name", "width", "height", "orientation", "stored")}, objects=[]))
        for o in im["objects"]:
            x0, y0, x1, y1 = box_of(o)
            box = [max(x0, 0), max(y0, 0), min(x1, im["width"]), min(y1, im["height"])]
            truth[-1]["objects"].append({"class": o["cls"], "box": box, "outline": o["outline"], "area": int(o["mask"].sum()), "crowd": o.get("crowd", 0),
                                         "difficult": o.get("difficult", 0), "truncated": o.get("truncated", 0), "view": o.get("view", "Unspecified")})
    text = ",\n".join(json.dumps(dict(t, objects=[]), ensure_ascii=False)[:-2] + "".join("\n  " + json.dumps(o, ensure_ascii=False) + "," for o in t["objects"]).rstrip(",") + "]}" for t in truth)
    ids = {"coco": {n: CLASSES[n][0] for n in NAMES}, "sorted": {n: NAMES.index(n) + 1 for n in NAMES}, "yolo": {n: YOLO.index(n) + 1 for n in NAMES}}
    save(f"{out}/truth.json", '{"ids": ' + json.dumps(ids, ensure_ascii=False) + ',\n"images": [\n' + text + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
