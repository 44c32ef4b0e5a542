"""TensorFlow and TFDS as judges of what tfrec writes, and as writers of what it must read.

One JSON request a line on stdin, one JSON answer a line on stdout: {"do": NAME, ...} is answered by the function do_NAME,
{"error": ...} when that fails. The process lives as long as the tests, for importing TensorFlow takes seconds.

An Example is written as {key: [kind, value...]}, kind one of none, bytes, float, int64; bytes in hexadecimal, a float as the
eight hexadecimal digits of its bits, an int64 as decimal digits: nothing is lost on the way through JSON.
"""
import io, json, os, random, struct, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers, sys.stdout = sys.stdout, sys.stderr  # libraries print what they like elsewhere

import absl.logging
import numpy as np
import tensorflow as tf

absl.logging.set_verbosity(absl.logging.ERROR)

TYPES = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
PATTERNS = ["0", "80000000", "3f800000", "1", "7f7fffff", "ff7fffff", "7f800000", "ff800000", "7fc00000", "3dcccccd"]


def bits(f):
    return struct.pack(">f", f).hex()


def feature(f):
    """The written form of a tf.train.Feature."""
    kind = f.WhichOneof("kind")
    if kind is None:
        return ["none"]
    kind = kind.removesuffix("_list")
    values = getattr(f, kind + "_list").value
    return [kind] + [{"int64": str, "float": bits, "bytes": bytes.hex}[kind](v) for v in values]


def features(fs):
    return {k: feature(f) for k, f in fs.feature.items()}


def tensor(kind, values):
    """The same of a flat array that TensorFlow's own parser made."""
    if kind == "float":
        return [kind] + ["%08x" % v for v in np.asarray(values, np.float32).view(np.uint32)]
    return [kind] + [v.hex() if kind == "bytes" else str(v) for v in np.asarray(values).tolist()]


def records(path, compression):
    return [r.numpy() for r in tf.data.TFRecordDataset(path, compression_type=compression)]


def do_read(path, compression):
    """Examples as protobuf reads them; TensorFlow's own parser must agree."""
    out = []
    for i, r in enumerate(records(path, compression)):
        e = features(tf.train.Example.FromString(r).features)
        spec = {k: tf.io.VarLenFeature(TYPES[v[0]]) for k, v in e.items() if v[0] != "none"}
        parsed = tf.io.parse_single_example(r, spec) if spec else {}
        for k, v in parsed.items():
            if tensor(e[k][0], v.values.numpy()) != e[k]:
                raise ValueError(f"record {i}, {k!r}: parse_single_example disagrees with protobuf: {v.values.numpy()} and {e[k]}")
        out.append(e)
    return out


def do_padded(path, boundaries, sizes, drop):
    """The int64 lists "ids" of Examples in padded batches: by bucket_by_sequence_length, or without boundaries by padded_batch of sizes[0]."""
    ids = tf.data.TFRecordDataset(path).map(lambda r: tf.io.parse_single_example(r, {"ids": tf.io.RaggedFeature(tf.int64)})["ids"])
    if boundaries:
        batches = ids.bucket_by_sequence_length(tf.size, boundaries, sizes, drop_remainder=drop)
    else:
        batches = ids.padded_batch(sizes[0], drop_remainder=drop)
    return [b.tolist() for b in batches.as_numpy_iterator()]


def do_read_sequences(path, compression):
    out = []
    for i, r in enumerate(records(path, compression)):
        s = tf.train.SequenceExample.FromString(r)
        lists = {k: [feature(f) for f in l.feature] for k, l in s.feature_lists.feature_list.items()}
        kinds = {k: {f[0] for f in l} for k, l in lists.items()}
        spec = {k: tf.io.RaggedFeature(TYPES[min(v)]) for k, v in kinds.items() if len(v) == 1 and v != {"none"}}
        if spec:
            _, parsed = tf.io.parse_single_sequence_example(r, sequence_features=spec)
            for k, v in parsed.items():
                rows = [tensor(min(kinds[k]), row.numpy()) for row in v]
                if rows != lists[k]:
                    raise ValueError(f"record {i}, list {k!r}: parse_single_sequence_example disagrees with protobuf: {rows} and {lists[k]}")
        out.append({"context": features(s.context), "lists": lists})
    return out


def random_feature(rnd):
    kind = rnd.choice(["int64", "float", "bytes", "none"])
    n = rnd.choice([0, 1, 1, 2, 7, 300])
    if kind == "int64":
        values = [rnd.choice([0, 1, -1, 127, 128, 2**63 - 1, -(2**63), rnd.randrange(-(2**40), 2**40)]) for _ in range(n)]
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if kind == "float":
        values = [struct.unpack(">f", bytes.fromhex(rnd.choice(PATTERNS).zfill(8)))[0] if rnd.random() < 0.5 else rnd.gauss(0, 1) for _ in range(n)]
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if kind == "bytes":
        values = [rnd.randbytes(rnd.choice([0, 1, 10, 127, 128, 5000])) for _ in range(min(n, 20))]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    return tf.train.Feature()


def random_key(rnd):
    return "".join(rnd.choice("abz/_0 éж图🐦") for _ in range(rnd.choice([0, 1, 3, 12])))


def do_write(path, compression, seed, count, sequences):
    """Writes random records as TensorFlow writes them and tells what they hold."""
    rnd, out = random.Random(seed), []
    with tf.io.TFRecordWriter(path, compression) as w:
        for _ in range(count):
            fs = tf.train.Features(feature={random_key(rnd): random_feature(rnd) for _ in range(rnd.randrange(9))})
            if not sequences:
                m = tf.train.Example(features=fs)
                out.append(features(m.features))
            else:
                lists = {random_key(rnd): tf.train.FeatureList(feature=[random_feature(rnd) for _ in range(rnd.randrange(5))]) for _ in range(rnd.randrange(4))}
                m = tf.train.SequenceExample(context=fs, feature_lists=tf.train.FeatureLists(feature_list=lists))
                out.append({"context": features(m.context), "lists": {k: [feature(f) for f in l.feature] for k, l in m.feature_lists.feature_list.items()}})
            w.write(m.SerializeToString())
    return out


def plain(v):
    """A value that TFDS yields: an array with its shape, dtype and elements in the written form."""
    if isinstance(v, (tf.RaggedTensor, tf.SparseTensor)):
        raise ValueError("a ragged or sparse tensor where tfrec promises none")
    a = v.numpy() if hasattr(v, "numpy") else v
    if isinstance(a, bytes):
        return {"shape": [], "dtype": "string", "values": [a.hex()]}
    a = np.asarray(a)
    if a.dtype == object:
        return {"shape": list(a.shape), "dtype": "string", "values": [x.hex() for x in a.reshape(-1).tolist()]}
    if a.dtype in (np.uint8, np.uint16):
        return {"shape": list(a.shape), "dtype": str(a.dtype), "values": [a.astype(a.dtype.newbyteorder(">")).tobytes().hex()]}
    kind = {"float32": "float", "int64": "int64"}[str(a.dtype)]
    return {"shape": list(a.shape), "dtype": str(a.dtype), "values": tensor(kind, a.reshape(-1))[1:]}


def do_tfds(path, take):
    """What tfds.builder_from_directory makes of a folder: its splits, label names and the first examples of each split."""
    import tensorflow_datasets as tfds

    b = tfds.builder_from_directory(path)
    ordered = {"shuffle_files": False, "read_config": tfds.ReadConfig(interleave_cycle_length=1)}  # shard after shard
    f = b.info.features
    out = {"name": b.info.name, "labels": {k: list(v.names) for k, v in f.items() if hasattr(v, "names")}, "supervised": list(b.info.supervised_keys or []), "splits": {}}
    for name, split in b.info.splits.items():
        seen = [{k: plain(v) for k, v in e.items()} for e in b.as_dataset(split=name, **ordered).take(take)]
        n = sum(1 for _ in b.as_dataset(split=name))
        pairs = []
        if out["supervised"]:
            pairs = [[plain(x), plain(y)] for x, y in b.as_dataset(split=name, as_supervised=True, **ordered).take(take)]
        out["splits"][name] = {"num_examples": split.num_examples, "shard_lengths": split.shard_lengths, "counted": n, "examples": seen, "pairs": pairs}
    return out


def do_pictures(path, source, width, height, quality):
    """The largest mean distance, in levels, between the pictures that TFDS decodes and those that Pillow makes of the sources.

    Pillow's go through JPEG of that quality, too, unless it is 0: what JPEG does to petals is no fault of tfrec's.
    """
    import tensorflow_datasets as tfds
    from PIL import Image, ImageOps

    b, worst, n = tfds.builder_from_directory(path), 0.0, 0
    for split in b.info.splits:
        for e in b.as_dataset(split=split):
            p = ImageOps.exif_transpose(Image.open(os.path.join(source, e["image/filename"].numpy().decode()))).convert("RGB")
            if width:
                p = p.resize((width, height), Image.BILINEAR)
            if quality:
                coded = io.BytesIO()
                p.save(coded, "JPEG", quality=quality, subsampling="4:2:0")
                p = Image.open(coded).convert("RGB")
            got, want = e["image/encoded"].numpy().astype(float), np.asarray(p).astype(float)
            if got.shape != want.shape:
                raise ValueError(f"{e['image/filename'].numpy()}: shape {got.shape}, Pillow's is {want.shape}")
            worst, n = max(worst, float(np.abs(got - want).mean())), n + 1
    return {"worst": worst, "count": n}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        do = globals()["do_" + request.pop("do")]
        try:
            answer = {"answer": do(**request)}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=answers, flush=True)


main()
