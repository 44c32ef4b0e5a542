package table

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// What parts of the rows show, merged, is what a loop over the values says, and what all rows show.
func TestColumnStats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "\xff", "äö", "z"}
	for range 2000 {
		var merged, all ColumnStats
		var missing int64
		var lengths []int
		notText, distinct := false, map[string]struct{}{}
		rows := Values{Kind: Bytes, Splits: []int32{0}}
		for range r.IntN(4) {
			part := Values{Kind: Bytes, Splits: []int32{0}}
			n := 1 + r.IntN(3)
			for range n {
				present := r.IntN(4) > 0
				values := 0
				if present {
					values = r.IntN(3)
					lengths = append(lengths, values)
				} else {
					missing++
				}
				for range values {
					text := texts[r.IntN(len(texts))]
					notText = notText || !utf8.ValidString(text)
					distinct[text] = struct{}{}
					for _, v := range []*Values{&part, &rows} {
						v.Data = append(v.Data, text...)
						v.Ends = append(v.Ends, int32(len(v.Data)))
					}
				}
				for _, v := range []*Values{&part, &rows} {
					v.Present = append(v.Present, present)
					v.Splits = append(v.Splits, int32(len(v.Ends)))
				}
			}
			var s ColumnStats
			if err := s.Add(&part, n, true, true); err != nil {
				t.Fatal(err)
			}
			merged.Merge(&s)
		}
		if err := all.Add(&rows, len(rows.Present), true, true); err != nil {
			t.Fatal(err)
		}
		length := 0
		if len(lengths) > 0 && slices.Min(lengths) == slices.Max(lengths) {
			length = lengths[0]
		}
		for _, s := range []*ColumnStats{&merged, &all} {
			if s.Missing != missing || s.Seen != (len(lengths) > 0) || s.NotText != notText || s.Length() != length || !maps.Equal(s.Distinct, distinct) {
				t.Fatalf("%+v of %+v: want %d missing, length %d of %d, not text %v, distinct %v", s, rows, missing, length, lengths, notText, distinct)
			}
		}
	}
}

func TestColumnStatsManyDistinct(t *testing.T) {
	v := Values{Kind: Int64}
	for i := range int64(MaxDistinct) {
		v.Ints = append(v.Ints, i)
	}
	var s ColumnStats
	if err := s.Add(&v, MaxDistinct, false, true); err != nil {
		t.Error(err)
	}
	if err := s.Add(&Values{Kind: Int64, Ints: []int64{-1}}, 1, false, true); err != ErrDistinct {
		t.Errorf("want %v, got %v", ErrDistinct, err)
	}
}
