"""Times tfrec and its peers in turn, on the same data in the same run, and prints ratios.

usage: peers.py [--large DIR] TFREC PHOTOS [WORK...]     PHOTOS: a directory of JPEGs, such as class directories; DIR: real photographs of many megapixels

Each piece of work is done by tfrec (the built command, shards on disk, synced) and by each peer, best of three, one after the other
in rounds, so that a machine that slows down slows all of them. Machines differ; the ratios are what to read.
"""
import argparse, concurrent.futures, csv, ctypes.util, glob, io, itertools, json, os, random, shutil, subprocess, sys, tempfile, time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROUNDS, THREADS, SIZE = 3, 2, 224
ARGS = argparse.ArgumentParser()
ARGS.add_argument("--large", default="")
ARGS.add_argument("tfrec", type=os.path.abspath)
ARGS.add_argument("photos", type=os.path.abspath)
ARGS.add_argument("work", nargs="*")
ARGS = ARGS.parse_args()
TFREC, PHOTOS, REPOSITORY = ARGS.tfrec, ARGS.photos, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TMP = tempfile.mkdtemp(prefix="tfrec-peers-")


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


def jpegs(directory):
    """The JPEG files in a directory and below it, sorted: those whose names tfrec takes for JPEG's."""
    found = [os.path.join(d, name) for d, _, names in os.walk(directory) for name in names if not name.startswith(".")]
    return sorted(path for path in found if path.lower().endswith((".jpg", ".jpeg", ".jpe", ".jfif")))


def photos():
    """The files of PHOTOS. Without any there is nothing to time, and the run ends."""
    return jpegs(PHOTOS) or sys.exit(f"peers.py: no JPEG files in {PHOTOS}: give a directory of photographs (make bench-peers PHOTOS=DIR)")


def many(n):
    """A directory of n photographs in class directories: those of PHOTOS, repeated."""
    src, files = os.path.join(TMP, f"many{n}"), photos()
    for i in range(n):
        d = f"{src}/c{i % 7}"
        os.makedirs(d, exist_ok=True)
        shutil.copy(files[i % len(files)], f"{d}/{i}.jpg")
    return src


def large(n):
    """A directory of n photographs of 4 to 15 megapixels: real ones of at least that size, cut to shape and reduced; without any, PHOTOS' own enlarged."""
    from PIL import Image, ImageOps
    src, made, sizes = os.path.join(TMP, "large"), [], [(2560, 1600), (2880, 1800), (3840, 2160), (5120, 2880)]

    def holds(path, size):
        with Image.open(path) as im:
            return im.width >= size[0] and im.height >= size[1]

    real = [path for path in jpegs(ARGS.large) if holds(path, sizes[0])] if ARGS.large else []
    print(f"large: {len(real)} real photographs, reduced" if real else "large: no real photographs (--large DIR): small ones enlarged, which decode faster", file=sys.stderr)
    for path in real or photos()[:3]:
        im = Image.open(path).convert("RGB")
        for size in sizes:
            if not real or holds(path, size):
                buf = io.BytesIO()
                ImageOps.fit(im, size, Image.LANCZOS).save(buf, "JPEG", quality=90)
                made.append(buf.getvalue())
    for i in range(n):
        os.makedirs(f"{src}/c{i % 7}", exist_ok=True)
        with open(f"{src}/c{i % 7}/{i}.jpg", "wb") as f:
            f.write(made[i % len(made)])
    return src


def imaging(src):
    """The Go program of this folder, with image/jpeg and disintegration/imaging."""
    built = os.path.join(TMP, "imaging")
    subprocess.run(["go", "build", "-o", built, "./internal/peers/imaging"], cwd=REPOSITORY, check=True)
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


WORK = {"pictures": pictures, "builtin": builtin, "photographs": photographs, "workers": workers, "raw": raw, "table": table}


def main():
    try:
        for name in ARGS.work or WORK:
            contenders, best = list(WORK[name]()), {}
            for _ in range(ROUNDS):
                for amount, who, run in contenders:
                    begun = time.perf_counter()
                    run()
                    best[who] = max(best.get(who, 0), amount / (time.perf_counter() - begun))
            print(f"\n{name}: {WORK[name].__doc__}")
            for who, rate in best.items():
                ratio = "" if who == "tfrec" else f"   tfrec does {best['tfrec'] / rate:.2f} times as many"
                print(f"  {who:26s}{rate:12,.0f}/s{ratio}", flush=True)
    finally:
        shutil.rmtree(TMP, ignore_errors=True)


if __name__ == "__main__":
    main()
