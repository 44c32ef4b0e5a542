"""What tf.data makes of several datasets, to judge Mix and Concat of package reader.

A request a line on stdin: {"lengths", "weights", "choices", "stop", "seed", "repeat_last", "zip"}: dataset i holds the numbers
i * 1000000 up to, not including, i * 1000000 + lengths[i]; the last one repeats if repeat_last. Either weights for
sample_from_datasets or choices for choose_from_datasets is not null; with neither they are concatenated, or zipped if zip is
true. An answer a line on stdout: the list of numbers, those of a pair one after the other.
"""
import json, os, sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr
import tensorflow as tf

for line in sys.stdin:
    q = json.loads(line)
    sets = [tf.data.Dataset.range(i * 1000000, i * 1000000 + n) for i, n in enumerate(q["lengths"])]
    if q["repeat_last"]:
        sets[-1] = sets[-1].repeat()
    if q["zip"]:
        out = tf.data.Dataset.zip(tuple(sets)).flat_map(lambda *v: tf.data.Dataset.from_tensor_slices(tf.stack(v)))
    elif q["choices"] is not None:
        choices = tf.data.Dataset.from_tensor_slices(tf.constant(q["choices"], tf.int64))
        out = tf.data.Dataset.choose_from_datasets(sets, choices, stop_on_empty_dataset=q["stop"])
    elif q["weights"] is not None:
        out = tf.data.Dataset.sample_from_datasets(sets, q["weights"], seed=q["seed"], stop_on_empty_dataset=q["stop"])
    else:
        out = sets[0]
        for more in sets[1:]:
            out = out.concatenate(more)
    print(json.dumps([int(v) for v in out]), file=answers, flush=True)
