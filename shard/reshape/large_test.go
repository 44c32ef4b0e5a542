package reshape

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// mixedSizes writes the same records to an uncompressed and to a compressed file: empty ones, small
// ones, and ones of up to 3 MB, each of them twice.
func mixedSizes(t *testing.T, seed uint64) (plain, compressed string, ids []int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var records [][]byte
	for i := range 40 {
		var b tfrecord.Builder
		size := rng.IntN(1 << rng.IntN(10))
		if i%8 == 0 {
			size = rng.IntN(3 << 20)
		}
		data := make([]byte, size)
		for j := 0; j+8 <= size; j += 64 {
			binary.LittleEndian.PutUint64(data[j:], rng.Uint64())
		}
		b.Int64("id", int64(i))
		b.Bytes("data", data)
		records = append(records, b.Append(nil), b.Append(nil))
		ids = append(ids, int64(i), int64(i))
	}
	rng.Shuffle(len(records), func(i, j int) {
		records[i], records[j] = records[j], records[i]
		ids[i], ids[j] = ids[j], ids[i]
	})
	var data []byte
	for _, r := range records {
		data = tfrecord.AppendFrame(data, r)
	}
	plain, compressed = filepath.Join(t.TempDir(), "same.tfrecord"), filepath.Join(t.TempDir(), "same.tfrecord")
	settest.PutFile(t, plain, data)
	var packed bytes.Buffer
	w, err := tfrecord.NewWriter(&packed, tfrecord.WriterOptions{Compression: tfrecord.CompressionGzip})
	settest.Check(t, err)
	for _, r := range records {
		settest.Check(t, w.WriteRecord(r))
	}
	settest.Check(t, w.Close())
	settest.PutFile(t, compressed, packed.Bytes())
	return plain, compressed, ids
}

// TestLargeRecordsAmongSmall reshapes and verifies a compressed file with records that are
// processed in the reader's buffer: the result is the same as for the uncompressed file.
func TestLargeRecordsAmongSmall(t *testing.T) {
	plain, compressed, ids := mixedSizes(t, 7)
	verbs := map[string]func(in, out string, o Options) error{
		"reshard": func(in, out string, o Options) error {
			_, err := Reshard(context.Background(), []string{in}, out, ReshardOptions{Options: o})
			return err
		},
		"shuffle": func(in, out string, o Options) error {
			_, err := Reshard(context.Background(), []string{in}, out, ReshardOptions{Options: o, Shuffle: true})
			return err
		},
		"sort": func(in, out string, o Options) error {
			_, err := Reshard(context.Background(), []string{in}, out, ReshardOptions{Options: o, SortBy: "id"})
			return err
		},
		"dedupe": func(in, out string, o Options) error {
			_, err := Dedupe(context.Background(), []string{in}, out, DedupeOptions{Options: o})
			return err
		},
		"filter": func(in, out string, o Options) error {
			_, err := Filter(context.Background(), []string{in}, out, FilterOptions{Options: o, Keep: idKeep(func(id int64) bool { return id%3 > 0 })})
			return err
		},
	}
	for name, verb := range verbs {
		for _, memory := range []int64{source.LeastMemory, 0} {
			var want map[string]string
			for _, in := range []string{plain, compressed} {
				out := filepath.Join(t.TempDir(), "out")
				settest.Check(t, verb(in, out, Options{Memory: memory, Workers: 3, Shards: 3, Name: "x"}))
				got := settest.FilesOf(t, out)
				delete(got, manifest.File) // it has the fingerprints of the inputs
				if want == nil {
					want = got
				} else if !settest.SameFiles(want, got) {
					t.Errorf("%s, memory %d: of the compressed file other shards came than of the plain one", name, memory)
				}
				if sorted := settest.IDsOf(t, out, "", "id"); name == "sort" {
					all := slices.Sorted(slices.Values(ids))
					if !slices.Equal(sorted, all) {
						t.Errorf("sort, memory %d: %d, want %d", memory, sorted, all)
					}
				}
			}
		}
	}
	for _, in := range []string{plain, compressed} {
		report, err := verify.Files(context.Background(), []string{in}, verify.Options{Deep: new(verify.DeepOptions), Workers: 3})
		settest.Check(t, err)
		if d := report.Deep; d.Records != 80 || d.Duplicates.Records != 40 || d.Duplicates.Groups != 40 {
			t.Errorf("%s: %+v of %d records; want 40 duplicates of 80", in, d.Duplicates, d.Records)
		}
	}
}

// TestSortByIsBounded sorts by values one of which is too long.
func TestSortByIsBounded(t *testing.T) {
	const longest = 1 << 20
	for _, size := range []int{longest, longest + 1} {
		in := settest.ExampleFile(t, filepath.Join(t.TempDir(), "in.tfrecord"), 3, func(i int, b *tfrecord.Builder) {
			b.Bytes("k", make([]byte, i/2*size))
		})
		_, err := Reshard(context.Background(), []string{in}, filepath.Join(t.TempDir(), "out"), ReshardOptions{SortBy: "k"})
		if size > longest && (err == nil || fmt.Sprint(err) == "") || size <= longest && err != nil {
			t.Errorf("a value of %d bytes: %v", size, err)
		}
	}
}

// appendValues returns the concatenated input that digest.OfValue hashes.
func appendValues(dst []byte, f tfrecord.Feature) []byte {
	switch {
	case f.Len() == 0:
		return append(dst, 'n')
	case f.Kind() == tfrecord.KindBytes:
		dst = append(dst, 'b')
		for _, v := range f.AppendBytes(nil) {
			dst = append(binary.AppendUvarint(dst, uint64(len(v))), v...)
		}
	case f.Kind() == tfrecord.KindInt64:
		dst = append(dst, 'i')
		for _, v := range f.AppendInt64s(nil) {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	case f.Kind() == tfrecord.KindFloat:
		dst = append(dst, 'f')
		for _, v := range f.AppendFloats(nil) {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

// TestHashOfLongValues compares hashes computed incrementally with those of all bytes at once:
// seeded choices and manifests depend on them.
func TestHashOfLongValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var b tfrecord.Builder
		n := rng.IntN(1 << rng.IntN(9))
		switch rng.IntN(3) {
		case 0:
			values := make([][]byte, n)
			for i := range values {
				values[i] = make([]byte, rng.IntN(1<<rng.IntN(10)))
			}
			b.Bytes("k", values...)
		case 1:
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(rng.Uint64() >> rng.IntN(64))
			}
			b.Int64("k", values...)
		case 2:
			values := make([]float32, n)
			for i := range values {
				values[i] = rng.Float32()
			}
			b.Float("k", values...)
		}
		var e tfrecord.Example
		settest.Check(t, e.Parse(b.Append(nil)))
		f, _ := e.Get("k")
		if got, want := digest.OfValue(f), digest.Of(appendValues(nil, f)); got != want {
			t.Fatalf("%d values of %v: %x, want %x", n, f.Kind(), got, want)
		}
	}
}

// TestLabelsAreCountedWithinBounds has more labels than are counted.
func TestLabelsAreCountedWithinBounds(t *testing.T) {
	const n = labels.MaxIDs + 10
	set := madeSet(t, n, 1, []string{"ant", "bee"}, func(i int, b *tfrecord.Builder) { b.Int64("label", int64(i)) })
	m := settest.ManifestOf(t, set)
	if labels := m.Splits[0].Shards[0].Labels; labels != nil {
		t.Errorf("%d labels were counted", len(labels))
	}
	m.Splits[0].Shards[0].Labels = map[string]int64{"ant": 1, "bee": 1}
	data, err := m.Encode()
	settest.Check(t, err)
	settest.PutFile(t, filepath.Join(set, manifest.File), data)
	report, err := verify.Files(context.Background(), []string{set}, verify.Options{MaxFaults: 1 << 20})
	settest.Check(t, err)
	if !slices.ContainsFunc(report.Faults, func(f shard.Fault) bool { return f.Part == tfrecord.PartCount && f.Record < 0 }) {
		t.Errorf("no fault says that there are too many labels: %d faults", len(report.Faults))
	}
}
