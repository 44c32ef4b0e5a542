"""Reads what `tfrec export` made with the readers of others, and compares it with the records as TensorFlow reads them.

    python export.py FILE TABLE...

The format of a table is its extension. Prints what differs, a line each, and for each table "FORMAT: N records, M features".
"""
import base64, csv, json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import numpy as np
import tensorflow as tf

csv.field_size_limit(1 << 30)
want, kinds = [], {}
for r in tf.data.TFRecordDataset(sys.argv[1]):
    row = {}
    for key, f in tf.train.Example.FromString(r.numpy()).features.feature.items():
        kind = f.WhichOneof("kind")
        if kind:
            kinds[key] = kind
            row[key] = list(getattr(f, kind).value)
    want.append(row)


def has(key):
    return [row[key] for row in want if key in row]


def is_text(key):
    try:
        [v.decode() for row in has(key) for v in row]
        return True
    except UnicodeDecodeError:
        return False


texts = {key: kinds[key] == "bytes_list" and is_text(key) for key in kinds}
single = {key: all(len(row) == 1 for row in has(key)) for key in kinds}
named = {key if kinds[key] != "bytes_list" or texts[key] else key + ".base64": key for key in kinds}


def value(key, v):
    """A value of text, CSV's or JSON's."""
    if kinds[key] == "int64_list":
        return int(v)
    if kinds[key] == "float_list":
        return float(v)
    return v.encode() if texts[key] else base64.b64decode(v, validate=True)


def read_csv(table):
    rows = list(csv.reader(open(table, encoding="utf-8", newline=""), strict=True))
    header = rows[0]
    for row in rows[1:]:
        out = {}
        assert len(row) == len(header), row
        for name, cell in zip(header, row):
            key = named[name]
            listed = not single[key] or (len(has(key)) < len(want) and kinds[key] == "bytes_list" and [b""] in has(key))
            if cell == "" and (listed or len(has(key)) < len(want)):
                continue
            out[key] = [value(key, v) for v in json.loads(cell)] if listed else [value(key, cell)]
        yield out


def no_constants(s):
    raise ValueError(s + " is no JSON")


def read_jsonl(table):
    for line in open(table, encoding="utf-8", newline="\n"):
        row = json.loads(line, parse_constant=no_constants)
        assert all(isinstance(v, list) != single[named[k]] for k, v in row.items()), line
        yield {named[k]: [value(named[k], x) for x in (v if isinstance(v, list) else [v])] for k, v in row.items()}


def read_parquet(table):
    import pyarrow as pa
    import pyarrow.parquet as pq

    read = pq.read_table(table)
    for key in kinds:
        t = read.schema.field(key).type
        if not single[key]:
            assert pa.types.is_list(t), (key, t)
            t = t.value_type
        ours = {"int64_list": pa.int64(), "float_list": pa.float32(), "bytes_list": pa.string() if texts[key] else pa.binary()}[kinds[key]]
        assert t == ours, (key, t, ours)
    for row in read.to_pylist():
        out = {}
        for key, v in row.items():
            if v is not None:
                out[key] = [x.encode() if isinstance(x, str) else x for x in (v if isinstance(v, list) else [v])]
        yield out


def read_npz(table):
    arrays = np.load(table, allow_pickle=False)
    names = set(arrays.files)

    def of(key, i):
        present = arrays[key + ".present"][i] if key + ".present" in names else True
        names.discard(key + ".present")
        if not present:
            return None
        if key in names | seen:
            names.discard(key)
            seen.add(key)
            a = cached(key)[i]
            if kinds[key] == "bytes_list" and a.dtype == np.uint8:
                return [a.tobytes()]
        else:
            values, splits = cached(key + ".values"), cached(key + ".row_splits")
            names.difference_update([key + ".values", key + ".row_splits"])
            if key + ".value_splits" in arrays.files:
                names.discard(key + ".value_splits")
                starts = cached(key + ".value_splits")
                return [values[starts[j] : starts[j + 1]].tobytes() for j in range(splits[i], splits[i + 1])]
            a = values[splits[i] : splits[i + 1]]
            if a.dtype == np.uint8:
                return [a.tobytes()]
        return [v.encode() if isinstance(v, str) else v for v in np.atleast_1d(a).tolist()]

    seen, cache = set(), {}

    def cached(name):
        if name not in cache:
            cache[name] = arrays[name]
        return cache[name]

    present = {key: arrays[key + ".present"] for key in kinds if key + ".present" in names}
    for i in range(len(want)):
        out = {}
        for key in kinds:
            v = of(key, i) if key not in present or present[key][i] else None
            if v is not None:
                out[key] = v
        yield out
    if names - {k + ".present" for k in present}:
        print("arrays of no feature:", sorted(names), file=answers)


def same(key, a, b):
    if a is None or b is None or len(a) != len(b):
        return a is b
    if kinds[key] == "float_list":
        return np.array(a, np.float32).tobytes() == np.array(b, np.float32).tobytes() or np.array_equal(
            np.array(a, np.float32), np.array(b, np.float32), equal_nan=True)
    return list(a) == list(b)


readers = {"csv": read_csv, "jsonl": read_jsonl, "parquet": read_parquet, "npz": read_npz}
for table in sys.argv[2:]:
    how = table.rsplit(".", 1)[1]
    got = list(readers[how](table))
    if len(got) != len(want):
        print(f"{how}: {len(got)} rows for {len(want)} records", file=answers)
    for i, (a, b) in enumerate(zip(got, want)):
        for key in kinds:
            if not same(key, a.get(key), b.get(key)):
                print(f"{how}: record {i}: {key} is {a.get(key)!r:.200}, and in the record {b.get(key)!r:.200}", file=answers)
    print(f"{how}: {len(got)} records, {len(kinds)} features", file=answers)
