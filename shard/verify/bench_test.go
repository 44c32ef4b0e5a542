package verify

import (
	"context"
	"fmt"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
)

// BenchmarkVerify verifies eight cached shards of 100 KB records on all cores: loose files, whose
// CRCs are checked, and a set, which is hashed as well.
func BenchmarkVerify(b *testing.B) {
	record := make([]byte, 100_000)
	for i := range record {
		record[i] = byte(i * 7)
	}
	const shards, records = 8, 320
	dir := b.TempDir()
	m := settest.WriteSet(b, dir, shards, func(yield func([]byte)) {
		for range records {
			yield(record)
		}
	})
	for _, c := range []struct{ name, path string }{
		{"set", dir},
		{"loose", dir + "/*.tfrecord-*"},
	} {
		if c.name == "loose" {
			settest.RemoveManifest(b, dir)
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(shards) * m.Splits[0].Shards[0].Bytes)
			b.ReportAllocs()
			for b.Loop() {
				report, err := Files(context.Background(), []string{c.path}, Options{})
				if err != nil || !report.OK {
					b.Fatal(err, fmt.Sprint(report.Faults))
				}
			}
		})
	}
}
