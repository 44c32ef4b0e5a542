"""What NumPy makes of the records of files, to judge `tfrec stats`.

    python stats.py FILE...

One JSON object on stdout: {"records", "features": {key: {"records", "int64", "float", "lengths", "texts", "pixels"}}}, as far as
there are any. Numbers are judged in float64; NaNs and infinities are counted and then left out.
"""
import collections, io, json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import tensorflow as tf
from PIL import Image

SHARES = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]


def numbers(values):
    a = np.asarray(values)
    finite = a[np.isfinite(a)]
    f = finite.astype(np.float64)
    counts = collections.Counter(finite.tolist()).most_common()
    return {
        "count": int(f.size), "nans": int(np.isnan(a).sum()), "infinities": int(np.isinf(a).sum()),
        "min": float(f.min()), "max": float(f.max()), "mean": float(f.mean()), "std": float(f.std()),
        "quantiles": [float(q) for q in np.quantile(f, SHARES, method="inverted_cdf")],
        "distinct": len(counts), "top": [[str(v), n] for v, n in counts[:20]],
    }


def pixels(pictures):
    means, squares = [], []
    for data in pictures:
        a = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.float64) / 255
        means.append(a.mean((0, 1)))
        squares.append((a * a).mean((0, 1)))
    mean = np.mean(means, 0)
    return {"mean": mean.tolist(), "std": np.sqrt(np.mean(squares, 0) - mean**2).tolist()}


features = collections.defaultdict(lambda: collections.defaultdict(list))
present = collections.Counter()
records = 0
for r in tf.data.TFRecordDataset(sys.argv[1:]):
    records += 1
    for key, f in tf.train.Example.FromString(r.numpy()).features.feature.items():
        present[key] += 1
        features[key]["int64"] += f.int64_list.value
        features[key]["float"] += f.float_list.value
        features[key]["bytes"] += f.bytes_list.value
out = {}
for key, kinds in features.items():
    f = out[key] = {"records": present[key]}
    if kinds["int64"]:
        f["int64"] = numbers(np.array(kinds["int64"], np.int64))
    if kinds["float"]:
        f["float"] = numbers(np.array(kinds["float"], np.float32))
    if kinds["bytes"]:
        f["lengths"] = numbers(np.array([len(b) for b in kinds["bytes"]], np.int64))
        texts = collections.Counter(kinds["bytes"]).most_common()
        f["texts"] = {"distinct": len(texts), "top": [[b.decode("latin-1"), n] for b, n in texts[:20]]}
        pictures = [b for b in kinds["bytes"] if b.startswith(b"\x89PNG")]
        if pictures:
            f["pixels"] = pixels(pictures)
json.dump({"records": records, "features": out}, answers)
