"""What tf.io.parse_example makes of batches of records, to judge package reader's columns.

A request a line on stdin: {"path", "fields": [{"key", "kind", "shape", "ragged", "default", "steps", "missing"}]}, where all
records of the file make one batch and default is null or in the written form of judge.py. With steps "list" anywhere the
records are SequenceExamples, "flat" is a FixedLenSequenceFeature of an Example. An answer a line on stdout: {"error"} or
{"columns": [{"shape", "values", "splits", "step_splits"}]}, values in the written form, splits null for fixed lengths; those
of padded lists delimit the steps before padding.
"""
import json, os, struct, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import tensorflow as tf

TYPES = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}


def read(kind, values):
    if kind == "int64":
        return [int(v) for v in values]
    if kind == "float":
        return [struct.unpack(">f", bytes.fromhex(v))[0] for v in values]
    return [bytes.fromhex(v) for v in values]


def written(kind, a):
    if kind == "int64":
        return [str(v) for v in a.tolist()]
    if kind == "float":
        return ["%08x" % v for v in np.ascontiguousarray(a, np.float32).view(np.uint32).tolist()]
    return [v.hex() for v in a.tolist()]


def feature(f):
    if f["steps"] and not f["ragged"]:
        default = None if f["default"] is None else read(f["kind"], f["default"])[0]
        return tf.io.FixedLenSequenceFeature(f["shape"], TYPES[f["kind"]], f["missing"], default)
    if f["ragged"]:
        return tf.io.RaggedFeature(TYPES[f["kind"]], row_splits_dtype=tf.int64)
    if f["default"] is None:
        return tf.io.FixedLenFeature(f["shape"], TYPES[f["kind"]])
    return tf.io.FixedLenFeature(f["shape"], TYPES[f["kind"]], np.array(read(f["kind"], f["default"]), TYPES[f["kind"]].as_numpy_dtype).reshape(f["shape"]))


def columns(path, fields):
    records = [r.numpy() for r in tf.data.TFRecordDataset(path)]
    lists = {f["key"]: feature(f) for f in fields if f["steps"] == "list"}
    rest = {f["key"]: feature(f) for f in fields if f["steps"] != "list"}
    lengths = {}
    if lists:
        context, parsed, lengths = tf.io.parse_sequence_example(tf.constant(records, tf.string), context_features=rest or None, sequence_features=lists)
        parsed |= context
    else:
        parsed = tf.io.parse_example(tf.constant(records, tf.string), rest)
    out = []
    for f in fields:
        t = parsed[f["key"]]
        if f["ragged"] and f["steps"]:
            out.append({"shape": [len(records), -1, -1], "values": written(f["kind"], t.flat_values.numpy()),
                        "splits": t.row_splits.numpy().tolist(), "step_splits": t.values.row_splits.numpy().tolist()})
        elif f["key"] in lengths:
            splits = np.cumsum([0] + lengths[f["key"]].numpy().tolist()).tolist()
            out.append({"shape": t.shape.as_list(), "values": written(f["kind"], t.numpy().reshape(-1)), "splits": splits})
        elif f["ragged"]:
            out.append({"shape": [len(records), -1], "values": written(f["kind"], t.values.numpy()), "splits": t.row_splits.numpy().tolist()})
        else:
            out.append({"shape": t.shape.as_list(), "values": written(f["kind"], t.numpy().reshape(-1)), "splits": None})
    return out


for line in sys.stdin:
    try:
        answer = {"columns": columns(**json.loads(line))}
    except (tf.errors.OpError, ValueError) as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), file=answers, flush=True)
