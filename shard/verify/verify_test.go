package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func verify(t *testing.T, o Options, paths ...string) *Report {
	t.Helper()
	report, err := Files(context.Background(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.OK != (len(report.Faults) == 0) {
		t.Errorf("OK is %v with %d faults", report.OK, len(report.Faults))
	}
	return report
}

func TestVerifyOthersFiles(t *testing.T) {
	report := verify(t, Options{}, settest.Others+"/[a-z]*")
	want := []FileReport{
		{Path: "events.out.tfevents.1662041974.calusa.97126.2", Records: 2, Bytes: 62, Compression: "none", OK: true},
		{Path: "magenta-tfrecord_iterator_test.tfrecord", Records: 3, Bytes: 71, Compression: "none", OK: true},
		{Path: "nucleus-test_reads.fastq.tfrecord.gz", Records: 4, Bytes: 414, Compression: "gzip", OK: true},
		{Path: "ranking-eval_elwc.tfrecord", Records: 10, Bytes: 2160, Compression: "none", OK: true},
		{Path: "spotify-iris-part-00000-of-00003.tfrecords", Records: 6, Bytes: 957, Compression: "none", OK: true},
		{Path: "tft-sequence-data_tfrecord.gz", Records: 3, Bytes: 228, Compression: "gzip", OK: true},
		{Path: "torchdata-example.tfrecord", Records: 4, Bytes: 523, Compression: "none", OK: true},
		{Path: "torchdata-sequence_example.tfrecord", Records: 4, Bytes: 2760, Compression: "none", OK: true},
		{Path: "ydf-toy.tfe-tfrecord-00000-of-00002", Records: 3, Bytes: 226, Compression: "gzip", OK: true},
		{Path: "ydf-toy.tfe-tfrecord-00001-of-00002", Records: 1, Bytes: 137, Compression: "gzip", OK: true},
	}
	for i := range want {
		want[i].Path = filepath.Join(settest.Others, want[i].Path)
	}
	if diff := cmp.Diff(want, report.Files); diff != "" || !report.OK || report.Records != 40 {
		t.Errorf("%d records, faults %v\n%s", report.Records, report.Faults, diff)
	}
}

// TestVerifyEveryByte flips a bit in every byte of a small file, and truncates it at every byte:
// each fault is located in the right record.
func TestVerifyEveryByte(t *testing.T) {
	var whole []byte
	starts := []int{}
	for _, payload := range []string{"first", "", "the third one"} {
		starts = append(starts, len(whole))
		whole = tfrecord.AppendFrame(whole, []byte(payload))
	}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	fault := func(data []byte) shard.Fault {
		t.Helper()
		settest.Check(t, os.WriteFile(path, data, 0o644))
		report := verify(t, Options{}, path)
		if report.OK || report.Files[0].OK {
			t.Fatalf("damage goes unnoticed")
		}
		return report.Faults[0]
	}
	record := 0
	for i := range whole {
		if record+1 < len(starts) && i == starts[record+1] {
			record++
		}
		data := bytes.Clone(whole)
		data[i] ^= 1 << (i % 8)
		part := tfrecord.PartDataCRC
		if i-starts[record] < 12 {
			part = tfrecord.PartLengthCRC
		}
		if f := fault(data); f.Record != int64(record) || f.Offset != int64(starts[record]) || f.Part != part || f.Path != path {
			t.Errorf("flip at %d: %+v, want record %d at %d, %s", i, f, record, starts[record], part)
		}
		if i != starts[record] {
			if f := fault(whole[:i]); f.Record != int64(record) || f.Offset != int64(starts[record]) {
				t.Errorf("cut at %d: %+v, want record %d at %d", i, f, record, starts[record])
			}
		}
	}
}

func TestVerifyListsAllFaultsOfAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.tfrecord")
	var data []byte
	for i := range 10 {
		data = tfrecord.AppendFrame(data, []byte{byte(i)})
	}
	const frame = tfrecord.Overhead + 1
	data[2*frame+12]++ // payload of record 2
	data[5*frame+13]++ // CRC of record 5
	data[8*frame]++    // length of record 8
	settest.Check(t, os.WriteFile(path, data, 0o644))
	report := verify(t, Options{}, path)
	got := []string{}
	for _, f := range report.Faults {
		got = append(got, fmt.Sprintf("%d %d %s", f.Record, f.Offset, f.Part))
	}
	want := []string{"2 34 data_crc", "5 85 data_crc", "8 136 length_crc"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if last := report.Faults[2].Message; !strings.Contains(last, "34 bytes from here on, was not checked") {
		t.Errorf("message %q does not say how much was not checked", last)
	}
	if report.Records != 8 {
		t.Errorf("%d records, want 8", report.Records)
	}
	limited := verify(t, Options{MaxFaults: 1}, path)
	if len(limited.Faults) != 1 || limited.Files[0].FaultsOmitted != 2 {
		t.Errorf("with a limit of 1: %d faults, %d omitted", len(limited.Faults), limited.Files[0].FaultsOmitted)
	}
}

func TestVerifySet(t *testing.T) {
	shardFile := func(i int) string { return shard.Name{Dataset: "t", Split: "train", Index: i, Count: 3}.String() }
	index := func(i int) string { return manifest.IndexDir + "/" + shardFile(i) + ".idx" }
	tests := []struct {
		name string
		harm func(t *testing.T, dir string)
		want []string // part and file of each fault
	}{
		{"nothing", func(*testing.T, string) {}, []string{}},
		{"clean cut", func(t *testing.T, dir string) {
			settest.Check(t, os.Truncate(filepath.Join(dir, shardFile(0)), 3*26))
		}, []string{"index " + index(0), "count " + shardFile(0), "hash " + shardFile(0)}},
		{"records change places", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shardFile(1)), func(b []byte) []byte {
				return append(append(bytes.Clone(b[26:52]), b[:26]...), b[52:]...)
			})
		}, []string{"hash " + shardFile(1)}},
		{"a flipped bit", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shardFile(1)), func(b []byte) []byte { b[14]++; return b })
		}, []string{"data_crc " + shardFile(1), "hash " + shardFile(1)}},
		{"broken framing", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shardFile(1)), func(b []byte) []byte { b[26]++; return b })
		}, []string{"length_crc " + shardFile(1), "hash " + shardFile(1)}},
		{"shard missing", func(t *testing.T, dir string) {
			settest.Check(t, os.Remove(filepath.Join(dir, shardFile(2))))
		}, []string{"missing " + shardFile(2)}},
		{"index missing", func(t *testing.T, dir string) {
			settest.Check(t, os.Remove(filepath.Join(dir, index(2))))
		}, []string{"index " + index(2)}},
		{"index too long", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, index(2)), func(b []byte) []byte { return append(b, "999 9\n1 2\n"...) })
		}, []string{"index " + index(2)}},
		{"index too short", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, index(2)), func(b []byte) []byte { return b[:len("0 26\n")] })
		}, []string{"index " + index(2)}},
		{"index wrong", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, index(2)), func(b []byte) []byte {
				return bytes.Replace(bytes.Replace(b, []byte("26 26"), []byte("26 27"), 1), []byte("78 26"), []byte("rubbish"), 1)
			})
		}, []string{"index " + index(2), "index " + index(2)}},
		{"index without its last newline", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, index(2)), func(b []byte) []byte { return b[:len(b)-1] })
		}, []string{"index " + index(2)}},
		{"index of a damaged shard", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shardFile(2)), func(b []byte) []byte { b[14]++; return b })
			edit(t, filepath.Join(dir, index(2)), func(b []byte) []byte { return append([]byte("1"), b[1:]...) })
		}, []string{"data_crc " + shardFile(2), "index " + index(2), "hash " + shardFile(2)}},
		{"extra shard", func(t *testing.T, dir string) {
			settest.Check(t, os.WriteFile(filepath.Join(dir, "t-train.tfrecord-00003-of-00004"), nil, 0o644))
		}, []string{"extra t-train.tfrecord-00003-of-00004"}},
		{"extra index", func(t *testing.T, dir string) {
			settest.Check(t, os.WriteFile(filepath.Join(dir, manifest.IndexDir, "t-train.tfrecord-00003-of-00004.idx"), nil, 0o644))
		}, []string{"extra index/t-train.tfrecord-00003-of-00004.idx"}},
		{"others' files are no matter", func(t *testing.T, dir string) {
			settest.Check(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644))
			settest.Check(t, os.WriteFile(filepath.Join(dir, manifest.IndexDir, "notes.idx"), nil, 0o644))
		}, []string{}},
		{"another compression", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest.File), func(b []byte) []byte { return bytes.Replace(b, []byte(`"none"`), []byte(`"gzip"`), 1) })
		}, []string{"compression " + shardFile(0), "compression " + shardFile(1), "compression " + shardFile(2)}},
		{"manifest's own sum", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest.File), func(b []byte) []byte { return bytes.Replace(b, []byte(`"records": 12,`), []byte(`"records": 13,`), 1) })
		}, []string{"count " + manifest.File}},
		{"manifest damaged", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest.File), func(b []byte) []byte { return b[:len(b)/2] })
		}, []string{"parse " + manifest.File}},
		{"records are no Examples", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest.File), func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"records": ""`), []byte(`"records": "tf.train.Example"`), 1)
			})
		}, func() (want []string) { // all records of all shards
			for i := range 3 {
				for range 4 {
					want = append(want, "parse "+shardFile(i))
				}
			}
			return want
		}()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			settest.WriteSet(t, dir, 3, func(yield func([]byte)) {
				for i := range 4 {
					yield(bytes.Repeat([]byte{0xf0 + byte(i)}, 10))
				}
			})
			test.harm(t, dir)
			got := []string{}
			for _, f := range verify(t, Options{}, dir).Faults {
				file, err := filepath.Rel(dir, f.Path)
				settest.Check(t, err)
				got = append(got, string(f.Part)+" "+filepath.ToSlash(file))
				if f.Message == "" || (f.Record < 0) != (f.Offset < 0) {
					t.Errorf("fault %+v", f)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	settest.Check(t, err)
	changed := change(bytes.Clone(data))
	if bytes.Equal(data, changed) {
		t.Fatalf("%s: the harm does nothing", path)
	}
	settest.Check(t, os.WriteFile(path, changed, 0o644))
}

func TestVerifyCompressedSets(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd} {
		dir := filepath.Join(t.TempDir(), "out")
		settest.WriteCompressedSet(t, dir, 2, c, settest.Some(50, 100))
		report := verify(t, Options{}, dir)
		if !report.OK || report.Records != 100 || report.Files[0].Compression != c.String() {
			t.Errorf("%v: %+v", c, report)
		}
		file := report.Files[1].Path
		edit(t, file, func(b []byte) []byte { return b[:len(b)-3] })
		report = verify(t, Options{}, dir)
		if report.OK || report.Faults[0].Part != tfrecord.PartCompression || !report.Files[0].OK || report.Files[1].OK {
			t.Errorf("%v cut off: %+v", c, report)
		}
	}
}

func TestVerifyLoneFileAgainstItsIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := settest.WriteSet(t, dir, 1, settest.Some(4, 10))
	settest.RemoveManifest(t, dir)
	path := filepath.Join(dir, m.Splits[0].Shards[0].File)
	if report := verify(t, Options{}, path); !report.OK {
		t.Errorf("%+v", report.Faults)
	}
	edit(t, manifest.IndexPath(path), func(b []byte) []byte { return b[1:] })
	report := verify(t, Options{}, path)
	if len(report.Faults) != 1 || report.Faults[0].Part != tfrecord.PartIndex || report.Faults[0].Record != 0 || report.Files[0].OK {
		t.Errorf("%+v", report)
	}
}

func TestVerifyExamples(t *testing.T) {
	path := filepath.Join(settest.Others, "nucleus-test_reads.fastq.tfrecord.gz")
	if report := verify(t, Options{}, path); !report.OK {
		t.Errorf("without Examples: %+v", report.Faults)
	}
	x := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.Check(t, os.WriteFile(x, tfrecord.AppendFrame(tfrecord.AppendFrame(nil, nil), []byte{0xff}), 0o644))
	report := verify(t, Options{Examples: true}, x)
	if len(report.Faults) != 1 || report.Faults[0].Part != tfrecord.PartParse || report.Faults[0].Record != 1 || report.Faults[0].Offset != 16 {
		t.Errorf("%+v", report.Faults)
	}
}

func TestVerifyIsTheSameForAnyWorkers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := settest.WriteSet(t, dir, 9, settest.Some(20, 50))
	for i, info := range m.Splits[0].Shards {
		edit(t, filepath.Join(dir, info.File), func(b []byte) []byte { b[66*(i+1)+20]++; return b })
	}
	want := verify(t, Options{Workers: 1}, dir)
	for _, workers := range []int{2, 16} {
		if diff := cmp.Diff(want, verify(t, Options{Workers: workers}, dir)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
	}
}

func TestVerifyErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	settest.WriteSet(t, dir, 2, settest.Some(3, 10))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Files(ctx, []string{dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	// A shard that cannot be read is not a fault in the data, and hides none.
	shards, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
	settest.Check(t, err)
	settest.Check(t, os.Remove(shards[0].Path))
	settest.Check(t, os.Mkdir(shards[0].Path, 0o755))
	edit(t, shards[1].Path, func(b []byte) []byte { b[14]++; return b })
	report, err := Files(context.Background(), []string{dir}, Options{})
	if err == nil || report.OK || len(report.Faults) != 2 || report.Faults[0].Path != shards[1].Path {
		t.Errorf("unreadable shard: %v, %+v", err, report)
	}
}
