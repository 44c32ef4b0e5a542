package reshape

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestInputsThatShrink truncates the input after its first read, its second, and so on: the run
// fails, names the file and leaves no files behind, unless it had already read all it needed.
func TestInputsThatShrink(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 30, func(i int, b *tfrecord.Builder) {
		forReshapers(i, b)
		b.Bytes("data", make([]byte, transfer.LeastFetched))
	})
	data, err := os.ReadFile(path)
	settest.Check(t, err)
	for _, name := range []string{"reshard", "shuffle", "sort", "group", "filter", "dedupe"} {
		run := reshapers[name]
		whole := filepath.Join(t.TempDir(), "whole")
		settest.Check(t, run(context.Background(), []string{path}, whole, Options{Shards: 3, Name: "x"}))
		short := 0
		for at := int64(1); at < 50; at++ {
			settest.PutFile(t, path, data)
			var reads atomic.Int64
			hooked := inject.With(context.Background(), func(operation string) error {
				if operation == "read" && reads.Add(1) == at {
					return os.Truncate(path, int64(len(data)/2))
				}
				return nil
			})
			out := filepath.Join(t.TempDir(), "out")
			err := run(hooked, []string{path}, out, Options{Shards: 3, Name: "x"})
			switch {
			case err != nil:
				short++
				if !strings.Contains(err.Error(), path) {
					t.Errorf("%s, cut at read %d: %v", name, at, err)
				}
				settest.NothingAt(t, out)
			case !settest.SameFiles(settest.FilesOf(t, whole), settest.FilesOf(t, out)):
				t.Errorf("%s, cut at read %d: another set", name, at)
			}
			if reads.Load() < at {
				break
			}
		}
		if short < 3 {
			t.Errorf("%s: %d reads met a file that had become shorter", name, short)
		}
		settest.PutFile(t, path, data)
	}
}
