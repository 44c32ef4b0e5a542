"""Makes pycocotools.jsonl, the regions that pycocotools 2.0.11 makes of random polygons:

    python golden.py > pycocotools.jsonl
"""
import json, random
from pycocotools import mask

r = random.Random(1)
for i in range(150):
    w, h = r.randint(1, 60), r.randint(1, 60)
    far = r.choice([.3, 1, 1, 3, 100])
    number = r.choice([lambda m: r.randint(int(-m * far), int(m * (1 + far))), lambda m: round(r.uniform(-m * far, m * (1 + far)), 2), lambda m: r.choice([0, m, m / 2, .5, -.5])])
    polygons = [[number(m) for _ in range(r.randint(3, 12)) for m in (w, h)] for _ in range(r.choice([1, 1, 2, 3, 9]))]
    made = mask.merge(mask.frPyObjects(polygons, h, w))
    print(json.dumps(dict(w=w, h=h, polygons=polygons, counts=made["counts"].decode(), area=int(mask.area(made)), bbox=[int(v) for v in mask.toBbox(made)])))
