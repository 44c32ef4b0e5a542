"""Reads and writes WebDatasets with the webdataset package.

    python samples.py write DIR N PHOTO...   tars of 7 samples with members of several kinds
    python samples.py read RECORDS TAR...    compares tars with the records that they were exported from

Prints what differs, a line each, and at the end "N samples".
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import webdataset


def write(directory, n, photos):
    for start in range(0, n, 7):
        with webdataset.TarWriter(f"{directory}/web-{start // 7:04d}.tar", mtime=0) as w:
            for i in range(start, min(start + 7, n)):
                w.write({"__key__": f"{i:06d}", "jpg": open(photos[i % len(photos)], "rb").read(), "cls": i % 5 * 2, "txt": f"caption {i} ü",
                         "json": {"score": i / 4, "n": i - 3, "who": f"w{i}"}, "npy": np.arange(3) + i})
    answers.write(f"{n} samples\n")


def member(v):
    """The value that a .json has for a feature."""
    return v if not isinstance(v, bytes) else v.decode()


def read(records, tars):
    import tensorflow as tf
    examples = [tf.train.Example.FromString(r.numpy()).features.feature for r in tf.data.TFRecordDataset(records)]
    samples = list(webdataset.WebDataset(tars, shardshuffle=False))
    if len(samples) != len(examples) or len({s["__key__"] for s in samples}) != len(samples):
        answers.write(f"{len(samples)} samples of {len(examples)} records, or keys that are not unique\n")
    for i, (s, features) in enumerate(zip(samples, examples)):
        if s.get("jpg", s.get("png")) != features["image/encoded"].bytes_list.value[0] or int(s["cls"]) != features["image/class/label"].int64_list.value[0]:
            answers.write(f"sample {i}: another image or label\n")
        want = {}
        for key, f in features.items():
            if key != "image/encoded":
                values = [member(v) for v in getattr(f, f.WhichOneof("kind")).value]
                want[key] = values[0] if len(values) == 1 else values
        if json.loads(s["json"]) != want:
            answers.write(f"sample {i}: {json.loads(s['json'])}, want {want}\n")
    answers.write(f"{len(samples)} samples\n")


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
else:
    read(sys.argv[2], sys.argv[3:])
