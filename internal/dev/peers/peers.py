"""Times tfrec and its peers in turn, on the same data in the same run, and prints ratios.

usage: peers.py [--large DIR] TFREC PHOTOS [WORK...]     PHOTOS: a directory of JPEGs, such as class directories; DIR: real photographs of many megapixels

Each piece of work is done by tfrec (the built command, shards on disk, synced) and by each peer, best of three, one after the other
in rounds, so that a machine that slows down slows all of them. Machines differ; the ratios are what to read. The second ratio is that
of the CPU time, of all threads, the least of three: what else runs on the machine changes it less.
"""
import concurrent.futures, csv, ctypes.util, glob, io, itertools, json, os, random, resource, shutil, subprocess, sys, time

from inputs import ARGS, TMP, annotated, large, many, photos, pngs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROUNDS, THREADS, SIZE = 3, 2, 224
TFREC, REPOSITORY = ARGS.tfrec, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def tfrec(*args):
    out = os.path.join(TMP, "out")
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([TFREC, *(out if a is None else str(a) for a in args), "--quiet", "--json"], check=True, stdout=subprocess.DEVNULL)


def pool(files, work):
    """Works on the files in a pool of threads: the libraries let go of the lock."""
    def run():
        with concurrent.futures.ThreadPoolExecutor(THREADS) as p:
            list(p.map(work, files))
    return run


def imaging(src):
    """The Go program of this folder, with image/jpeg and disintegration/imaging."""
    built = os.path.join(TMP, "imaging")
    subprocess.run(["go", "build", "-o", built, "./internal/dev/peers/imaging"], cwd=REPOSITORY, check=True)
    return lambda: subprocess.run([built, src, str(THREADS)], check=True)


def opencv(flag):
    import cv2, numpy as np
    cv2.setNumThreads(1)

    def one(path):
        im = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
        cv2.imencode(".jpg", cv2.resize(im, (SIZE, SIZE), interpolation=getattr(cv2, flag)), [cv2.IMWRITE_JPEG_QUALITY, 95])
    return one


def pillow(draft):
    from PIL import Image

    def one(path):
        im = Image.open(path)
        if draft:
            im.draft("RGB", (SIZE, SIZE))
        im.convert("RGB").resize((SIZE, SIZE), Image.BILINEAR).save(io.BytesIO(), "JPEG", quality=95)
    return one


def tensorflow(files, antialias):
    import tensorflow as tf

    def one(path):
        im = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), (SIZE, SIZE), antialias=antialias)
        return tf.io.encode_jpeg(tf.cast(tf.clip_by_value(tf.round(im), 0, 255), tf.uint8), quality=95)

    def run():
        for _ in tf.data.Dataset.from_tensor_slices(files).map(one, num_parallel_calls=THREADS).prefetch(4):
            pass
    return run


def dali(files):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=32, num_threads=THREADS, device_id=None)
    def pipe():
        data, _ = fn.readers.file(files=files)
        return fn.resize(fn.decoders.image(data, device="cpu", output_type=types.RGB), resize_x=SIZE, resize_y=SIZE)

    p = pipe()
    p.build()

    def run():
        for _ in range((len(files) + 31) // 32):
            p.run()
    return run


def pictures():
    """decode, 224x224 antialiased, JPEG q95"""
    src = many(1500)
    files = sorted(glob.glob(src + "/*/*.jpg"))
    args = ["convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS]
    yield len(files), "tfrec", lambda: tfrec(*args, "--decoder", "auto")
    if ctypes.util.find_library("turbojpeg"):
        yield len(files), "tfrec, by libjpeg-turbo", lambda: tfrec(*args, "--decoder", "turbo")
    yield len(files), "OpenCV INTER_AREA", pool(files, opencv("INTER_AREA"))
    yield len(files), "Pillow", pool(files, pillow(False))
    yield len(files), "Pillow with draft", pool(files, pillow(True))
    yield len(files), "tf.data, antialiased", tensorflow(files, True)


def png(kind):
    """Work on PNGs of a kind."""
    def run():
        src = pngs(300, kind)
        files = sorted(glob.glob(src + "/*/*.png"))
        yield len(files), "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS)
        yield len(files), "OpenCV INTER_AREA", pool(files, opencv("INTER_AREA"))
        yield len(files), "Pillow", pool(files, pillow(False))
    run.__doc__ = f"PNGs, {kind}: decode, 224x224 antialiased, JPEG q95"
    return run


def builtin():
    """decode, 224x224 antialiased, JPEG q95, without libjpeg-turbo"""
    src = many(1500)
    files = len(glob.glob(src + "/*/*.jpg"))
    yield files, "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS, "--decoder", "go")
    yield files, "image/jpeg and imaging, Go", imaging(src)


def photographs():
    """decode photographs of 4 to 15 megapixels, 224x224 antialiased, JPEG q95"""
    src = large(54)
    files = sorted(glob.glob(src + "/*/*.jpg"))
    yield len(files), "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS)
    yield len(files), "Pillow with draft", pool(files, pillow(True))
    yield len(files), "OpenCV INTER_LINEAR", pool(files, opencv("INTER_LINEAR"))


def encoded(name, extension, **options):
    """Work on photographs that Pillow wrote in another format, repeated."""
    def work():
        from PIL import Image
        src, files, made = os.path.join(TMP, name), [], photos()[:60]
        for i in range(500):
            os.makedirs(d := f"{src}/c{i % 7}", exist_ok=True)
            files.append(f"{d}/{i}.{extension}")
            if i < len(made):
                Image.open(made[i]).convert("RGB").save(files[-1], **options)
            else:
                shutil.copy(files[i % len(made)], files[-1])
        yield len(files), "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS)
        if extension != "gif":  # which OpenCV reads if it was built with it
            yield len(files), "OpenCV INTER_AREA", pool(files, opencv("INTER_AREA"))
        yield len(files), "Pillow", pool(files, pillow(False))
    work.__doc__ = f"decode {name} made of the photographs, 224x224 antialiased, JPEG q95"
    return work


def png_encode(kind):
    """Work that makes PNGs of photographs as JPEGs, or of noise as BMPs."""
    def run():
        from PIL import Image
        mode, src = ("L" if kind == "gray" else "RGB"), os.path.join(TMP, "noise")
        if kind == "noise":
            os.makedirs(src + "/c")
            for i in range(500):
                Image.frombytes(mode, (SIZE, SIZE), random.Random(i).randbytes(3 * SIZE * SIZE)).save(f"{src}/c/{i}.bmp")
        else:
            src = many(500)
        files = sorted(glob.glob(src + "/*/*.*"))

        def one(path):
            Image.open(path).convert(mode).resize((SIZE, SIZE), Image.BILINEAR).save(io.BytesIO(), "PNG")

        yield len(files), "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--encode", "png", "--channels", len(mode), "--shards", 4, "--workers", THREADS)
        yield len(files), "Pillow", pool(files, one)
    run.__doc__ = f"{kind}: decode, 224x224 antialiased, PNG; Pillow at its defaults"
    return run


def workers():
    """decode, 224x224 antialiased, JPEG q95, by two workers and by one"""
    src = many(3000)
    files = len(glob.glob(src + "/*/*.jpg"))
    for n, name in (2, "tfrec"), (1, "tfrec, one worker"):
        yield files, name, lambda n=n: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", n)


def raw():
    """decode, 224x224 antialiased, raw bytes"""
    src = many(1500)
    files = sorted(glob.glob(src + "/*/*.jpg"))
    yield len(files), "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--encode", "raw", "--shards", 4, "--workers", THREADS)
    try:
        yield len(files), "DALI on the CPU", dali(files)
    except ImportError:
        print("raw: no DALI in this Python (pip install nvidia-dali-cuda120): not compared", file=sys.stderr)


def table():
    """a CSV of 32 columns to Examples; the loop is csv.DictReader, tf.train.Example, TFRecordWriter"""
    rows, loop_rows, path = 300_000, 20_000, os.path.join(TMP, "table.csv")
    rnd = random.Random(1)
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["Time"] + [f"V{i}" for i in range(1, 29)] + ["Amount", "Merchant", "Class"])
        for i in range(rows):
            w.writerow([i] + [round(rnd.gauss(0, 1), 6) for _ in range(28)] + [round(rnd.random() * 500, 2), f"merchant {i % 977}", int(i % 600 == 0)])

    def loop():
        import tensorflow as tf
        feature = {
            int: lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=[int(v)])),
            float: lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=[float(v)])),
            bytes: lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.encode()])),
        }
        kinds = {"Time": int, "Class": int, "Merchant": bytes}
        with open(path, newline="") as f, tf.io.TFRecordWriter(os.path.join(TMP, "loop.tfrecord")) as w:
            for row in itertools.islice(csv.DictReader(f), loop_rows):
                features = {k: feature[kinds.get(k, float)](v) for k, v in row.items()}
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())

    yield rows, "tfrec", lambda: tfrec("convert", "csv", path, None, "--shards", 4)
    yield loop_rows, "Python loop", loop


def lines():
    """JSON lines of events to Examples; the loop is json.loads, tf.train.Example, TFRecordWriter"""
    rows, loop_rows, path = 300_000, 20_000, os.path.join(TMP, "events.jsonl")
    rnd = random.Random(1)
    with open(path, "w") as f:
        for i in range(rows):
            f.write(json.dumps({"id": i, "time": round(rnd.random() * 1e6, 3), "kind": f"kind {i % 7}", "ok": i % 3 == 0, "scores": [round(rnd.random(), 4) for _ in range(3)], "user": {"name": f"user {i % 977}", "age": i % 90}}) + "\n")

    def loop():
        import tensorflow as tf

        def feature(v):
            v = v if isinstance(v, list) else [v]
            if isinstance(v[0], float):
                return tf.train.Feature(float_list=tf.train.FloatList(value=v))
            if isinstance(v[0], int):
                return tf.train.Feature(int64_list=tf.train.Int64List(value=map(int, v)))  # also booleans
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[s.encode() for s in v]))

        with open(path) as f, tf.io.TFRecordWriter(os.path.join(TMP, "loop.tfrecord")) as w:
            for line in itertools.islice(f, loop_rows):
                row = json.loads(line)
                row.update({f"user/{k}": v for k, v in row.pop("user").items()})
                features = {k: feature(v) for k, v in row.items()}
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())

    yield rows, "tfrec", lambda: tfrec("convert", "table", path, None, "--shards", 4)
    yield loop_rows, "Python loop", loop


def parquet():
    """Parquet of 32 columns to Examples; the loop is pyarrow's batches, tf.train.Example, TFRecordWriter"""
    import pyarrow as pa, pyarrow.parquet as pq
    rows, loop_rows, path = 300_000, 20_000, os.path.join(TMP, "table.parquet")
    rnd = random.Random(1)
    columns = {"Time": pa.array(range(rows))}
    columns |= {f"V{i}": pa.array([rnd.gauss(0, 1) for _ in range(rows)], pa.float32()) for i in range(1, 29)}
    columns |= {"Amount": pa.array([rnd.random() * 500 for _ in range(rows)]), "Merchant": pa.array([f"merchant {i % 977}" for i in range(rows)])}
    pq.write_table(pa.table(columns | {"Class": pa.array([int(i % 600 == 0) for i in range(rows)])}), path, row_group_size=50_000)

    def loop():
        import tensorflow as tf
        feature = {
            int: lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=[v])),
            float: lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=[v])),
            str: lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.encode()])),
        }
        batch = next(pq.ParquetFile(path).iter_batches(loop_rows))
        with tf.io.TFRecordWriter(os.path.join(TMP, "loop.tfrecord")) as w:
            for row in batch.to_pylist():
                features = {k: feature[type(v)](v) for k, v in row.items()}
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())

    yield rows, "tfrec", lambda: tfrec("convert", "table", path, None, "--shards", 4)
    yield loop_rows, "Python loop", loop


def boxes():
    """the same photographs with 10 boxes each and with the classes of their directories, 224x224 antialiased, JPEG q95"""
    src = many(1500)
    args, path = ["convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--shards", 4, "--workers", THREADS], annotated(src, False)
    yield 1500, "tfrec", lambda: tfrec(*args, "--annotations", path)
    yield 1500, "tfrec, classes", lambda: tfrec(*args)


def masks():
    """photographs with masks of 10 polygons each, 224x224 antialiased, JPEG q95; the loop is pycocotools, Pillow, tf.train.Example, TFRecordWriter"""
    src = many(300)
    path = annotated(src, True)

    def loop():
        import contextlib
        import tensorflow as tf
        from PIL import Image
        from pycocotools.coco import COCO

        def png(im):
            im.save(buf := io.BytesIO(), "PNG")
            return buf.getvalue()

        with contextlib.redirect_stdout(io.StringIO()):
            coco = COCO(path)
        with tf.io.TFRecordWriter(os.path.join(TMP, "loop.tfrecord")) as w:
            for info in coco.imgs.values():
                Image.open(os.path.join(src, info["file_name"])).convert("RGB").resize((SIZE, SIZE), Image.BILINEAR).save(image := io.BytesIO(), "JPEG", quality=95)
                objects = coco.imgToAnns[info["id"]]
                edges = [[(a["bbox"][i] + (a["bbox"][i + 2] if far else 0)) / info["height" if i else "width"] for a in objects] for i in (0, 1) for far in (0, 1)]
                features = {f"image/object/bbox/{k}": tf.train.Feature(float_list=tf.train.FloatList(value=v)) for k, v in zip(("xmin", "xmax", "ymin", "ymax"), edges)}
                shown = [png(Image.fromarray(coco.annToMask(a)).resize((SIZE, SIZE), Image.NEAREST)) for a in objects]
                for k, v in ("encoded", [image.getvalue()]), ("object/mask", shown):
                    features[f"image/{k}"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
                features["image/object/class/label"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[a["category_id"] for a in objects]))
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())

    yield 300, "tfrec", lambda: tfrec("convert", "images", src, None, "--resize", f"{SIZE}x{SIZE}", "--annotations", path, "--instance-masks", "--shards", 4, "--workers", THREADS)
    yield 300, "Python loop", loop


WORK = {"pictures": pictures, "builtin": builtin, "photographs": photographs, "workers": workers, "raw": raw, "table": table, "lines": lines, "parquet": parquet, "boxes": boxes, "masks": masks}
WORK |= {"png-" + kind.replace(" ", "-"): png(kind) for kind in ("RGB", "RGBA", "gray", "palette", "16 bits", "interlaced")}
WORK |= {"png-encode": png_encode("photographs"), "png-encode-gray": png_encode("gray"), "png-encode-noise": png_encode("noise")}
WORK |= {"webp": encoded("lossy WebP", "webp", quality=80), "webp-lossless": encoded("lossless WebP", "webp", lossless=True)}
WORK |= {"gif": encoded("GIF", "gif"), "bmp": encoded("BMP", "bmp"), "tiff": encoded("TIFF, LZW", "tif", compression="tiff_lzw")}


def cpu():
    """The CPU time of this process and of those it waited for, in seconds."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def main():
    try:
        for name in ARGS.work or WORK:
            contenders, best = list(WORK[name]()), {}
            for _ in range(ROUNDS):
                for amount, who, run in contenders:
                    begun, worked = time.perf_counter(), cpu()
                    run()
                    rates = amount / (time.perf_counter() - begun), amount / max(cpu() - worked, 1e-6)
                    best[who] = tuple(map(max, best.get(who, (0, 0)), rates))
            print(f"\n{name}: {WORK[name].__doc__}")
            for who, rates in best.items():
                wall, busy = (ours / rate for ours, rate in zip(best["tfrec"], rates))
                ratio = "" if who == "tfrec" else f"   tfrec does {wall:.2f} times as many, {busy:.2f} times by CPU time"
                print(f"  {who:26s}{rates[0]:12,.0f}/s{ratio}", flush=True)
    finally:
        shutil.rmtree(TMP, ignore_errors=True)


if __name__ == "__main__":
    main()
