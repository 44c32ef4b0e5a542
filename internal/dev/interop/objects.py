"""What TensorFlow makes of the objects of records, to judge those of package reader.

A request a line on stdin: {"path", "width", "height", "flip": mirror images left to right, "most": boxes of an image}. An answer a line
on stdout: a list of {"boxes": ymin, xmin, ymax, xmax of each as shares, "pixels": xmin, ymin, xmax, ymax, "labels"} an image, padded.
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import tensorflow as tf

BOX, LABEL = "image/object/bbox/", "image/object/class/label"


def images(path, width, height, flip, most):
    keys = {BOX + side: tf.io.RaggedFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")} | {LABEL: tf.io.RaggedFeature(tf.int64)}
    answer = []
    for record in tf.data.TFRecordDataset(path):
        read = tf.io.parse_single_example(record, keys)
        ymin, xmin, ymax, xmax = (read[BOX + side] for side in ("ymin", "xmin", "ymax", "xmax"))
        if flip:
            xmin, xmax = 1 - xmax, 1 - xmin
        n = tf.minimum(most, tf.size(xmin))
        pad = lambda values, fill: tf.pad(values[:n], [[0, most - n]] + [[0, 0]] * (len(values.shape) - 1), constant_values=fill)
        boxes = tf.stack([ymin, xmin, ymax, xmax], axis=1)
        pixels = tf.stack([xmin * width, ymin * height, xmax * width, ymax * height], axis=1)
        answer.append({
            "boxes": tf.reshape(pad(boxes, 0.0), [-1]).numpy().tolist(),
            "pixels": tf.reshape(pad(pixels, 0.0), [-1]).numpy().tolist(),
            "labels": pad(read[LABEL], tf.constant(-1, tf.int64)).numpy().tolist(),
        })
    return answer


for line in sys.stdin:
    print(json.dumps(images(**json.loads(line))), file=answers, flush=True)
