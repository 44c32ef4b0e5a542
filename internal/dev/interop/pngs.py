"""What Pillow makes of PNGs, to judge package augment's encoder.

A request a line on stdin, with the path of a PNG, and of its pixels row by row: {"path", "pixels", "width", "height", "channels"}.
An answer a line on stdout: {"same": whether Pillow reads these pixels, "size": of the PNG that Pillow writes of them at its defaults,
"seconds": of CPU time that this takes}.
"""
import io, json, sys, time

from PIL import Image

for line in sys.stdin:
    q = json.loads(line)
    with open(q["pixels"], "rb") as f:
        im = Image.frombytes("L" if q["channels"] == 1 else "RGB", (q["width"], q["height"]), f.read())
    with Image.open(q["path"]) as ours:
        same = ours.mode == im.mode and ours.size == im.size and ours.tobytes() == im.tobytes()
    out, begun = io.BytesIO(), time.process_time()
    im.save(out, "PNG")
    print(json.dumps({"same": same, "size": len(out.getvalue()), "seconds": time.process_time() - begun}), flush=True)
