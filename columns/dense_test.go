package columns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// raggedColumns are the columns i, f and w of records that have the given numbers of values.
func raggedColumns(t *testing.T, lengths []int) *Columns {
	t.Helper()
	var records [][]byte
	n := 0
	for _, length := range lengths {
		records = append(records, settest.Example(func(b *tfrecord.Builder) {
			var ids []int64
			var values []float32
			var words []string
			for range length {
				n++
				ids, values, words = append(ids, int64(n)), append(values, float32(n)), append(words, fmt.Sprint("w", n))
			}
			b.Int64("i", ids...)
			b.Float("f", values...)
			b.String("w", words...)
		}))
	}
	c, err := parse(t, Schema{
		{Key: "f", Kind: tfrecord.KindFloat, Ragged: true},
		{Key: "i", Kind: tfrecord.KindInt64, Ragged: true},
		{Key: "w", Kind: tfrecord.KindBytes, Ragged: true},
	}, records...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDense compares with a table that is filled value by value. All kinds have the same numbers in
// it: n, float32(n) and "wn", and 0 where nothing is.
func TestDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var ints, floats, words Column // reused
	for trial := range 300 {
		lengths := make([]int, rnd.IntN(9))
		for i := range lengths {
			lengths[i] = rnd.IntN(1 + trial%7)
		}
		c := raggedColumns(t, lengths)
		width := rnd.IntN(9)
		used := width
		if width == 0 {
			used = max(1, slices.Max(append(lengths, 0)))
		}
		var want []int64
		n := 0
		for _, length := range lengths {
			for i := range max(used, length) {
				switch {
				case i < length:
					n++
					if i < used {
						want = append(want, int64(n))
					}
				default:
					want = append(want, 0)
				}
			}
		}
		for key, dst := range map[string]*Column{"i": &ints, "f": &floats, "w": &words} {
			pad := map[string]any{"i": nil, "f": float32(0), "w": "w0"}[key]
			if err := c.Get(key).Dense(dst, width, pad); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dst.Shape, []int{len(lengths), used}) || dst.Len() != len(want) || dst.Key != key || len(dst.Splits) > 0 {
				t.Fatalf("lengths %v, width %d: column %s of shape %v with %d values", lengths, width, dst.Key, dst.Shape, dst.Len())
			}
			for i, n := range want {
				row, _ := dst.Row(i / used)
				got := ""
				switch key {
				case "i":
					got = fmt.Sprint("w", dst.Int64s[row+i%used])
				case "f":
					got = fmt.Sprint("w", dst.Floats[row+i%used])
				default:
					got = string(dst.Value(row + i%used))
				}
				if got != fmt.Sprint("w", n) {
					t.Fatalf("lengths %v, width %d: value %d of %s is %s, want %d", lengths, width, i, key, got, n)
				}
			}
		}
		var have []int64
		for _, length := range lengths {
			have = append(have, int64(length))
		}
		if got := c.Get("i").Lengths(nil); !slices.Equal(got, have) {
			t.Fatalf("lengths %v, want %v", got, have)
		}
	}
}

func TestDenseOfAFixedShape(t *testing.T) {
	c, err := parse(t, Schema{{Key: "v", Kind: tfrecord.KindInt64, Shape: []int{2, 2}}},
		settest.Example(func(b *tfrecord.Builder) { b.Int64("v", 1, 2, 3, 4) }),
		settest.Example(func(b *tfrecord.Builder) { b.Int64("v", 5, 6, 7, 8) }))
	if err != nil {
		t.Fatal(err)
	}
	var d Column
	if err := c.Get("v").Dense(&d, 5, int64(-1)); err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 2, 3, 4, -1, 5, 6, 7, 8, -1}; !slices.Equal(d.Int64s, want) {
		t.Errorf("%v, want %v", d.Int64s, want)
	}
	if got := c.Get("v").Lengths(nil); !slices.Equal(got, []int64{4, 4}) {
		t.Errorf("lengths %v", got)
	}
}

func TestOneHotAndMultiHot(t *testing.T) {
	c, err := parse(t, Schema{
		{Key: "pair", Kind: tfrecord.KindInt64, Shape: []int{2}},
		{Key: "tags", Kind: tfrecord.KindInt64, Ragged: true},
	},
		settest.Example(func(b *tfrecord.Builder) { b.Int64("pair", 0, 2); b.Int64("tags", 1, 1, 2) }),
		settest.Example(func(b *tfrecord.Builder) { b.Int64("pair", 1, 1) }))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Get("pair").OneHot([]float32{9}, 3)
	if diff := cmp.Diff([]float32{9, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}, got); diff != "" || err != nil {
		t.Errorf("one-hot: %v\n%s", err, diff)
	}
	got, err = c.Get("tags").MultiHot(nil, 3)
	if diff := cmp.Diff([]float32{0, 1, 1, 0, 0, 0}, got); diff != "" || err != nil {
		t.Errorf("multi-hot: %v\n%s", err, diff)
	}
	for name, test := range map[string]struct {
		err  error
		says string
	}{
		"ragged": {second(c.Get("tags").OneHot(nil, 3)), "use MultiHot"},
		"depth":  {second(c.Get("pair").OneHot(nil, 2)), `row 0 of column "pair" has the value 2: want 0 to 1`},
		"row":    {second(c.Get("tags").MultiHot(nil, 2)), `row 0 of column "tags" has the value 2`},
		"none":   {second(c.Get("pair").OneHot(nil, 0)), "width of at least 1"},
		"huge":   {second(c.Get("pair").OneHot(nil, 1<<40)), "at most"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, test.err, test.says)
		}
	}
}

// TestHotVectorsAndLookups compares with loops over the rows, for columns of any lengths and ids, of
// which some are out of range or unknown.
func TestHotVectorsAndLookups(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	refused := 0
	for trial := range 300 {
		lengths := make([]int, rnd.IntN(8))
		total := 0
		for i := range lengths {
			lengths[i] = rnd.IntN(5)
			total += lengths[i]
		}
		c := raggedColumns(t, lengths) // ids 1 to total, and words "w1" to "w" and total
		depth := 1 + rnd.IntN(total+3)
		before := []float32{7, 8}[:rnd.IntN(3)]
		want, n, fits := slices.Clone(before), 0, total < depth
		for _, length := range lengths {
			row := make([]float32, depth)
			for range length {
				if n++; n < depth {
					row[n] = 1
				}
			}
			want = append(want, row...)
		}
		got, err := c.Get("i").MultiHot(slices.Clone(before), depth)
		if !fits {
			want = before
			refused++
		}
		if (err == nil) != fits || !slices.Equal(got, want) {
			t.Fatalf("trial %d: lengths %v, depth %d: %v, %v, want %v", trial, lengths, depth, got, err, want)
		}
		var dense Column
		if err := c.Get("i").Dense(&dense, 0, nil); err != nil {
			t.Fatal(err)
		}
		hot, err := dense.OneHot(nil, depth)
		if (err == nil) != fits || err == nil && len(hot) != len(dense.Int64s)*depth {
			t.Fatalf("trial %d: lengths %v, depth %d: %d numbers, %v", trial, lengths, depth, len(hot), err)
		}
		for i, x := range hot {
			if (x == 1) != (int64(i%depth) == dense.Int64s[i/depth]) {
				t.Fatalf("trial %d: number %d of the vectors of %v is %v", trial, i, dense.Int64s, x)
			}
		}
		words := make([]string, depth)
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		v, err := NewVocabulary(words)
		if err != nil {
			t.Fatal(err)
		}
		ids := []int64{}
		for id := range total {
			ids = append(ids, min(int64(id+1), int64(depth)))
		}
		if got, err := v.LookupOr([]int64{}, c.Get("w"), int64(depth)); err != nil || !slices.Equal(got, ids) {
			t.Fatalf("trial %d: %v, %v, want %v", trial, got, err, ids)
		}
		if got, err := v.Lookup([]int64{9}, c.Get("w")); (err == nil) != fits || err == nil && !slices.Equal(got[1:], ids) || err != nil && !slices.Equal(got, []int64{9}) {
			t.Fatalf("trial %d: %v, %v, want %v", trial, got, err, ids)
		}
	}
	if refused < 30 || refused > 270 {
		t.Errorf("%d of 300 trials were out of range", refused)
	}
}

func second[T any](_ T, err error) error { return err }

func TestDenseRefuses(t *testing.T) {
	c := raggedColumns(t, []int{3, 1})
	var d Column
	for name, test := range map[string]struct {
		err  error
		says string
	}{
		"pad":   {c.Get("i").Dense(&d, 0, 1.5), "cannot be padded with a float64"},
		"float": {c.Get("f").Dense(&d, 0, "x"), "cannot be padded with a string"},
		"huge":  {c.Get("w").Dense(&d, 1<<60, nil), "at most"},
		"below": {c.Get("w").Dense(&d, -1, nil), "at least 1"},
		"hot":   {second(c.Get("w").MultiHot(nil, 2)), "Vocabulary"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, test.err, test.says)
		}
	}
}

func TestVocabulary(t *testing.T) {
	words := []string{"w1", "w2", "", "w4"}
	v, err := NewVocabulary(words)
	if err != nil {
		t.Fatal(err)
	}
	words[0] = "changed"
	if v.Len() != 4 || v.Word(0) != "w1" {
		t.Errorf("%d words, the first is %q", v.Len(), v.Word(0))
	}
	if id, ok := v.ID(nil); id != 2 || !ok {
		t.Errorf("the empty word: %d, %v", id, ok)
	}
	known, all := raggedColumns(t, []int{2, 0}), raggedColumns(t, []int{1, 0, 3})
	if ids, err := v.Lookup([]int64{7}, known.Get("w")); err != nil || !slices.Equal(ids, []int64{7, 0, 1}) {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := v.Lookup(nil, all.Get("w")); err == nil || !strings.Contains(err.Error(), `row 2 of column "w" has "w3"`) {
		t.Errorf("an unknown word: %v", err)
	}
	if ids, err := v.LookupOr(nil, all.Get("w"), 4); err != nil || !slices.Equal(ids, []int64{0, 1, 4, 3}) {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := v.LookupOr(nil, all.Get("i"), 4); err == nil || !strings.Contains(err.Error(), "only bytes") {
		t.Errorf("numbers: %v", err)
	}
	if _, err := NewVocabulary([]string{"a", "b", "a"}); err == nil || !strings.Contains(err.Error(), `words 0 and 2 are both "a"`) {
		t.Errorf("twice: %v", err)
	}
}

// Padding is not a value.
func TestPaddingIsNoValue(t *testing.T) {
	p, err := NewParser(Schema{
		{Key: "id", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: Longest, Default: -1},
		{Key: "pair", Kind: tfrecord.KindInt64, Shape: []int{2}, Steps: FlatSteps, Length: 2},
		{Key: "word", Kind: tfrecord.KindBytes, Steps: FlatSteps, Length: Longest},
		{Key: "padded", Kind: tfrecord.KindBytes, Steps: FlatSteps, Length: 2, Default: "y", AllowMissing: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	if err := p.Parse(&c, [][]byte{
		settest.Example(func(b *tfrecord.Builder) { b.Int64("id", 2); b.Int64("pair", 1, 2); b.String("word", "x") }),
		settest.Example(func(b *tfrecord.Builder) {
			b.Int64("id", 1, 0)
			b.Int64("pair", 2, 2, 1, 1)
			b.String("word", "x", "y")
		}),
	}); err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want any, err error) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", what, err, diff)
		}
	}
	hot, err := c.Get("id").MultiHot(nil, 3)
	check("MultiHot", hot, []float32{0, 0, 1, 1, 1, 0}, err)
	hot, err = c.Get("pair").MultiHot(nil, 3)
	check("MultiHot of pairs", hot, []float32{0, 1, 1, 0, 1, 1}, err)

	v, err := NewVocabulary([]string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := v.Lookup(nil, c.Get("word"))
	check("Lookup", ids, []int64{0, -1, 0, 1}, err)
	ids, err = v.LookupOr(nil, c.Get("word"), 7)
	check("LookupOr", ids, []int64{0, 7, 0, 1}, err)
	ids, err = v.Lookup(nil, c.Get("padded"))
	check("Lookup of padding", ids, []int64{1, 1, 1, 1}, err)
	if v, err = NewVocabulary([]string{"x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Lookup(nil, c.Get("word")); err == nil || !strings.Contains(err.Error(), `row 1 of column "word" has "y"`) {
		t.Errorf("an unknown word: %v", err)
	}
	var dense Column
	if err := c.Get("pair").Dense(&dense, 3, nil); err == nil || !strings.Contains(err.Error(), "its Length padded it to the Shape [2 2 2]") {
		t.Errorf("Dense: %v", err)
	}
}
