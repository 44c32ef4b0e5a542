package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestVerifyAgainstTheOriginal(t *testing.T) {
	shardFile := func(i int) string { return shard.Name{Dataset: "t", Split: "train", Index: i, Count: 3}.String() }
	tests := []struct {
		name string
		harm func(t *testing.T, dir string)
		want []string
	}{
		{"nothing", func(*testing.T, string) {}, []string{}},
		{"shard not copied", func(t *testing.T, dir string) {
			settest.Check(t, os.Remove(filepath.Join(dir, shardFile(1))))
		}, []string{"missing " + shardFile(1)}},
		{"shard cut at a record", func(t *testing.T, dir string) {
			settest.Check(t, os.Truncate(filepath.Join(dir, shardFile(1)), 26))
			settest.Check(t, os.Remove(filepath.Join(dir, manifest.IndexDir, shardFile(1)+".idx")))
		}, []string{"count " + shardFile(1), "hash " + shardFile(1), "index index/" + shardFile(1) + ".idx"}},
		{"another shard, as whole", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shardFile(0)), func(b []byte) []byte {
				return tfrecord.AppendFrame(b[:len(b)-26], []byte("0123456789"))
			})
		}, []string{"hash " + shardFile(0)}},
		{"one too many", func(t *testing.T, dir string) {
			settest.PutFile(t, filepath.Join(dir, "t-train.tfrecord-00003-of-00004"), nil)
		}, []string{"extra t-train.tfrecord-00003-of-00004"}},
		{"manifest not copied", func(t *testing.T, dir string) { settest.RemoveManifest(t, dir) }, []string{"missing " + manifest.File}},
		{"manifest and shard changed", func(t *testing.T, dir string) {
			data, err := os.ReadFile(filepath.Join(dir, shardFile(0)))
			settest.Check(t, err)
			settest.PutFile(t, filepath.Join(dir, shardFile(0)), data[26:])
			edit(t, filepath.Join(dir, manifest.File), func(b []byte) []byte { return append(b, '\n') })
			settest.Check(t, os.Remove(filepath.Join(dir, manifest.IndexDir, shardFile(0)+".idx")))
		}, []string{"count " + shardFile(0), "hash " + shardFile(0), "index index/" + shardFile(0) + ".idx", "hash " + manifest.File}},
	}
	original := filepath.Join(t.TempDir(), "out")
	settest.WriteSet(t, original, 3, settest.Some(4, 10))
	for _, test := range tests {
		dir := filepath.Join(t.TempDir(), "copy")
		settest.Check(t, os.CopyFS(dir, os.DirFS(original)))
		test.harm(t, dir)
		for _, against := range []string{original, filepath.Join(original, manifest.File)} {
			got := []string{}
			for _, f := range verify(t, Options{Against: against}, dir).Faults {
				file, err := filepath.Rel(dir, f.Path)
				settest.Check(t, err)
				got = append(got, string(f.Part)+" "+filepath.ToSlash(file))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
		}
	}
	for _, paths := range [][]string{{original, original}, {filepath.Join(original, shardFile(0))}} {
		if _, err := Files(context.Background(), paths, Options{Against: original}); err == nil {
			t.Errorf("%q is taken for a copy", paths)
		}
	}
	if _, err := Files(context.Background(), []string{original}, Options{Against: t.TempDir()}); !storage.Missing(err) {
		t.Errorf("without a manifest: %v", err)
	}
}

// TestVerifyReadsNoFasterThanTheRate runs in real time.
func TestVerifyReadsNoFasterThanTheRate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := settest.WriteSet(t, dir, 4, settest.Some(10, 5000))
	size := 4 * m.Splits[0].Shards[0].Bytes
	began := time.Now()
	if report := verify(t, Options{LimitRate: 4 * size, Workers: 4}, dir); !report.OK {
		t.Error(report.Faults)
	}
	if took := time.Since(began); took < 240*time.Millisecond {
		t.Errorf("a quarter of a second's bytes took %v", took)
	}
	// Counting the records for a sample is also rate-limited.
	dir = filepath.Join(t.TempDir(), "bare")
	m = settest.WriteCompressedSet(t, dir, 1, tfrecord.CompressionGzip, settest.Some(10, 5000))
	size = m.Splits[0].Shards[0].Bytes
	settest.RemoveManifest(t, dir)
	began = time.Now()
	if report := verify(t, Options{LimitRate: 4 * size, Sample: Sampling{Records: 1}}, dir); !report.OK || report.Records != 1 {
		t.Errorf("%+v", report)
	}
	if took := time.Since(began); took < 240*time.Millisecond {
		t.Errorf("counting a quarter of a second's bytes took %v", took)
	}
}

// TestVerifySamples checks some records of files of all kinds, and finds the faults in those and in
// no others.
func TestVerifySamples(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		for _, kind := range []string{"set", "index", "bare"} {
			dir := filepath.Join(t.TempDir(), "out")
			m := settest.WriteCompressedSet(t, dir, 3, c, settest.Some(40, 100))
			if kind != "set" {
				settest.RemoveManifest(t, dir)
			}
			if kind == "bare" {
				settest.Check(t, os.RemoveAll(filepath.Join(dir, manifest.IndexDir)))
			}
			for _, sample := range []Sampling{{Records: 30}, {Share: 0.25}, {Records: 30, Seed: 7}} {
				report := verify(t, Options{Sample: sample}, dir)
				name := fmt.Sprint(c, kind, sample)
				if !report.OK || report.Records != 30 || report.Sample.Records != 30 || report.Sample.Of != 120 || len(report.Sample.NotChecked) == 0 {
					t.Errorf("%s: %+v %+v", name, report, report.Sample)
				}
				for _, f := range report.Files {
					if f.Records != 10 || f.Compression != c.String() {
						t.Errorf("%s: %+v", name, f)
					}
				}
			}
			if c != tfrecord.CompressionNone {
				continue
			}
			// Damaged records in the sample are found.
			path := filepath.Join(dir, m.Splits[0].Shards[1].File)
			edit(t, path, func(b []byte) []byte {
				for i := range 20 {
					b[i*116+50] ^= 1
				}
				return b
			})
			report := verify(t, Options{Sample: Sampling{Records: 60}}, dir)
			if n := len(report.Faults); report.OK || n < 3 || n > 18 {
				t.Errorf("%s: %d of some 10 faults", kind, n)
			}
			if report.Sample.Records != 60 {
				t.Errorf("%s: %d records were looked at", kind, report.Sample.Records)
			}
			for _, f := range report.Faults {
				if f.Path == path && (f.Part != tfrecord.PartDataCRC || f.Offset != f.Record*116 || f.Record >= 20) {
					t.Errorf("%s: %+v", kind, f)
				}
			}
		}
	}
}

// TestVerifySamplesDeep requires findings in the sample to name the right records.
func TestVerifySamplesDeep(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for i, r := range r {
			if i%2 == 0 {
				r.ints["image/height"][0] = int64(1000 + i)
			}
		}
	})
	for seed := range uint64(4) {
		report := verifyDeep(t, Options{Sample: Sampling{Records: 8, Seed: seed}}, dir)
		if report.Deep.Records != 8 || report.Deep.Images != 8 || len(report.Deep.Findings) != int(report.Deep.Counts[FindingHeight]) {
			t.Errorf("%+v", report.Deep)
		}
		for _, f := range report.Deep.Findings {
			number := f.Record
			if f.Split == "test" {
				number += 12
			}
			if !strings.Contains(f.Message, fmt.Sprint(1000+number)) || !strings.HasSuffix(f.Key, fmt.Sprintf("%02d.png", number)) {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestVerifySamplesOfDamagedFiles must end, and report what could not be checked.
func TestVerifySamplesOfDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	path := settest.ExampleFile(t, filepath.Join(dir, "x.tfrecord"), 50, settest.Numbers)
	edit(t, path, func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b[:len(b)-3] })
	report := verify(t, Options{Sample: Sampling{Records: 40}}, path)
	if report.OK || !strings.Contains(fmt.Sprint(report.Faults), "no record of this file was checked") {
		t.Errorf("%+v", report)
	}
	settest.PutFile(t, filepath.Join(dir, "empty.tfrecord"), nil)
	if report := verify(t, Options{Sample: Sampling{Share: 1}}, filepath.Join(dir, "empty.tfrecord")); !report.OK || report.Records != 0 {
		t.Errorf("%+v", report)
	}
	for _, bad := range []Sampling{{Records: -1, Share: 0.5}, {Share: 1.5}} {
		if _, err := Files(context.Background(), []string{path}, Options{Sample: bad}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestVerifySampleAgainstAWrongIndex uses an index with wrong offsets.
func TestVerifySampleAgainstAWrongIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := settest.WriteSet(t, dir, 1, settest.Some(10, 10))
	path := filepath.Join(dir, m.Splits[0].Shards[0].File)
	var index []byte
	for i := range int64(10) {
		index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: 26*i + 5, Size: 26})
	}
	settest.PutFile(t, manifest.IndexPath(path), index)
	report := verify(t, Options{Sample: Sampling{Records: 3}}, dir)
	if report.OK || report.Faults[0].Part != tfrecord.PartIndex {
		t.Errorf("%+v", report.Faults)
	}
}
