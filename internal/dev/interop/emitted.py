"""What programs of `tfrec inspect --emit` read: for each split the number of records, and the sum of each feature.

usage: emitted.py TARGET PROGRAM DATA_DIR ...

TARGET is tf, tfds or torch; what is read by each program is a line of JSON. The
sum of a feature is that of its numbers or pixels, NaNs aside, or of its bytes.
What a record lacks counts as the program makes it. Batches must give the same
sums as single samples do, pictures that are resized for them aside.
"""
import contextlib
import importlib.util
import io
import json
import sys

import numpy as np


def total(value):
    """The sum of what a tensor, str, bytes, list or tuple of values and lengths holds."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return sum(value)
    if isinstance(value, tuple):
        return total(value[0])
    if isinstance(value, list):
        return sum(total(v) for v in value)
    if hasattr(value, "flat_values"):
        value = value.flat_values
    value = value.numpy()
    if isinstance(value, (bytes, str)):
        return total(value)
    if value.dtype == object:
        return sum(total(v) for v in value.ravel())
    return float(np.nansum(value.astype(np.float64)))


def read(samples):
    """The number of samples, and the sums of their features."""
    count, sums = 0, {}
    for sample in samples:
        count += 1
        for part in sample if isinstance(sample, tuple) else [sample]:  # context and steps
            for key, value in part.items():
                sums[key] = sums.get(key, 0) + total(value)
    return count, sums


def same(sums, others, what):
    assert sums.keys() == others.keys(), (what, sums.keys(), others.keys())
    for key in sums:
        assert np.isclose(others[key], sums[key]), (what, key, sums[key], others[key])


def read_torch(program, split, folder):
    count, sums = read(program.Dataset(split, data_dir=folder))
    for workers, shuffle in [(0, 5), (3, 0)]:
        batches = program.loader(split, batch_size=7, workers=workers, shuffle=shuffle, data_dir=folder)
        same(sums, read(batches)[1], (split, workers))
    parts = [read(program.Dataset(split, data_dir=folder, rank=rank, world_size=2)) for rank in range(2)]
    assert sum(n for n, _ in parts) == count, parts
    same(sums, {key: sum(s[key] for _, s in parts) for key in parts[0][1]}, (split, "ranks"))
    return count, sums


def read_tf(program, split, folder):
    count, sums = read(program.dataset(split, batch_size=None, data_dir=folder))
    _, batched = read(program.dataset(split, batch_size=7, shuffle=10, data_dir=folder))
    if hasattr(program, "IMAGE_SIZE"):
        del batched["image/encoded"]
        same({key: value for key, value in sums.items() if key != "image/encoded"}, batched, split)
    else:
        same(sums, batched, split)
    return count, sums


arguments = iter(sys.argv[1:])
for target, path, folder in zip(arguments, arguments, arguments):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    answer = {}
    for split in program.SPLITS:
        count, sums = (read_torch if target == "torch" else read_tf)(program, split, folder)
        answer[split] = {"records": count, "sums": sums}
    sys.argv, shown = [path, folder], io.StringIO()
    with contextlib.redirect_stdout(shown):
        program.main()
    keys = {line.split("'")[1] for line in shown.getvalue().splitlines()}
    assert keys == set(program.SPLITS), shown.getvalue()
    print(json.dumps(answer))
