"""What the tfrecord package on PyPI reads through an index, or the index that it makes itself.

usage: pypi.py read FILE INDEX WORKERS   the records, in hexadecimal, worker after worker
       pypi.py index FILE INDEX          writes INDEX

Apart from judge.py, for the package's protobufs clash with TensorFlow's.
"""
import sys

verb, path, index, *rest = sys.argv[1:]
if verb == "index":
    from tfrecord.tools import tfrecord2idx

    tfrecord2idx.create_index(path, index)
else:
    from tfrecord import reader

    workers = int(rest[0])
    for i in range(workers):
        for record in reader.tfrecord_iterator(path, index, shard=(i, workers)):
            print(bytes(record).hex())
