package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// encoderFor returns an encoder for the given features and columns.
func encoderFor(columns int, features []tableFeature) *rowEncoder {
	header := make([]string, columns)
	for i := range header {
		header[i] = strconv.Itoa(i)
	}
	slices.SortFunc(features, func(a, b tableFeature) int { return cmp.Compare(a.Key, b.Key) })
	o := &TableOptions{CSVOptions: CSVOptions{Missing: MissingDrop}}
	return newRowEncoder(o, &tableColumns{features: features, key: -1, label: -1},
		&csvRows{absent: csvscan.NewMissing(csvscan.DefaultMissing), header: header, tok: csvscan.NewTokenizer(csvscan.Dialect{Delimiter: ','}, columns)})
}

// TestRowEncoderAgainstBuilder compares the encoder with tfrecord's Builder over keys, numbers and
// texts of many lengths.
func TestRowEncoderAgainstBuilder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var features []tableFeature
		columns := 0
		for i := range 1 + rng.IntN(6) {
			f := tableFeature{Key: fmt.Sprintf("%d%0*d", i, rng.IntN(300), 0), Type: []ColumnType{TypeInt64, TypeFloat, TypeBytes}[rng.IntN(3)]}
			n := 1
			if rng.IntN(3) == 0 {
				f.Vector, n = true, 1+rng.IntN(60)
			}
			for range n {
				f.Columns = append(f.Columns, columns)
				columns++
			}
			features = append(features, f)
		}
		e := encoderFor(columns, features)
		for range 10 {
			checkRow(t, rng, e)
		}
	}
}

// checkRow encodes one random row both ways.
func checkRow(t *testing.T, rng *rand.Rand, e *rowEncoder) {
	fields := make([]string, len(e.rows.(*csvRows).header))
	var b tfrecord.Builder
	for _, f := range e.features {
		var ints []int64
		var floats []float32
		var texts [][]byte
		missing := false
		for _, c := range f.Columns {
			switch f.Type {
			case TypeInt64:
				v := rng.Int64() >> rng.IntN(64)
				if rng.IntN(2) == 0 {
					v = -v
				}
				ints, fields[c] = append(ints, v), strconv.FormatInt(v, 10)
			case TypeFloat:
				v := float32(rng.NormFloat64())
				floats, fields[c] = append(floats, v), strconv.FormatFloat(float64(v), 'g', -1, 32)
			default:
				text := bytes.Repeat([]byte{'x'}, 1+rng.IntN(200))
				if rng.IntN(20) == 0 {
					text = bytes.Repeat([]byte{'y'}, 17000)
				}
				texts, fields[c] = append(texts, text), string(text)
			}
			if rng.IntN(50) == 0 {
				fields[c], missing = "NA", true
			}
		}
		switch {
		case missing:
		case f.Type == TypeInt64:
			b.Int64(f.Key, ints...)
		case f.Type == TypeFloat:
			b.Float(f.Key, floats...)
		default:
			b.Bytes(f.Key, texts...)
		}
	}
	var row []byte
	for i, field := range fields {
		if i > 0 {
			row = append(row, ',')
		}
		row = append(row, field...)
	}
	row = append(row, '\n')
	e.rows.(*csvRows).tok.Reset(row, 1)
	if !e.rows.next() {
		t.Fatal("no row")
	}
	if reason := e.row(); reason != "" {
		t.Fatal(reason)
	}
	got, want := e.appendFrame(nil), tfrecord.AppendFrame(nil, b.Append(nil))
	if !bytes.Equal(got, want) {
		t.Fatalf("row %q:\ngot  %x\nwant %x", row, got, want)
	}
}

func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 10, 1000, 100_000} {
		rows := make([]bound, n)
		for i := range rows {
			rows[i] = bound{rng.Uint64(), int64(i)}
			if i%3 == 1 {
				rows[i].hash = rows[i-1].hash // equal hashes are ordered by number
			}
		}
		each := func(yield func(uint64, int64)) error {
			for _, r := range rows {
				yield(r.hash, r.row)
			}
			return nil
		}
		ranks := []int64{0, int64(n / 3), int64(n / 2), int64(n/2) + 1, int64(n - 1)}
		ranks = slices.DeleteFunc(ranks, func(r int64) bool { return r >= int64(n) })
		sorted := slices.SortedFunc(slices.Values(rows), func(a, b bound) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row))
		})
		slices.Sort(ranks)
		found, err := bounds(each, int64(n), ranks)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range found {
			if got != sorted[ranks[i]] {
				t.Errorf("%d rows: rank %d is %v, want %v", n, ranks[i], got, sorted[ranks[i]])
			}
		}
	}
}
