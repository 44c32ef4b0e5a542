"""Writes episodes in RLDS format with TFDS, to judge columns of sequences and clips.

The argument is the path of the file of records. Stdout gets what TFDS reads of it, as one batch: {key: {"shape", "values",
"splits"}}, values in the written form of judge.py, splits over the steps. "decoded" are the images as TFDS decodes them.
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_parser, example_serializer

features = tfds.features.FeaturesDict({
    "episode_metadata": {"id": np.int64},
    "steps": tfds.features.Dataset({
        "observation": {"state": tfds.features.Tensor(shape=(3,), dtype=np.float32), "image": tfds.features.Image(shape=(2, 2, 3))},
        "action": tfds.features.Tensor(shape=(2, 2), dtype=np.float32),
        "reward": np.float32,
        "is_last": np.bool_,
        "language": tfds.features.Text(),
        "tokens": tfds.features.Sequence(np.int64),
    }),
})
rnd = np.random.default_rng(21)


def step(last):
    return {
        "observation": {"state": rnd.standard_normal(3).astype(np.float32), "image": rnd.integers(0, 256, (2, 2, 3), np.uint8)},
        "action": rnd.standard_normal((2, 2)).astype(np.float32),
        "reward": np.float32(rnd.standard_normal()),
        "is_last": last,
        "language": "do" * int(rnd.integers(4)),
        "tokens": rnd.integers(-300, 300, int(rnd.integers(4))).tolist(),
    }


def written(a):
    a = np.asarray(a).reshape(-1)
    if a.dtype.kind == "f":
        return ["%08x" % v for v in a.astype(np.float32).view(np.uint32).tolist()]
    return [v.hex() if isinstance(v, bytes) else str(int(v)) for v in a.tolist()]


info = features.get_serialized_info()
serializer, parser = example_serializer.ExampleSerializer(info), example_parser.ExampleParser(info)
columns = {}


def add(key, shape, values, steps):
    c = columns.setdefault(key, {"shape": shape, "values": [], "splits": None if steps is None else [0], "step_splits": None})
    c["shape"][0] += 1
    c["values"] += written(values)
    if steps is not None:
        c["splits"].append(c["splits"][-1] + steps)


with tf.io.TFRecordWriter(sys.argv[1]) as out:
    for i, length in enumerate([3, 1, 0, 40]):
        episode = {"episode_metadata": {"id": i}, "steps": [step(k == length - 1) for k in range(length)]}
        record = serializer.serialize_example(features.encode_example(episode))
        out.write(record)
        read = parser.parse_example(record)
        steps, observation = read["steps"], read["steps"]["observation"]
        add("episode_metadata/id", [0], read["episode_metadata"]["id"].numpy(), None)
        add("steps/observation/state", [0, -1, 3], observation["state"].numpy(), length)
        add("steps/observation/image", [0, -1], observation["image"].numpy(), length)
        add("steps/action", [0, -1, 2, 2], steps["action"].numpy(), length)
        for key in "reward", "is_last", "language":
            add("steps/" + key, [0, -1], steps[key].numpy(), length)
        tokens = steps["tokens"]
        add("steps/tokens/ragged_flat_values", [0, -1], tokens.flat_values.numpy(), int(tokens.flat_values.shape[0]))
        add("steps/tokens/ragged_row_lengths_0", [0, -1], tokens.row_lengths().numpy(), length)
        images = [s["observation"]["image"].numpy() for s in features.deserialize_example(record)["steps"]]
        add("decoded", [0, -1, 2, 2, 3], images, length)
print(json.dumps(columns), file=answers, flush=True)
