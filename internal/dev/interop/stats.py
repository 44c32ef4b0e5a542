"""What NumPy makes of the records of files, to judge `tfrec stats`.

    tfrec stats --json FILE... | python stats.py FILE...

One JSON object on stdout: {"records", "features": {key: {"records", "int64", "float", "lengths", "texts", "pixels"}}}, as far as
there are any. Numbers are judged in float64; NaNs and infinities are counted and then left out. "ranks" are the shares of the numbers
below each quantile that tfrec gives and up to it, "histogram" are the counts in the buckets that tfrec gives.
"""
import collections, io, json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import tensorflow as tf
from PIL import Image

# What tfrec says of each feature.
told = {f["key"]: f for f in json.load(sys.stdin)["features"]}


def numbers(values, key, kind):
    a = np.asarray(values)
    finite = a[np.isfinite(a)]
    f = finite.astype(np.float64)
    said = told[key][kind]
    quantiles = [q["value"] for q in said["quantiles"]]
    buckets = said["histogram"]
    edges = [b["from"] for b in buckets] + [buckets[-1]["to"]]
    counts = collections.Counter(finite.tolist()).most_common()
    return {
        "count": int(f.size), "nans": int(np.isnan(a).sum()), "infinities": int(np.isinf(a).sum()),
        "min": float(f.min()), "max": float(f.max()), "mean": float(f.mean()), "std": float(f.std()),
        "quantiles": [float(q) for q in np.quantile(f, [q["share"] for q in said["quantiles"]], method="inverted_cdf")],
        "ranks": [[float((f < q).mean()), float((f <= q).mean())] for q in quantiles],
        "histogram": [int(n) for n in np.histogram(f, edges)[0]],
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
        f["int64"] = numbers(np.array(kinds["int64"], np.int64), key, "int64")
    if kinds["float"]:
        f["float"] = numbers(np.array(kinds["float"], np.float32), key, "float")
    if kinds["bytes"]:
        f["lengths"] = numbers(np.array([len(b) for b in kinds["bytes"]], np.int64), key, "lengths")
        texts = collections.Counter(kinds["bytes"]).most_common()
        f["texts"] = {"distinct": len(texts), "top": [[b.decode("latin-1"), n] for b, n in texts[:20]]}
        pictures = [b for b in kinds["bytes"] if b.startswith(b"\x89PNG")]
        if pictures:
            f["pixels"] = pixels(pictures)
json.dump({"records": records, "features": out}, answers)
