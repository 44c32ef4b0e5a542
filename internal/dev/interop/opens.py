"""Whether TensorFlow opens images, and images that Pillow writes.

A request a line on stdin, an answer a line on stdout; files are in base64. {"make": FORMAT, "seed": N} makes an image of a random kind of
FORMAT (jpeg, png, gif, bmp or webp): {"file": ...}. {"files": [...]} says for each file why tf.io.decode_image does not open it, "" if it
does: {"errors": [...]}. {"pixels": [...]} has the RGB pixels of each file, upright, as Pillow reads it: {"pixels": [...]}.
"""
import base64, io, json, os, random, subprocess, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
answers, sys.stdout = sys.stdout, sys.stderr  # libraries print what they like elsewhere

# Modes that both TensorFlow and Pillow have in a format.
MODES = {"jpeg": ["L", "RGB", "CMYK"], "png": ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"], "gif": ["L", "P", "RGB"], "bmp": ["L", "RGB", "RGBA"], "webp": ["RGB", "RGBA"]}


def make(kind, seed):
    rnd = random.Random(seed)
    width, height = rnd.choice([(1, 1), (rnd.randint(1, 40), rnd.randint(1, 40)), (rnd.randint(30, 120), rnd.randint(30, 120))])
    mode = rnd.choice(MODES[kind])
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)
    if rnd.random() < 0.6:  # smooth
        noise = (np.add.outer(np.arange(height), np.arange(width))[..., None] * [1, 2, 3, 4] % 256).astype(np.uint8)
    if mode == "I;16":
        im = Image.fromarray(noise[..., 0].astype(np.uint16) * 257 + 3)
    else:
        im = Image.fromarray(noise[..., :3]).convert(mode)
        if mode in ("LA", "RGBA"):
            im.putalpha(Image.fromarray(noise[..., 3]))
    options = {
        "jpeg": {"quality": rnd.choice([5, 50, 90, 100]), "progressive": rnd.random() < 0.3, "optimize": rnd.random() < 0.3, "subsampling": rnd.choice([0, 1, 2])},
        "png": {"compress_level": rnd.choice([0, 1, 9])},
        "gif": {"interlace": rnd.choice([0, 1])},
        "webp": {"lossless": rnd.random() < 0.5, "quality": rnd.choice([0, 50, 100]), "method": rnd.randint(0, 6)},
    }.get(kind, {})
    if kind == "jpeg" and rnd.random() < 0.3:
        options["restart_marker_rows"] = 1
    if kind in ("jpeg", "png", "webp") and rnd.random() < 0.3:
        exif = Image.Exif()
        exif[274] = rnd.randint(1, 8)
        options["exif"] = exif
    if kind == "gif" and rnd.random() < 0.3:
        options.update(save_all=True, append_images=[im.rotate(90), im.transpose(0)])
    if kind == "png" and mode in ("L", "RGB", "P") and rnd.random() < 0.2:
        options["transparency"] = (1, 2, 3) if mode == "RGB" else 1
    out = io.BytesIO()
    im.save(out, kind, **options)
    return out.getvalue()


def pixels(data):
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))[..., :3].tobytes()


def error(data):
    try:
        tf.io.decode_image(data, expand_animations=False)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""


class Worker:
    """A process that opens images, and is started again when TensorFlow has crashed it: what is damaged corrupts its memory."""

    def __init__(self):
        self.process = None

    def error(self, data):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, "-B", __file__, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            print(data, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer == "":
            self.process.wait()
            self.process = None
            return "it crashes"
        return json.loads(answer)


if sys.argv[1:] == ["worker"]:
    import tensorflow as tf

    for line in sys.stdin:
        print(json.dumps(error(base64.b64decode(line))), file=answers, flush=True)
    sys.exit()

import numpy as np
from PIL import Image, ImageOps

worker = Worker()
for line in sys.stdin:
    q = json.loads(line)
    if "make" in q:
        answer = {"file": base64.b64encode(make(q["make"], q["seed"])).decode()}
    elif "pixels" in q:
        answer = {"pixels": [base64.b64encode(pixels(base64.b64decode(f))).decode() for f in q["pixels"]]}
    else:
        answer = {"errors": [worker.error(f) for f in q["files"]]}
    print(json.dumps(answer), file=answers, flush=True)
