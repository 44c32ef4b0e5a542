"""Writes a set with boxes and keypoints, and reads what it was exported as.

    python export_boxes.py write DIR N                 DIR/d-train.tfrecord-* and DIR/d-val.* of N images, DIR/truth.json
    python export_boxes.py read DIR COCO VOC YOLO      compares the exports of DIR with its truth.json
    python export_boxes.py equal COCO COCO             compares two exports as pycocotools reads them
    python export_boxes.py decode DIR SET              compares the keypoints in SET, as the Object Detection API decodes them, with DIR's truth.json

Prints what differs, a line each, and at the end "N boxes".
"""
import contextlib, io, json, os, sys
import xml.etree.ElementTree as ET

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import yaml
from PIL import Image
from pycocotools.coco import COCO

NAMES = {3: "o'ne & <two>", 17: "ä b", 4: "vier", 90: "no object has it"}
POINTS = ("nose", "left_eye", "right_eye")
SIDES = ("xmin", "ymin", "xmax", "ymax")


def png(a):
    b = io.BytesIO()
    Image.fromarray(a).save(b, "png")
    return b.getvalue()


def labelled(o):
    return sum(p[2] > 0 for p in o["points"])


def write(directory, n):
    import tensorflow as tf

    r, truth = np.random.default_rng(9), []
    numbers = lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    floats = lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=v))
    texts = lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=[x if isinstance(x, bytes) else x.encode() for x in v]))
    records = {"train": [], "val": []}
    for i in range(n):
        w, h = (int(v) for v in r.integers(20, 90, 2))
        split, objects = ("train", "val")[i % 3 == 0], []
        for _ in range(r.integers(0, 5)):
            x0, y0 = r.integers(0, w - 8), r.integers(0, h - 8)
            x1, y1 = r.integers(x0 + 4, w + 1), r.integers(y0 + 4, h + 1)
            mask = np.zeros((h, w), np.uint8)
            mask[y0:y1, x0:x1] = r.integers(0, 2, (y1 - y0, x1 - x0)) * 255
            box = [float(v) for v in (x0, y0, x1, y1)] if i % 2 else [round(v + f, 2) for v, f in zip((x0, y0, x1 - 2, y1 - 2), r.random(4).tolist())]
            points = [[round(float(v), 2) for v in (r.random() * w, r.random() * h)] + [int(r.integers(1, 3))] if r.integers(0, 3) else [0, 0, 0] for _ in POINTS]
            objects.append(dict(points=points, id=int(r.choice([3, 4, 17])), box=box, mask=mask, area=float(np.float32(mask.sum() / 255 + .25)), crowd=int(r.integers(0, 2)), difficult=int(r.integers(0, 2)), view=str(r.choice(["Left", "a & b"]))))
        name = f"{split}/d{i % 4}/{i}.png"
        features = {"image/encoded": texts([png(r.integers(0, 256, (h, w, 3), np.uint8))]), "image/format": texts(["png"]), "image/filename": texts([name]), "image/source_id": texts([str(1000 - 7 * i)])}
        features |= {"image/width": numbers([w]), "image/height": numbers([h])}
        for k, side in enumerate(SIDES):
            features["image/object/bbox/" + side] = floats([o["box"][k] / (w, h)[k % 2] for o in objects])
        features |= {"image/object/class/label": numbers([o["id"] for o in objects]), "image/object/class/text": texts([NAMES[o["id"]] for o in objects]), "image/object/view": texts([o["view"] for o in objects])}
        features |= {"image/object/is_crowd": numbers([o["crowd"] for o in objects]), "image/object/difficult": numbers([o["difficult"] for o in objects]), "image/object/area": floats([o["area"] for o in objects]), "image/object/mask": texts([png(o["mask"]) for o in objects])}
        points = [p for o in objects for p in o["points"]]
        features |= {"image/object/keypoint/x": floats([p[0] / w for p in points]), "image/object/keypoint/y": floats([p[1] / h for p in points]), "image/object/keypoint/visibility": numbers([p[2] for p in points])}
        features |= {"image/object/keypoint/num": numbers([labelled(o) for o in objects]), "image/object/keypoint/text": texts(POINTS * len(objects))}
        records[split].append(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
        truth.append(dict(name=name, split=split, id=1000 - 7 * i, w=w, h=h, objects=[dict(o, mask=np.flatnonzero(o["mask"]).tolist()) for o in objects]))
    for split, list_ in records.items():
        with tf.io.TFRecordWriter(f"{directory}/d-{split}.tfrecord-00000-of-00001") as f:
            for record in list_:
                f.write(record)
    json.dump(truth, open(f"{directory}/truth.json", "w"))
    with open(f"{directory}/label_map.pbtxt", "w") as f:
        f.write("".join(f"item {{\n  id: {k}\n  name: {json.dumps(v)}\n}}\n" for k, v in NAMES.items()))
    answers.write(f"{sum(len(t['objects']) for t in truth)} boxes\n")


def same(what, got, want, within=1e-3):
    """Boxes with classes, in order."""
    if len(got) != len(want) or any(a[0] != b[0] or np.abs(np.array(a[1]) - b[1]).max() > within for a, b in zip(got, want)):
        answers.write(f"{what}: {got}, want {want}\n")


def read(directory, coco, voc, yolo):
    truth = json.load(open(directory + "/truth.json"))
    apis = {}
    for split in ("train", "val"):
        with contextlib.redirect_stdout(sys.stderr):
            apis[split] = COCO(f"{coco}/annotations/instances_{split}.json")
        if {k: c["name"] for k, c in apis[split].cats.items()} != NAMES or any(c.get("keypoints", list(POINTS)) != list(POINTS) for c in apis[split].cats.values()):
            answers.write(f"categories of {split}: {apis[split].cats}\n")
    data = yaml.safe_load(open(yolo + "/data.yaml", encoding="utf-8"))
    lines = open(yolo + "/classes.txt", encoding="utf-8").read().split("\n")[:-1]
    order = [NAMES[k] for k in sorted(NAMES)]
    if lines != order or data["names"] != dict(enumerate(order)) or data["kpt_shape"] != [3, 3] or data["flip_idx"] != [0, 2, 1] or data["kpt_names"][0] != list(POINTS):
        answers.write(f"classes of YOLO: {lines}, {data}\n")
    listed = {s: open(f"{voc}/ImageSets/Main/{s}.txt").read().split("\n")[:-1] for s in apis}
    for t in truth:
        name = t["name"].split("/", 1)[1]
        want = [(NAMES[o["id"]], o["box"]) for o in t["objects"]]
        c = apis[t["split"]]
        if (im := c.imgs.get(t["id"])) is None or im["file_name"] != name or (im["width"], im["height"]) != (t["w"], t["h"]):
            answers.write(f"{name}: {im}\n")
            continue
        anns = c.imgToAnns[t["id"]]
        same("coco " + name, [(NAMES[a["category_id"]], a["bbox"][:2] + [a["bbox"][0] + a["bbox"][2], a["bbox"][1] + a["bbox"][3]]) for a in anns], want, 1e-6)
        for a, o in zip(anns, t["objects"]):
            if a["keypoints"] != [v for p in o["points"] for v in p] or a["num_keypoints"] != labelled(o):
                answers.write(f"coco {name}: keypoints of {a}, want {o}\n")
            if a["area"] != o["area"] or a["iscrowd"] != o["crowd"] or np.flatnonzero(c.annToMask(a)).tolist() != o["mask"]:
                answers.write(f"coco {name}: annotation {a}\n")
        x = ET.parse(f"{voc}/Annotations/{t['name'][:-4]}.xml").getroot()
        objects = x.findall("object")
        same("voc " + name, [(o.findtext("name"), [float(o.findtext("bndbox/" + k)) for k in SIDES]) for o in objects], want, 1e-6)
        if [(int(o.findtext("difficult")), o.findtext("pose")) for o in objects] != [(o["difficult"], o["view"]) for o in t["objects"]] or t["name"][:-4] not in listed[t["split"]]:
            answers.write(f"voc {name}: {ET.tostring(x)}\n")
        scale = np.array([t["w"], t["h"]] * 2)
        rows = [l.split() for l in open(f"{yolo}/{data[t['split']].replace('images', 'labels')}/{name[:-4]}.txt")]
        same("yolo " + name, [(data["names"][int(k)], np.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2]) * scale) for k, *v in rows for x, y, w, h in [map(float, v[:4])]], want)
        points = [[float(v) for v in row[5:]] for row in rows]
        if points and np.abs(np.array(points) * np.array([t["w"], t["h"], 1] * len(POINTS)) - [sum(o["points"], []) for o in t["objects"]]).max() > 1e-3:
            answers.write(f"yolo {name}: keypoints {points}, want {t['objects']}\n")
        sizes = {Image.open(p).size for p in (f"{coco}/{t['split']}/{name}", f"{voc}/JPEGImages/{t['name']}", f"{yolo}/{data[t['split']]}/{name}")}
        if sizes != {(t["w"], t["h"])}:
            answers.write(f"{name}: images of {sizes}\n")
    answers.write(f"{sum(len(t['objects']) for t in truth)} boxes\n")


def decode(directory, found):
    """As models/research/object_detection/data_decoders/tf_example_decoder.py does with num_keypoints."""
    import glob
    import tensorflow as tf

    truth, n = {t["name"]: t for t in json.load(open(directory + "/truth.json"))}, 0
    key = "image/object/keypoint/"
    keys = {key + k: tf.io.VarLenFeature(tf.float32) for k in "xy"} | {key + "visibility": tf.io.VarLenFeature(tf.int64), "image/filename": tf.io.FixedLenFeature((), tf.string)}
    for record in tf.data.TFRecordDataset(sorted(glob.glob(found + "/*.tfrecord-*"))):
        read = {k: tf.sparse.to_dense(v) if isinstance(v, tf.SparseTensor) else v for k, v in tf.io.parse_single_example(record, keys).items()}
        points = tf.reshape(tf.stack([read[key + "x"], read[key + "y"]], 1), [-1, len(POINTS), 2]).numpy()
        visibility = tf.reshape(read[key + "visibility"], [-1, len(POINTS)]).numpy()
        t = truth[read["image/filename"].numpy().decode()]
        want = np.array([o["points"] for o in t["objects"]], np.float64).reshape(-1, len(POINTS), 3)
        if want.shape[:1] != points.shape[:1] or (visibility != want[:, :, 2]).any() or want.size and np.abs(points - want[:, :, :2] / (t["w"], t["h"])).max() > 1e-6:
            answers.write(f"{t['name']}: {points} {visibility}, want {want}\n")
        n += len(points)
    answers.write(f"{n} boxes\n")


def equal(*exports):
    n = 0
    for split in ("train", "val"):
        with contextlib.redirect_stdout(sys.stderr):
            a, b = (COCO(f"{e}/annotations/instances_{split}.json") for e in exports)
        if a.imgs != b.imgs or a.cats != b.cats:
            answers.write(f"images or categories of {split}\n")
        for i in a.imgs:
            x, y = ([{k: v for k, v in one.items() if k != "id"} for one in c.imgToAnns[i]] for c in (a, b))
            if x != y:
                answers.write(f"annotations of {a.imgs[i]}: {x}, {y}\n")
            n += len(x)
    answers.write(f"{n} boxes\n")


{"write": lambda d, n: write(d, int(n)), "read": read, "equal": equal, "decode": decode}[sys.argv[1]](*sys.argv[2:])
