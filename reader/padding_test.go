package reader

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// A batch that is too large is not the fault of a record: SkipBad does not skip records for it.
func TestSkipBadDoesNotCoverPadding(t *testing.T) {
	set := writeRecords(t, Options{SkipBad: SkipBad{Count: 1000}, OnSkip: func(s Skipped) { t.Errorf("skipped: %v", s.Err) }}, 1, func(int) (records [][]byte) {
		for i := range 50 {
			n := 1
			if i == 5 {
				n = 3 << 20
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) { b.Int64("a", make([]int64, n)...) }))
		}
		return records
	})
	schema := columns.Schema{{Key: "a", Kind: tfrecord.KindInt64, Steps: columns.FlatSteps, Length: columns.Longest}}
	var failed error
	for b, err := range ParseColumns(set.Records(), ColumnSpec{Schema: schema, Batch: 50}).All(t.Context()) {
		if failed = err; err == nil {
			t.Errorf("a batch of %d rows", b.Rows)
		}
	}
	if !errors.Is(failed, columns.ErrPadding) || !strings.Contains(failed.Error(), "padded to 3145728 steps, those of row 5") {
		t.Errorf("%v; want ErrPadding", failed)
	}
}

func TestStartRefusesLengthsThatAreTooLarge(t *testing.T) {
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return [][]byte{episode(1, 3)} })
	schema := columns.Schema{{Key: "a", Kind: tfrecord.KindFloat, Shape: []int{1024}, Steps: columns.FlatSteps, Length: 2048}}
	const says = `feature "a": padded to 2048 steps, in 256 rows: set a smaller Length`
	if _, err := ParseColumns(set.Records(), ColumnSpec{Schema: schema, Batch: 256}).Start(t.Context(), From{}); !errors.Is(err, columns.ErrPadding) || !strings.Contains(err.Error(), says) {
		t.Errorf("columns: %v; want ErrPadding", err)
	}
	if _, err := Images(set.Records(), ImageSpec{Size: 8, Columns: schema, Batch: 256}).Start(t.Context(), From{}); !errors.Is(err, columns.ErrPadding) || !strings.Contains(err.Error(), says) {
		t.Errorf("images: %v; want ErrPadding", err)
	}
	if s, err := ParseColumns(set.Records(), ColumnSpec{Schema: schema, Batch: 128}).Start(t.Context(), From{}); err != nil {
		t.Errorf("a batch of 1 GiB: %v", err)
	} else {
		s.Close()
	}
}
