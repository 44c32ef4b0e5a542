package columns

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// steps returns an Example whose feature has n steps, of the value 0.
func steps(key string, n int) []byte {
	return settest.Example(func(b *tfrecord.Builder) { b.Int64(key, make([]int64, n)...) })
}

func TestPaddingIsBounded(t *testing.T) {
	record := settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1) })
	p, err := NewParser(Schema{{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: maxDense / 4}})
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	p.Reset(&c)
	for range 2 {
		if err := p.Append(&c, record); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Append(&c, record); err == nil || !strings.Contains(err.Error(), `feature "a": padded to 67108864 steps`) || c.Rows != 2 || c.Columns[0].Len() != 2 {
		t.Errorf("%v after %d rows", err, c.Rows)
	}
}

// One long record makes the batch too large, not the others: the error is that of the batch.
func TestLongestIsBounded(t *testing.T) {
	p, err := NewParser(Schema{{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: Longest}})
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	p.Reset(&c)
	for i := range 43 {
		n := 1
		if i == 5 {
			n = 3 << 20
		}
		err = p.Append(&c, steps("a", n))
		if i < 42 && err != nil {
			t.Fatal(i, err)
		}
	}
	var record *tfrecord.Error
	if !errors.Is(err, ErrPadding) || errors.As(err, &record) || !strings.Contains(err.Error(), `feature "a": padded to 3145728 steps, those of row 5, in 43 rows: set a Length, group records`) {
		t.Errorf("%v; want ErrPadding", err)
	}
	if c.Rows != 42 || len(c.Columns[0].Int64s) != 3<<20+41 {
		t.Errorf("%d rows, %d values: want those before the error", c.Rows, len(c.Columns[0].Int64s))
	}
}

// The columns of a batch share the limit.
func TestPaddedColumnsShareALimit(t *testing.T) {
	schema := Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: 1 << 20, AllowMissing: true},
		{Key: "b", Kind: tfrecord.KindFloat, Steps: FlatSteps, Length: 1 << 20, Shape: []int{3}, AllowMissing: true},
		{Key: "c", Kind: tfrecord.KindBytes, Steps: FlatSteps, Length: 1 << 20, Default: "padding, of 21 bytes.", AllowMissing: true},
		{Key: "d", Kind: tfrecord.KindBytes, Steps: FlatSteps, Length: Longest, Default: strings.Repeat("x", 1<<20-8), AllowMissing: true},
	}
	const most = 1 << 30 / ((8+12+8+21)<<20 + 1<<20)
	if err := schema.CheckBatch(most); err != nil {
		t.Error(err)
	}
	if err := schema.CheckBatch(most + 1); !errors.Is(err, ErrPadding) || !strings.Contains(err.Error(), `feature "c": padded to 1048576 steps`) {
		t.Errorf("%v; want ErrPadding", err)
	}
	p, err := NewParser(schema)
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	p.Reset(&c)
	for range most {
		if err := p.Append(&c, steps("a", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Append(&c, steps("a", 1)); !errors.Is(err, ErrPadding) {
		t.Errorf("%v; want ErrPadding", err)
	}
}

// A row that is refused for one column must not have widened another.
func TestRefusedRowsDoNotWiden(t *testing.T) {
	race.Skip(t)
	p, err := NewParser(Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: Longest},
		{Key: "b", Kind: tfrecord.KindFloat, Steps: FlatSteps, Length: 1 << 27, AllowMissing: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	p.Reset(&c)
	if err := p.Append(&c, steps("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Append(&c, steps("a", 1<<20)); !errors.Is(err, ErrPadding) {
		t.Fatalf("%v; want ErrPadding", err)
	}
	if col := &c.Columns[0]; c.Rows != 1 || col.width != 1 || col.longest != -1 {
		t.Errorf("%d rows, the column has %d steps, of row %d: want those of the first row", c.Rows, col.width, col.longest)
	}
}

// The memory of a large batch is not kept for those that need little of it, and that of equal
// batches is.
func TestColumnsDropMemory(t *testing.T) {
	race.Skip(t)
	p, err := NewParser(Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: Longest, AllowMissing: true},
		{Key: "r", Kind: tfrecord.KindInt64, Ragged: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	parse := func(key string, n int) (columns, spare int) {
		t.Helper()
		if err := p.Parse(&c, [][]byte{steps(key, n), steps(key, 1)}); err != nil {
			t.Fatal(err)
		}
		return 8 * (cap(c.Columns[0].Int64s) + cap(c.Columns[1].Int64s)), 8 * cap(p.spare[0].Int64s)
	}
	for _, key := range []string{"a", "r"} {
		parse(key, 4<<20)
		parse(key, 4<<20)
		for range 3 {
			parse(key, 1)
		}
		if columns, spare := parse(key, 1); columns > 1<<10 || spare > 1<<10 {
			t.Errorf("%s: %d and %d bytes for small batches", key, columns, spare)
		}
	}
}
