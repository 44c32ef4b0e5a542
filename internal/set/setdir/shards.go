package setdir

import (
	"bytes"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Shards are the records of the finished shards of a directory. They are compared with the files.
type Shards struct{ dir *Dir }

// Shards returns the records of finished shards.
func (d *Dir) Shards() Shards { return Shards{d} }

// HasIndex reports whether the shard's index is correct, byte for byte. The shard must be
// uncompressed. HasIndex reads both files.
func (s Shards) HasIndex(file string) bool {
	f, err := recordscan.Open(s.dir.ctx, s.dir.Join(file))
	if err != nil {
		return false
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: s.dir.Join(file), Checksum: tfrecord.ChecksumLength})
	defer r.Close()
	entries, err := tfrecord.BuildIndex(r)
	if err != nil {
		return false
	}
	var want []byte
	for _, e := range entries {
		want = tfrecord.AppendIndex(want, e)
	}
	got, err := s.dir.Read(manifest.IndexName(file), int64(len(want)))
	return err == nil && bytes.Equal(got, want)
}

// HasContent reports whether the shard has the size and the hash that info says. It reads the file.
func (s Shards) HasContent(info manifest.Shard) bool {
	has, err := compare.HasHash(s.dir.ctx, s.dir.loc.Join(info.File), info.Bytes, info.SHA256)
	return has && err == nil
}

// Unchanged reports whether a shard with the stamp is has the content that info describes: without
// reading it if is equals the recorded stamp, unless always is set. A copy of the set has other times.
func (s Shards) Unchanged(info manifest.Shard, is, recorded place.Stamp, always bool) bool {
	return is.Bytes == info.Bytes && (is == recorded && !always || s.HasContent(info))
}

// Holds reports whether the content of a file of the set is exactly data.
func Holds(d *Dir, name string, data []byte) bool {
	have, err := d.Read(name, int64(len(data)))
	return err == nil && bytes.Equal(have, data)
}
