package setdir

import (
	"bytes"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// HasIndex reports whether the shard's index is correct, byte for byte. The shard must be
// uncompressed. HasIndex reads both files.
func (d *Dir) HasIndex(file string) bool {
	f, err := recordscan.Open(d.ctx, d.Join(file))
	if err != nil {
		return false
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: d.Join(file), Checksum: tfrecord.ChecksumLength})
	defer r.Close()
	entries, err := tfrecord.BuildIndex(r)
	if err != nil {
		return false
	}
	var want []byte
	for _, e := range entries {
		want = tfrecord.AppendIndex(want, e)
	}
	got, err := d.Read(manifest.IndexName(file), int64(len(want)))
	return err == nil && bytes.Equal(got, want)
}

// HasContent reports whether the shard has the size and the hash that info says. It reads the file.
func (d *Dir) HasContent(info manifest.Shard) bool {
	has, err := compare.HasHash(d.ctx, d.loc.Join(info.File), info.Bytes, info.SHA256)
	return has && err == nil
}

// Unchanged reports whether a shard with the stamp is has the content that info describes: without
// reading it if is equals the recorded stamp, unless always is set. A copy of the set has other times.
func (d *Dir) Unchanged(info manifest.Shard, is, recorded place.Stamp, always bool) bool {
	return is.Bytes == info.Bytes && (is == recorded && !always || d.HasContent(info))
}

// Holds reports whether the content of a file of the set is exactly data.
func (d *Dir) Holds(name string, data []byte) bool {
	have, err := d.Read(name, int64(len(data)))
	return err == nil && bytes.Equal(have, data)
}
