"""What NumPy and TensorFlow, or PyTorch where it is installed, make of samples, to judge package reader's images.

A request a line on stdin, with the path of a file of samples, to be replaced by the answer:
{"do": "floats", "path", "dtype"}: the numbers that all 65536 values of a 16-bit dtype stand for, as float32;
{"do": "halves", "path", "dtype"}: float32 numbers as that dtype;
{"do": "mix", "path", "dtype", "shape", "nchw", "lam", "box": null or [x1, y1, x2, y2], "labels", "classes"}: a batch mixed by
the expressions of torchvision.transforms.v2.MixUp and CutMix; the answer has the mixed "labels".
An answer a line on stdout: {"by", "labels"}.
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np

try:
    import torch
except ImportError:
    torch = None
    import tensorflow as tf


class Torch:
    """Tensors of PyTorch; those of 16 bits come and go as integers."""

    name = torch and f"PyTorch {torch.__version__}"

    def read(path, dtype):
        if dtype in ("uint8", "float32"):
            return torch.from_numpy(np.fromfile(path, dtype))
        return torch.from_numpy(np.fromfile(path, np.int16)).view(getattr(torch, dtype))

    def write(path, t):
        (t if t.dtype in (torch.uint8, torch.float32) else t.view(torch.int16)).numpy().tofile(path)

    def cast(t, dtype):
        return (t.round() if dtype == "uint8" else t).to(getattr(torch, dtype))

    def mix(t, lam):
        return t.roll(1, 0).mul_(1.0 - lam).add_(t.mul(lam))

    def one_hot(labels, classes):
        return torch.nn.functional.one_hot(torch.tensor(labels), num_classes=classes).float()

    roll = lambda t: t.roll(1, 0)
    clone = lambda t: t.clone()


class NumPy:
    """Arrays of NumPy, with the bfloat16 of TensorFlow."""

    name = torch is None and f"NumPy {np.__version__}, TensorFlow {tf.__version__}"

    def type(dtype):
        return tf.bfloat16.as_numpy_dtype if dtype == "bfloat16" else np.dtype(dtype)

    def read(path, dtype):
        return np.fromfile(path, np.uint8).view(NumPy.type(dtype))

    def write(path, a):
        np.ascontiguousarray(a).view(np.uint8).tofile(path)

    def cast(a, dtype):
        return (np.rint(a) if dtype == "uint8" else a).astype(NumPy.type(dtype))

    def mix(a, lam):
        return np.roll(a, 1, 0) * np.float32(1.0 - lam) + a * np.float32(lam)

    def one_hot(labels, classes):
        return np.eye(classes, dtype=np.float32)[labels]

    roll = lambda a: np.roll(a, 1, 0)
    clone = lambda a: a.copy()


lib = NumPy if torch is None else Torch


def floats(path, dtype):
    np.arange(1 << 16, dtype=np.uint16).tofile(path)
    lib.write(path, lib.cast(lib.read(path, dtype), "float32"))


def halves(path, dtype):
    lib.write(path, lib.cast(lib.read(path, "float32"), dtype))


def mix(path, dtype, shape, nchw, lam, box, labels, classes):
    t = lib.read(path, dtype).reshape(shape)
    if box is None:
        out = lib.cast(lib.mix(lib.cast(t, "float32"), lam), dtype)
    else:
        x1, y1, x2, y2 = box
        out, rolled = lib.clone(t), lib.roll(t)
        if nchw:
            out[..., y1:y2, x1:x2] = rolled[..., y1:y2, x1:x2]
        else:
            out[:, y1:y2, x1:x2] = rolled[:, y1:y2, x1:x2]
    lib.write(path, out)
    return lib.mix(lib.one_hot(labels, classes), lam).tolist()


with np.errstate(all="ignore"):
    for line in sys.stdin:
        request = json.loads(line)
        answer = globals()[request.pop("do")](**request)
        print(json.dumps({"by": lib.name, "labels": answer}), file=answers, flush=True)
