"""What TensorFlow makes of records of encoded frames, to judge the clips of package reader.

A request a line on stdin: {"path", "steps": "list" or "flat", "frames": their number or -1 for the longest of the batch, "batch",
"size": [height, width, channels] of all frames, "samples"}. A batch's samples follow those of the one before in the file "samples".
An answer a line on stdout: a list of {"shape", "labels", "lengths", "actions"} a batch.
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import tensorflow as tf

IMAGE, LABEL, ACTION = "image/encoded", "image/class/label", "action"


def batches(path, steps, frames, batch, size, samples):
    def parse(record):
        flat = steps == "flat"
        of_record = {LABEL: tf.io.FixedLenFeature([], tf.int64)}
        of_steps = {
            IMAGE: tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=flat),
            ACTION: tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=flat),
        }
        if flat:
            read = tf.io.parse_single_example(record, of_record | of_steps)
        else:
            context, lists = tf.io.parse_single_sequence_example(record, of_record, of_steps)
            read = context | lists
        images = tf.map_fn(lambda data: tf.io.decode_png(data, size[2]), read[IMAGE], fn_output_signature=tf.TensorSpec(size, tf.uint8))
        return images, read[LABEL], tf.shape(read[IMAGE])[0], read[ACTION]

    length = None if frames < 0 else frames
    all = tf.data.TFRecordDataset(path).map(parse).padded_batch(batch, ([length, *size], [], [], [length, 2]))
    answer = []
    with open(samples, "wb") as f:
        for images, labels, lengths, actions in all.as_numpy_iterator():
            f.write(images.tobytes())
            answer.append({"shape": images.shape, "labels": labels.tolist(), "lengths": lengths.tolist(), "actions": actions.reshape(-1).tolist()})
    return answer


for line in sys.stdin:
    print(json.dumps(batches(**json.loads(line))), file=answers, flush=True)
