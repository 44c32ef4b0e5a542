package reader

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// putVersion replaces what is in dir by a set of shards with the given record counts.
func putVersion(t *testing.T, dir string, counts ...int) {
	t.Helper()
	d, err := setdir.Open(t.Context(), dir, setdir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	into := d
	if before != nil {
		into = d.Stage()
	}
	m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "v", Compression: "none", Fingerprint: "version"}
	split := manifest.Split{Name: "train"}
	var files []string
	for i, n := range counts {
		file := shard.Name{Dataset: "v", Split: "train", Index: i, Count: len(counts)}.String()
		w, err := into.Create(file, setdir.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			if err := w.WriteRecord(readertest.Numbered(i, k)); err != nil {
				t.Fatal(err)
			}
		}
		info, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		if err := into.Shards().PutDone(&setdir.Done{Shard: info}); err != nil {
			t.Fatal(err)
		}
		split.Shards, split.Records = append(split.Shards, info), split.Records+info.Records
		files = append(files, file)
	}
	m.Splits = []manifest.Split{split}
	data, err := m.Encode()
	if err == nil {
		err = into.Put(manifest.File, data)
	}
	if err == nil && before != nil {
		err = d.Staged().Publish(files, []string{manifest.File}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A set replaced while it is read is an error at the next file that says so; opened again, it is
// the new one.
func TestSetReplacedWhileItIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	putVersion(t, dir, 900, 900, 900)
	set := open(t, dir, Options{Parallelism: 1})
	s, err := set.Records().Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 100 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	putVersion(t, dir, 901, 902, 903)
	n := 100
	for err == nil {
		if _, err = s.Next(); err == nil {
			n++
		}
	}
	if !errors.Is(err, ErrChanged) || n%900 != 0 && n > 2700 {
		t.Errorf("after %d records: %v, want %v", n, err, ErrChanged)
	}
	if n := len(idsOf(t, open(t, dir, Options{}).Records())); n != 901+902+903 {
		t.Errorf("opened again: %d records", n)
	}
}

// An incomplete set is refused unless Partial is set.
func TestPartOfASet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	putVersion(t, dir, 5, 6, 7)
	if err := os.Remove(filepath.Join(dir, "v-train.tfrecord-00001-of-00003")); err != nil {
		t.Fatal(err)
	}
	var part *shard.IncompleteError
	if _, err := Open(t.Context(), dir, Options{}); !errors.As(err, &part) || part.Lost != 1 || !strings.Contains(err.Error(), "; complete it with the tfrec command that wrote it; Options.Partial ") {
		t.Errorf("%v", err)
	}
	noted := ""
	set := open(t, dir, Options{Partial: true, Note: func(s string) { noted = s }})
	if n := len(idsOf(t, set.Records())); n != 12 || noted == "" {
		t.Errorf("%d records, noted %q", n, noted)
	}
	files := open(t, filepath.Join(dir, "*-of-00003"), Options{})
	for _, pipe := range []Pipe{files.Records(), set.ShuffleAll(ShuffleAllOptions{})} {
		if n := len(idsOf(t, pipe)); n != 12 {
			t.Errorf("%d records", n)
		}
	}
}
