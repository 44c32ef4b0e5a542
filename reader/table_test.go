package reader

import (
	"math/rand/v2"
	"strings"

	"github.com/tfrec/tfrec/tfrecord"
)

// example returns an Example built by build.
func example(build func(b *tfrecord.Builder)) []byte {
	var b tfrecord.Builder
	build(&b)
	return b.Append(nil)
}

// table returns table-like records: a label, an amount, 28 numbers and a name.
func table(n int) [][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	records := make([][]byte, n)
	for i := range records {
		records[i] = example(func(b *tfrecord.Builder) {
			v := make([]float32, 28)
			for k := range v {
				v[k] = rnd.Float32()
			}
			b.Int64("label", int64(i%10))
			b.Float("amount", rnd.Float32())
			b.Float("v", v...)
			b.String("merchant", "m"+strings.Repeat("1", i%3))
		})
	}
	return records
}
