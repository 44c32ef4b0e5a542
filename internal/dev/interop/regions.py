"""What pycocotools and protocol buffers make of annotations, to judge packages region and labelmap.

A line of JSON on stdin, and one on stdout: {"w", "h", "polygons"} is answered with {"counts", "area", "box"}, and {"w", "h", "counts"},
runs that are not compressed, too; {"label_map": TEXT} with {"items": [[id, name], ...]}; {"bench": [regions]} with {"seconds"} that a
loop takes which makes a PNG mask of each; {"coco": PATH} with {"seconds"} that Python takes to load that file, and {"annotations":
{id: [file name, category, [x, y, w, h], counts of the mask]}}.
"""
import contextlib, io, json, sys, time

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from PIL import Image
from pycocotools import mask
from pycocotools.coco import COCO

F = descriptor_pb2.FieldDescriptorProto
proto = descriptor_pb2.FileDescriptorProto(name="string_int_label_map.proto", package="object_detection.protos")
item = proto.message_type.add(name="StringIntLabelMapItem")
item.field.add(name="name", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
item.field.add(name="id", number=2, type=F.TYPE_INT32, label=F.LABEL_OPTIONAL)
proto.message_type.add(name="StringIntLabelMap").field.add(name="item", number=1, type=F.TYPE_MESSAGE, type_name=".object_detection.protos.StringIntLabelMapItem", label=F.LABEL_REPEATED)
pool = descriptor_pool.DescriptorPool()
pool.Add(proto)
LabelMap = message_factory.GetMessageClass(pool.FindMessageTypeByName("object_detection.protos.StringIntLabelMap"))



def bench(regions):
    start = time.process_time()
    for q in regions:
        m = mask.decode(mask.merge(mask.frPyObjects(q["polygons"], q["h"], q["w"])))
        Image.fromarray(m).save(io.BytesIO(), "PNG")
    return time.process_time() - start


def coco(path):
    start = time.process_time()
    with open(path) as f:
        json.load(f)
    seconds = time.process_time() - start
    with contextlib.redirect_stdout(sys.stderr):
        c = COCO(path)
    counts = lambda a: mask.encode(np.asfortranarray(c.annToMask(a)))["counts"].decode()
    return dict(seconds=seconds, annotations={i: [c.imgs[a["image_id"]]["file_name"], c.cats[a["category_id"]]["name"], a["bbox"], counts(a)] for i, a in c.anns.items()})


for line in sys.stdin:
    q = json.loads(line)
    if "label_map" in q:
        a = dict(items=[[i.id, i.name] for i in text_format.Parse(q["label_map"], LabelMap()).item])
    elif "bench" in q:
        a = dict(seconds=bench(q["bench"]))
    elif "coco" in q:
        a = coco(q["coco"])
    else:
        r = mask.frPyObjects(dict(size=[q["h"], q["w"]], counts=q["counts"]), q["h"], q["w"]) if "counts" in q else mask.merge(mask.frPyObjects(q["polygons"], q["h"], q["w"]))
        a = dict(counts=r["counts"].decode(), area=int(mask.area(r)), box=[int(v) for v in mask.toBbox(r)])
    print(json.dumps(a), flush=True)
