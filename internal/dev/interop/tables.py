"""Writes tables with random schemas, values and encodings, and says what pyarrow and numpy read of them, to judge internal/table.

A request a line on stdin: {"path", "format": "parquet"|"file"|"stream"|"feather"|"npz"|"npy", "seed", "rows"}. An answer a line
on stdout: {"unreadable"} or {"options", "columns": [{"name", "kind", "rows"}]}, where each row is null (missing), the text "bad" (a null in a list)
or a list of values in the written form of judge.py.
"""
import datetime, decimal, io, json, os, random, struct, sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import numpy as np
import pyarrow as pa, pyarrow.feather, pyarrow.parquet as pq


def scalar(r, arrow):
    """A type, and a function that makes values of it."""
    whole = lambda bits, sign: lambda: r.choice([0, 1, (1 << bits - 1) - 1, -(1 << bits - 1) if sign else 5, r.randrange(1 << bits - 1)])
    text = lambda: r.choice(["", "a", "ü", "日本", "x" * r.randrange(40), str(r.random())])
    data = lambda: r.choice([b"", b"\xff\x00", os.urandom(r.randrange(20)), b"z" * 9])
    number = lambda p, s: lambda: decimal.Decimal(r.randrange(-10**p + 1, 10**p)).scaleb(-s)
    kinds = [(pa.bool_(), lambda: r.random() < 0.5)]
    kinds += [(getattr(pa, f"int{b}")(), whole(b, True)) for b in (8, 16, 32, 64)]
    kinds += [(getattr(pa, f"uint{b}")(), lambda b=b: r.choice([0, (1 << b) - 1 if b < 64 else (1 << 63) - 1, r.randrange(1 << b - 1)])) for b in (8, 16, 32, 64)]
    kinds += [(pa.float16(), lambda: np.float16(r.choice([0, -1.5, 65504, 6e-8, r.uniform(-9, 9)]))), (pa.float32(), lambda: r.choice([0.0, -0.0, 1e-45, r.uniform(-1e9, 1e9)])), (pa.float64(), lambda: r.uniform(-1e9, 1e9))]
    kinds += [(t, text) for t in (pa.string(), pa.large_string())] + [(t, data) for t in (pa.binary(), pa.large_binary())] + [(pa.binary(3), lambda: os.urandom(3))]
    kinds += [(pa.date32(), lambda: datetime.date(1900 + r.randrange(200), 2, 3)), (pa.date64(), lambda: datetime.date(1900 + r.randrange(200), 2, 3)), (pa.time32("ms"), lambda: datetime.time(3, 4, 5, 6000)), (pa.time64("us"), lambda: datetime.time(23, r.randrange(60), 5, 6))]
    kinds += [(t, lambda: datetime.datetime(1960 + r.randrange(90), 3, 1, 12, 0, r.randrange(60))) for t in (pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns"))]
    kinds += [(pa.decimal128(p, s), number(p, s)) for p, s in ((5, 2), (18, 0), (38, 20))] + [(pa.decimal256(60, 30), number(60, 30))]
    kinds += [(pa.dictionary(pa.int8(), pa.string()), text), (pa.null(), lambda: None)]
    if arrow:
        kinds += [(pa.string_view(), text), (pa.binary_view(), data), (pa.duration("us"), lambda: datetime.timedelta(seconds=r.randrange(-9, 99))), (pa.dictionary(pa.uint16(), pa.int64()), lambda: r.randrange(3))]
    return r.choice(kinds)


def column(r, arrow, depth=0):
    """A type that features can hold, and a function that makes values of it."""
    nulls = r.choice([0, 0, 0.3, 0.9])
    maybe = lambda make: lambda: None if r.random() < nulls else make()
    shape = r.choice(["scalar"] * 3 + ["list", "large", "fixed", "struct", "structs"]) if depth < 2 else "scalar"
    if shape == "struct":
        parts = {f"m{i}": column(r, arrow, depth + 1) for i in range(r.randrange(1, 4))}
        return pa.struct([(k, t) for k, (t, _) in parts.items()]), maybe(lambda: {k: f() for k, (_, f) in parts.items()})
    t, make = scalar(r, arrow)
    if shape == "scalar":
        return t, maybe(make)
    inner = make if r.random() < 0.7 else lambda: None if r.random() < 0.1 else make()
    if shape == "structs":
        return pa.list_(pa.struct([("p", t), ("q", pa.int32())])), maybe(lambda: [{"p": inner(), "q": i} for i in range(r.randrange(4))])
    if shape == "fixed":
        return pa.list_(t, 3), maybe(lambda: [inner() for _ in range(3)])
    return (pa.large_list if shape == "large" else pa.list_)(t), maybe(lambda: [inner() for _ in range(r.choice([0, 1, 2, 5, 30]))])


def kind_of(t):
    if pa.types.is_dictionary(t):
        return kind_of(t.value_type)
    if pa.types.is_null(t):
        return "unknown"
    return "float" if pa.types.is_floating(t) or pa.types.is_decimal(t) else "bytes" if any(f(t) for f in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_string_view, pa.types.is_binary_view)) else "int64"


def values(a):
    """The values of an array in their written form, None for nulls."""
    t = a.type
    if pa.types.is_dictionary(t):
        return values(a.cast(t.value_type))
    if pa.types.is_null(t):
        return [None] * len(a)
    kind = kind_of(t)
    if pa.types.is_temporal(t):
        a = a.view(pa.int32() if t.bit_width == 32 else pa.int64())
    if kind == "float":
        return [None if v is None else "%08x" % np.float32(float(v)).view(np.uint32) for v in a.to_pylist()]
    if kind == "bytes":
        return [None if v is None else (v.encode() if isinstance(v, str) else v).hex() for v in a.to_pylist()]
    return [None if v is None else str(int(v)) for v in a.to_pylist()]


def columns(name, a, around=None):
    """The columns that an array becomes; around says for each row whether structs around it are there."""
    around = around or [True] * len(a)
    t = a.type
    if pa.types.is_struct(t):
        there = [x and v for x, v in zip(around, a.is_valid().to_pylist())]
        for i in range(t.num_fields):
            yield from columns(f"{name}/{t.field(i).name}", a.field(i), there)
    elif pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        there = [x and v for x, v in zip(around, a.is_valid().to_pylist())]
        flat, lengths = a.flatten(), [v or 0 for v in a.value_lengths().to_pylist()] if not pa.types.is_fixed_size_list(t) else [t.list_size if v else 0 for v in a.is_valid().to_pylist()]
        for part, kind, elements in members(name, flat):
            rows, at = [], 0
            for ok, n in zip(there, lengths):
                row = elements[at:at + n]
                at += n
                rows.append(None if not ok else "bad" if None in row else row)
            yield {"name": part, "kind": kind, "rows": rows}
    else:
        yield {"name": name, "kind": kind_of(t), "rows": [[v] if ok and v is not None else None for ok, v in zip(around, values(a))]}


def members(name, a, around=None):
    if pa.types.is_struct(a.type):
        there = a.is_valid().to_pylist()
        for i in range(a.type.num_fields):
            yield from members(f"{name}/{a.type.field(i).name}", a.field(i), there)
    else:
        yield name, kind_of(a.type), [v if ok else None for v, ok in zip(values(a), around or [True] * len(a))]


def arrow_table(r, path, form, n):
    arrow = form != "parquet"
    made = {f"c{i}": column(r, arrow) for i in range(r.randrange(1, 7))}
    t = pa.table({k: pa.array([f() for _ in range(n)], typ) for k, (typ, f) in made.items()})
    chunk = r.choice([1, 7, 64, 1000, 100000])
    if form == "parquet":
        o = dict(row_group_size=chunk, compression=r.choice(["snappy", "zstd", "gzip", "brotli", "lz4", "none"]), data_page_version=r.choice(["1.0", "2.0"]), use_dictionary=r.random() < 0.5, data_page_size=r.choice([20, 500, 1 << 20]), write_statistics=r.random() < 0.7,
                 write_page_checksum=r.random() < 0.3, use_compliant_nested_type=r.random() < 0.7, store_decimal_as_integer=r.random() < 0.5, write_page_index=r.random() < 0.3, write_batch_size=r.choice([3, 100, 1024]), max_rows_per_page=r.choice([2, 50, 20000]))
        ts = any("timestamp" in str(f.type) for f in t.schema)
        o["use_deprecated_int96_timestamps"] = ts and r.random() < 0.3
        if not o["use_dictionary"]:
            delta = {"INT32": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN"], "INT64": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN"], "BYTE_ARRAY": ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"], "FIXED_LEN_BYTE_ARRAY": ["DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"], "FLOAT": ["BYTE_STREAM_SPLIT"], "DOUBLE": ["BYTE_STREAM_SPLIT"], "BOOLEAN": ["RLE", "PLAIN"]}
            b = io.BytesIO()
            pq.write_table(t, b, **o)
            s = pq.ParquetFile(b).schema
            o["column_encoding"] = {s.column(i).path: r.choice(delta[s.column(i).physical_type]) for i in range(len(s)) if s.column(i).physical_type in delta}
        pq.write_table(t, path, store_schema=r.random() < 0.5, **o)
        b = io.BytesIO()
        pq.write_table(t, b, store_schema=False, **o)
        t = pq.read_table(b)
    elif form == "feather":
        o = dict(compression=r.choice(["lz4", "zstd", "uncompressed"]), chunksize=chunk)
        pyarrow.feather.write_feather(t, path, **o)
    else:
        o = dict(compression=r.choice([None, "lz4", "zstd"]), emit_dictionary_deltas=r.random() < 0.5, unify_dictionaries=form == "file")
        with (pa.ipc.new_file if form == "file" else pa.ipc.new_stream)(path, t.schema, options=pa.ipc.IpcWriteOptions(**o)) as w:
            w.write_table(t, max_chunksize=chunk)
        o["chunk"] = chunk
    return o, [c for name in t.column_names for c in columns(name, t[name].combine_chunks() if t[name].num_chunks != 1 else t[name].chunk(0))]


def arrays(r, path, form, n):
    made = {}
    for i in range(1 if form == "npy" else r.randrange(1, 7)):
        t = r.choice(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "U5", "S4", "M8[s]"])
        t = t if t[0] in "?S" else r.choice("<>") + t
        shape = (n,) + r.choice([(), (), (3,), (2, 3), (1,), (0,)])
        raw = np.array([r.choice(["", "a", "ü", "日本"]) for _ in range(int(np.prod(shape)))]) if "U" in t else np.array([r.choice([b"", b"a\x00b", b"\xff"]) for _ in range(int(np.prod(shape)))], "S4") if t[0] == "S" else np.array([r.choice([0, 1, 127, r.randrange(90)]) for _ in range(int(np.prod(shape)))], "i8")
        a = raw.reshape(shape).astype(t)
        made[f"a{i}"] = np.asfortranarray(a) if r.random() < 0.4 else a
    if form == "npy":
        made = {os.path.basename(path)[:-4]: a for a in made.values()}
        np.save(path, *made.values())
    else:
        (np.savez_compressed if r.random() < 0.5 else np.savez)(path, **made)
    out = []
    for name, a in made.items():
        kind = {"f": "float", "U": "bytes", "S": "bytes"}.get(a.dtype.kind, "int64")
        flat = a.reshape(n, -1) if a.size else a.reshape(n, 0)
        flat = flat.view("i8" if a.dtype.byteorder != ">" else ">i8") if a.dtype.kind == "M" and a.size else flat
        form1 = {"float": lambda v: "%08x" % np.float32(v).view(np.uint32), "bytes": lambda v: (v.encode() if isinstance(v, str) else bytes(v)).hex(), "int64": lambda v: str(int(v))}[kind]
        out.append({"name": name, "kind": kind, "rows": [[form1(v) for v in row] for row in flat]})
    return {"dtypes": [str(a.dtype) for a in made.values()]}, out


for line in sys.stdin:
    q = json.loads(line)
    r = random.Random(q["seed"])
    try:
        o, c = (arrays if q["format"] in ("npz", "npy") else arrow_table)(r, q["path"], q["format"], q["rows"])
        print(json.dumps({"options": str(o), "columns": c}), file=answers, flush=True)
    except (pa.ArrowInvalid, IndexError) as e:  # some of its files pyarrow cannot read itself
        print(json.dumps({"unreadable": str(e)}), file=answers, flush=True)
