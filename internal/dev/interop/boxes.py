"""What torchvision.transforms.v2 makes of bounding boxes, to judge Draw.Box of package augment.

    python boxes.py FOLDER    FOLDER has the package torchvision of a wheel, which need not fit the PyTorch that is installed

A request a line on stdin: {"steps": the steps of a draw as records have them, "size": [w, h], "boxes": [[x0, y0, x1, y1], ...]}.
An answer a line on stdout: {"size": the size of the result, "boxes", null for those that a step has lost, "shares": of the area,
product over the steps of what the clip leaves}.
"""
import json, os, sys, types

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import torch
from PIL import Image

# The functions for boxes are plain arithmetic on tensors, and all else of torchvision is left out: its compiled part wants one
# version of PyTorch, while this one is the distribution's.
root = os.path.join(sys.argv[1], "torchvision")
for name in ("", ".transforms.v2", ".transforms.v2.functional"):
    package = sys.modules["torchvision" + name] = types.ModuleType("torchvision" + name)
    package.__path__ = [root + name.replace(".", "/")]
torch._C.DisableTorchFunctionSubclass = torch._C.DisableTorchFunction
torch.compiler = types.SimpleNamespace(disable=lambda f: f, is_compiling=lambda: False)
import torchvision.transforms.v2.functional._geometry as F

XYXY = F.tv_tensors.BoundingBoxFormat.XYXY


def resize(b, canvas, s):
    torch.set_default_dtype(torch.float64)  # or ratios are rounded to float32
    try:
        return F.resize_bounding_boxes(b, canvas, [s["height"], s["width"]], clamping_mode=None)
    finally:
        torch.set_default_dtype(torch.float32)


def crop(b, canvas, s):
    h, w = canvas
    right, bottom = s["x"] + s["w"] - w, s["y"] + s["h"] - h
    if max(s["x"], s["y"]) <= 0 <= min(right, bottom):
        return F.pad_bounding_boxes(b, XYXY, canvas, [-s["x"], -s["y"], right, bottom], clamping_mode=None)
    if s["w"] <= w and s["h"] <= h and (s["y"], s["x"]) == tuple(F._center_crop_compute_crop_anchor(s["h"], s["w"], h, w)):
        return F.center_crop_bounding_boxes(b, XYXY, canvas, [s["h"], s["w"]], clamping_mode=None)
    return F.crop_bounding_boxes(b, XYXY, s["y"], s["x"], s["h"], s["w"], clamping_mode=None)


def rotate(b, canvas, s):
    expand, (h, w) = s.get("expand", False), canvas
    turn = lambda b: F.rotate_bounding_boxes(b, XYXY, canvas, s["angle"], expand=expand, clamping_mode=None)[0]
    if not expand:
        return turn(b), canvas
    # torchvision's pixels, like Pillow's, are in the middle of the result; its boxes are in the corner, and its size for them
    # may be a pixel less.
    whole = turn(torch.tensor([[0, 0, w, h]], dtype=b.dtype))[0, 2:]
    size = Image.new("1", (w, h)).rotate(s["angle"], expand=True).size
    return turn(b) + ((torch.tensor(size) - whole) / 2).repeat(2), size[::-1]


def affine(b, canvas, s):
    center = [0.0, 0.0] if s.get("corner") else None
    return F.affine_bounding_boxes(b, XYXY, canvas, s["angle"], s["translate"], s["scale"], s["shear"], center, clamping_mode=None), canvas


def perspective(b, canvas, s):
    h, w = canvas
    a, v = [], []
    for (x, y), (u, t) in zip(s["corners"], [[0, 0], [w, 0], [w, h], [0, h]]):
        a += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -t * x, -t * y]]
        v += [u, t]
    coefficients = np.linalg.solve(np.array(a, float), np.array(v, float)).tolist()
    return F.perspective_bounding_boxes(b, XYXY, canvas, None, None, coefficients, clamping_mode=None), canvas


def resized_crop(b, canvas, s):  # the crop clips
    b, canvas = F.crop_bounding_boxes(b, XYXY, s["y"], s["x"], s["h"], s["w"], clamping_mode=None)
    return resize(b, canvas, s)


STEPS = {
    "hflip": lambda b, canvas, s: (F.horizontal_flip_bounding_boxes(b, XYXY, canvas), canvas),
    "vflip": lambda b, canvas, s: (F.vertical_flip_bounding_boxes(b, XYXY, canvas), canvas),
    "resize": resize, "crop": crop, "resized_crop": resized_crop, "rotate": rotate, "affine": affine, "perspective": perspective,
}


def area(b):
    return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])


def draw(steps, size, boxes):
    canvas, b = (size[1], size[0]), torch.tensor(boxes, dtype=torch.float64)
    shares = torch.ones(len(boxes), dtype=b.dtype)
    for s in steps:
        moved, canvas = STEPS[s["op"]](b, canvas, s)
        b = F.clamp_bounding_boxes(moved, XYXY, tuple(canvas), "soft")
        shares *= area(b) / area(moved)
        shares[area(b) <= 0] = 0
        shares = shares.nan_to_num(0)
    return {"size": canvas[::-1], "boxes": [box if share else None for box, share in zip(b.tolist(), shares.tolist())], "shares": shares.tolist()}


for line in sys.stdin:
    print(json.dumps(draw(**json.loads(line))), file=answers, flush=True)
