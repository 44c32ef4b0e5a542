package reader

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// setOf writes a set with one image per record.
func setOf(t *testing.T, o Options, images ...[]byte) *Set {
	t.Helper()
	return writeRecords(t, o, 1, func(int) (records [][]byte) {
		for _, data := range images {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, data)
				b.Int64(DefaultLabelKey, 1)
			}))
		}
		return records
	})
}

// TestHostileImages: a hostile image ends the flow with the same error as in convert, and
// identifies the record; a merely unusual one is read.
func TestHostileImages(t *testing.T) {
	text, err := os.ReadFile("../testdata/hostile/VERDICTS.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(line), "\t")
		data, err := os.ReadFile(filepath.Join("../testdata/hostile", name))
		if err != nil {
			t.Fatal(err)
		}
		err = nil
		for _, err = range Images(setOf(t, Options{}, data).Interleave(1, 1), ImageSpec{Size: 8}).All(context.Background()) {
			if err != nil {
				break
			}
		}
		switch {
		case strings.HasPrefix(verdict, "ok "):
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case err == nil || !strings.Contains(err.Error(), verdict) || !strings.Contains(err.Error(), "record 0"):
			t.Errorf("%s: %v, want it to say %q and record 0", name, err, verdict)
		}
	}
}

// TestImagesShareMemory: images that take more than Options.Memory are decoded one at a time.
func TestImagesShareMemory(t *testing.T) {
	race.Skip(t)
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	im := &augment.Image{}
	im.Reset(3000, 3000, 1)
	data, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	info, err := codec.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	images := make([][]byte, 12)
	for i := range images {
		images[i] = data
	}
	// peak is the most memory in use while the images are decoded, in excess of what is before. Garbage
	// is collected before it doubles what is in use.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	peak := func(memory int64) uint64 {
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		most := before.HeapInuse
		stop := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			var m runtime.MemStats
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapInuse)
				}
			}
		})
		n := 0
		for _, err := range Images(setOf(t, Options{Memory: memory, Parallelism: 6}, images...).Interleave(1, 1), ImageSpec{Size: 8, Workers: 6, Codec: codec}).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		close(stop)
		group.Wait()
		if n != len(images) {
			t.Errorf("%d images", n)
		}
		return most - before.HeapInuse
	}
	one, many := peak(info.Memory()), peak(20*info.Memory())
	t.Logf("%d bytes an image; one at a time took %d, six at a time %d", info.Memory(), one, many)
	if one > 2*uint64(info.Memory())+32<<20 {
		t.Errorf("one at a time took %d bytes, an image takes %d", one, info.Memory())
	}
}
