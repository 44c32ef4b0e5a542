package command

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

var pythonFlag = flag.String("python", "", "Python with Pillow, to compare verify --deep with")

// pillowLoop decodes the images of a shard as a careful person's script does.
const pillowLoop = `
import io, struct, sys
from PIL import Image
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at)
        record = data[at + 12:at + 12 + size]
        Image.open(io.BytesIO(record[record.index(b"\xff\xd8\xff"):])).load()
        at += size + 16
`

// BenchmarkVerifyDeep looks into 800 photographs of some 33 KB with one worker:
// whether they decode, and what they look like. With -python PATH the same
// records go through a loop of Pillow's in the same run.
func BenchmarkVerifyDeep(b *testing.B) {
	photos, err := filepath.Glob(filepath.Join(demo(), "photos/*/*.jpg"))
	if err != nil || len(photos) == 0 {
		b.Fatal(err, len(photos))
	}
	const times = 20
	var shards []string
	var size int64
	for i := range times {
		var frames []byte
		var record tfrecord.Builder
		for _, path := range photos {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			record.Reset()
			record.Bytes("image/encoded", data)
			record.String("image/filename", path)
			frames = tfrecord.AppendFrame(frames, record.Append(nil))
		}
		path := filepath.Join(b.TempDir(), fmt.Sprintf("x-%d.tfrecord", i))
		if err := os.WriteFile(path, frames, 0o644); err != nil {
			b.Fatal(err)
		}
		shards, size = append(shards, path), size+int64(len(frames))
	}
	images := float64(times * len(photos))
	measure := func(name string, run func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(images*float64(b.N)/b.Elapsed().Seconds(), "pictures/s")
		})
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, near := range []bool{false, true} {
		measure(map[bool]string{false: "deep", true: "near"}[near], func() error {
			o := verify.Options{Workers: 1, Deep: &verify.DeepOptions{Decode: imageDecoder(codec), Near: near}}
			report, err := verify.Files(context.Background(), shards, o)
			if err == nil && (!report.OK || report.Deep.Decoded != int64(images)) {
				err = fmt.Errorf("%d of %v pictures decoded", report.Deep.Decoded, images)
			}
			return err
		})
	}
	if *pythonFlag == "" {
		return
	}
	measure("pillow", func() error {
		out, err := exec.Command(*pythonFlag, append([]string{"-c", pillowLoop}, shards...)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
}
