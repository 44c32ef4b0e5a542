"""Writes images into Parquet and Arrow files with datasets of Hugging Face and with pyarrow, and compares sets that tfrec made of them
with what datasets reads.

    rows.py write DIR PHOTO...   DIR/hf.parquet, DIR/cached.arrow, DIR/plain.parquet
    rows.py read DIR RECORDS...  each file of records has the samples of DIR/hf.parquet
"""
import os, shutil, sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", HF_HUB_OFFLINE="1", HF_HOME=sys.argv[2] + "/home")
import pyarrow as pa, pyarrow.parquet as pq


def write(folder, photos):
    import datasets
    datasets.disable_progress_bars()
    names = sorted({p.split("/")[-2] for p in photos})
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=names), "caption": datasets.Value("string"), "boxes": datasets.Sequence(datasets.Value("float32"))})
    rows = {"image": [{"bytes": open(p, "rb").read(), "path": os.path.basename(p)} for p in photos], "label": [p.split("/")[-2] for p in photos], "caption": [f"é {i}" if i % 3 else None for i in range(len(photos))], "boxes": [[i / 8] * (i % 3) for i in range(len(photos))]}
    d = datasets.Dataset.from_dict(rows, features=features)
    d.to_parquet(folder + "/hf.parquet", batch_size=7)
    d.save_to_disk(folder + "/saved")
    shutil.copy(folder + "/saved/data-00000-of-00001.arrow", folder + "/cached.arrow")
    t = pa.table({"img": [i["bytes"] for i in rows["image"]], "label": rows["label"], "caption": rows["caption"], "boxes": pa.array(rows["boxes"], pa.list_(pa.float32()))})
    pq.write_table(t, folder + "/plain.parquet", row_group_size=9, data_page_size=20000, compression="zstd", data_page_version="2.0")
    return len(photos)


def read(folder, files):
    import datasets, tensorflow as tf
    datasets.disable_progress_bars()
    d = datasets.Dataset.from_parquet(folder + "/hf.parquet", cache_dir=folder + "/home")
    names = d.features["label"].names
    want = sorted((r["image"]["bytes"], r["label"], r["caption"] or "", r["boxes"]) for r in d.cast_column("image", datasets.Image(decode=False)))
    for file in files:
        got = []
        for record in tf.data.TFRecordDataset(file):
            f = tf.train.Example.FromString(record.numpy()).features.feature
            one = lambda k: getattr(f[k], f[k].WhichOneof("kind")).value[0]
            text, label = one("image/class/text").decode(), one("image/class/label")
            assert text == names[label], (file, text, label)
            got.append((one("image/encoded"), label, one("caption").decode() if "caption" in f else "", list(f["boxes"].float_list.value)))
        assert sorted(got) == want, file
    return len(want)


print({"write": write, "read": read}[sys.argv[1]](sys.argv[2], sys.argv[3:]), "samples", flush=True)
