package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeFiles writes files of records and returns their directory.
func writeFiles(t *testing.T, c tfrecord.Compression, files, records int, record func(i int) []byte) string {
	t.Helper()
	dir := t.TempDir()
	for f := range files {
		var all [][]byte
		for i := range records {
			all = append(all, record(f*records+i))
		}
		data := settest.FileOf(all...)
		if c != tfrecord.CompressionNone {
			data = settest.Compressed(t, c, data)
		}
		settest.PutFile(t, filepath.Join(dir, fmt.Sprintf("n-%05d-of-%05d.tfrecord", f, files)), data)
	}
	return dir
}

// row returns an Example with two features.
func row(i int) []byte {
	return settest.Example(func(b *tfrecord.Builder) { settest.Numbers(i, b) })
}

// photo returns a function that makes Examples with a JPEG of 64x48 pixels.
func photo(t *testing.T) func(i int) []byte {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	im := augment.Image{Width: 64, Height: 48, Channels: 3, Stride: 64 * 3, Pix: make([]byte, 64*48*3)}
	for i := range im.Pix {
		im.Pix[i] = byte(i * i)
	}
	encoded, err := codec.AppendJPEG(nil, &im, 90, "420")
	if err != nil {
		t.Fatal(err)
	}
	return func(i int) []byte {
		return settest.Example(func(b *tfrecord.Builder) {
			b.Bytes("image/encoded", encoded)
			b.Int64("image/class/label", int64(i))
		})
	}
}

// TestRun measures small sets of each kind: every step that applies has a speed, and no other.
func TestRun(t *testing.T) {
	rows := []string{Storage, Frame, CRC, Parse, Shuffle}
	for name, c := range map[string]struct {
		dir         string
		steps       []string
		compression string
		files       int
		pixels      float64
	}{
		"rows":   {writeFiles(t, tfrecord.CompressionNone, 3, 100, row), rows, "none", 3, 0},
		"gzip":   {writeFiles(t, tfrecord.CompressionGzip, 1, 300, row), append([]string{Decompress}, rows...), "gzip", 1, 0},
		"photos": {writeFiles(t, tfrecord.CompressionNone, 2, 20, photo(t)), append([]string{Decode}, rows...), "none", 2, 64 * 48},
		"bytes":  {writeFiles(t, tfrecord.CompressionNone, 1, 50, func(i int) []byte { return []byte("not an Example") }), []string{Storage, Frame, CRC, Shuffle}, "none", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Run(t.Context(), []string{c.dir}, Options{Duration: 300 * time.Millisecond, Batch: 4, Size: 32})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, s := range r.Steps {
				steps = append(steps, s.Name)
				if !(s.One > 0 && s.All > 0 && s.OneMB > 0 && s.AllMB > 0 && s.Workers >= 1) {
					t.Errorf("%+v", s)
				}
			}
			slices.Sort(steps)
			slices.Sort(c.steps)
			if !slices.Equal(steps, c.steps) || r.Compression != c.compression || r.Files != c.files || r.ImagePixels != c.pixels {
				t.Errorf("steps %q, compression %s, %d files, %g pixels; want %q, %s, %d, %g",
					steps, r.Compression, r.Files, r.ImagePixels, c.steps, c.compression, c.files, c.pixels)
			}
			if r.Pipeline.RecordsPerSec <= 0 || r.Verdict.Text == "" || r.Verdict.Bound == "" || r.Verdict.Needed != 4/0.05 || r.Skipped != 0 || r.Damage != nil {
				t.Errorf("%+v", r)
			}
			if r.SampleRecords == 0 || r.StoredPerRecord <= 0 || r.Bytes == 0 {
				t.Errorf("%+v", r)
			}
			if other := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "not Examples") }); other != (name == "bytes") {
				t.Errorf("notes %q", r.Notes)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err) // an infinite speed
			}
		})
	}
}

// TestRunDamaged leaves damage out and counts it once, however often it is met.
func TestRunDamaged(t *testing.T) {
	dir := writeFiles(t, tfrecord.CompressionNone, 2, 100, row)
	path := filepath.Join(dir, "n-00001-of-00002.tfrecord")
	settest.FlipIn(t, path, tfrecord.HeaderSize)
	r, err := Run(t.Context(), []string{dir}, Options{Duration: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Skipped != 1 || len(r.Damage) != 1 || !strings.Contains(r.Damage[0], path) || r.SampleRecords != 199 {
		t.Errorf("%d skipped, %q, a sample of %d", r.Skipped, r.Damage, r.SampleRecords)
	}
	if !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, "1 record damaged and left out") }) {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestRunRefuses sets that have nothing to measure.
func TestRunRefuses(t *testing.T) {
	empty := writeFiles(t, tfrecord.CompressionNone, 2, 0, row)
	text := filepath.Join(t.TempDir(), "text.tfrecord")
	settest.PutFile(t, text, []byte(strings.Repeat("no records here\n", 20)))
	o := Options{Duration: 100 * time.Millisecond}
	if _, err := Run(t.Context(), []string{t.TempDir()}, o); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := Run(t.Context(), []string{empty}, o); err == nil || !strings.Contains(err.Error(), "no records in the files that can be measured") {
		t.Errorf("empty files: %v", err)
	}
	var located *tfrecord.Error
	if _, err := Run(t.Context(), []string{text}, o); !errors.As(err, &located) || located.Name != text {
		t.Errorf("a text: %v", err)
	}
	fakes := writeFiles(t, tfrecord.CompressionNone, 1, 10, func(i int) []byte { return settest.Photo(int64(i), "") })
	if _, err := Run(t.Context(), []string{fakes}, o); !errors.As(err, &located) || located.Record != 0 || !strings.Contains(err.Error(), "image/encoded") {
		t.Errorf("images that are none: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, []string{writeFiles(t, tfrecord.CompressionNone, 1, 10, row)}, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRunStore measures a set in an object store, which has no page cache.
func TestRunStore(t *testing.T) {
	store, url := settest.StoreOf(t)
	for name, data := range settest.FilesOf(t, writeFiles(t, tfrecord.CompressionZstd, 2, 100, row)) {
		store.Put("set/"+name, []byte(data))
	}
	r, err := Run(t.Context(), []string{url + "/set"}, Options{Duration: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Remote || r.Cached != nil || r.Compression != "zstd" || r.SampleRecords != 200 || r.fitsMemory() {
		t.Errorf("%+v", r)
	}
}
