package repair

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/diff"
	"github.com/tfrec/tfrec/tfrecord"
)

// othersFiles returns record files that other tools wrote: those in this repository, and more if
// available.
func othersFiles(t *testing.T) (paths []string) {
	t.Helper()
	for _, dir := range []string{"../../testdata/tfrecords", "../../testdata/goldens", "../../../shared/data/tfrecords"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() < 4<<20 && wholeRecords(path) != nil {
				paths = append(paths, path)
			}
		}
	}
	if len(paths) < 10 {
		t.Fatalf("only %d files of others", len(paths))
	}
	return paths
}

// wholeRecords returns the records of a file; nil if it is damaged or not a record file.
func wholeRecords(path string) [][]byte {
	r, err := shard.Open(context.Background(), path, tfrecord.ReaderOptions{})
	if err != nil {
		return nil
	}
	defer r.Close()
	list := [][]byte{}
	for {
		record, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			return nil
		}
		list = append(list, bytes.Clone(record))
	}
}

// Copy finds files of other tools intact; if they are truncated, it saves what a Reader reads
// before the cut.
func TestRepairOfOthersFiles(t *testing.T) {
	for _, path := range othersFiles(t) {
		data, err := os.ReadFile(path)
		settest.Check(t, err)
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		report, err := Copy(context.Background(), path, out, Options{})
		settest.Check(t, err)
		if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, data) || report.Status != "clean" {
			t.Errorf("%s: %v %+v", path, err, report)
		}
		if len(data) == 0 {
			continue
		}
		cut := filepath.Join(dir, filepath.Base(path))
		settest.PutFile(t, cut, data[:len(data)*2/3])
		var want [][]byte
		r, err := shard.Open(t.Context(), cut, tfrecord.ReaderOptions{})
		settest.Check(t, err)
		for record, err := range r.All() {
			if err != nil {
				break
			}
			want = append(want, bytes.Clone(record))
		}
		settest.Check(t, r.Close())
		saved := filepath.Join(dir, "saved")
		_, err = Copy(context.Background(), cut, saved, Options{})
		if errors.Is(err, ErrNothingSaved) && len(want) == 0 {
			continue
		}
		settest.Check(t, err)
		// Salvage may decompress more than the Reader, up to the last bit.
		if got := settest.RecordsOf(t, saved); len(got) < len(want) || !slices.EqualFunc(got[:len(want)], want, bytes.Equal) {
			t.Errorf("%s: %d records, want %d", path, len(got), len(want))
		}
	}
}

// Adopt accepts every file of other tools unchanged, and the result verifies.
func TestAdoptOfOthersFiles(t *testing.T) {
	for _, path := range othersFiles(t) {
		data, err := os.ReadFile(path)
		settest.Check(t, err)
		dir := filepath.Join(t.TempDir(), "set")
		file := filepath.Join(dir, "x.tfrecord") // many of their names imply that there are more files
		settest.PutFile(t, file, data)
		report := adopt(t, dir, AdoptOptions{})
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, data) || report.Status != "written" {
			t.Errorf("%s: %v %+v", path, err, report)
		}
		verified(t, dir)
		if again := adopt(t, dir, AdoptOptions{}); again.Status != "up_to_date" {
			t.Errorf("%s: again: %+v", path, again)
		}
		same, err := diff.Compare(t.Context(), path, dir, diff.Options{})
		settest.Check(t, err)
		if same.RecordsA != same.RecordsB || same.Differing+same.OnlyA+same.OnlyB > 0 {
			t.Errorf("%s: %+v", path, same)
		}
	}
}
