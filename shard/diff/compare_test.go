package diff

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func diff(t *testing.T, a, b string, o Options) *Report {
	t.Helper()
	report, err := Compare(context.Background(), a, b, o)
	settest.Check(t, err)
	return report
}

func numberRecord(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

func TestDiffInOrder(t *testing.T) {
	dir := t.TempDir()
	var b tfrecord.Builder
	example := func(label int64, name string, more ...float32) []byte {
		b.Reset()
		b.Int64("label", label)
		b.String("name", name)
		if more != nil {
			b.Float("v", more...)
		}
		return b.Append(nil)
	}
	same := example(1, "one")
	one, two := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, one, settest.FileOf(same, example(2, "two", 1, 2, 3), example(3, "three"), same))
	settest.PutFile(t, two, settest.FileOf(same, example(2, "zwei", 1, 5, 3), example(3, "three", 7)))
	report := diff(t, one, two, Options{})
	want := &Report{
		RecordsA: 4, RecordsB: 3, Differing: 2, OnlyA: 1, Features: map[string]int64{"name": 1, "v": 2},
		Differences: []Difference{
			{Split: "train", A: &Position{Path: one, Record: 1}, B: &Position{Path: two, Record: 1}, Features: []FeatureDifference{
				{"name", `"two"`, `"zwei"`}, {"v", "3 values, [1] is 2", "3 values, [1] is 5"},
			}},
			{Split: "train", A: &Position{Path: one, Record: 2}, B: &Position{Path: two, Record: 2}, Features: []FeatureDifference{{"v", "", "7"}}},
			{Split: "train", A: &Position{Path: one, Record: 3}, Reason: "b does not have this record"},
		},
		Described: []Described{}, Faults: []shard.Fault{},
	}
	if d := cmp.Diff(want, report); d != "" {
		t.Error(d)
	}
	if few := diff(t, one, two, Options{MaxListed: 1}); len(few.Differences) != 1 || few.Differing != 2 || !cmp.Equal(few.Features, want.Features) {
		t.Errorf("%+v", few)
	}
	if same := diff(t, one, one, Options{}); !same.Equal || same.RecordsA != 4 {
		t.Errorf("%+v", same)
	}
}

func TestDiffOfEncodings(t *testing.T) {
	dir := t.TempDir()
	// The same two features in two orders, and a record that is not an Example.
	ab := []byte("\n\x16\n\t\n\x01a\x12\x04\x1a\x02\n\x00\n\t\n\x01b\x12\x04\x1a\x02\n\x00")
	ba := []byte("\n\x16\n\t\n\x01b\x12\x04\x1a\x02\n\x00\n\t\n\x01a\x12\x04\x1a\x02\n\x00")
	one, two := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, one, settest.FileOf(ab, []byte("\xff\xff")))
	settest.PutFile(t, two, settest.FileOf(ba, []byte("\xff\xfe")))
	report := diff(t, one, two, Options{})
	if report.Differing != 2 || report.Differences[0].Reason != "the same features, encoded differently" || report.Differences[1].Reason == "" {
		t.Errorf("%+v", report)
	}
}

func TestDiffOfSets(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	settest.Labelled(t, a, tfrecord.CompressionNone)
	m := settest.Labelled(t, b, tfrecord.CompressionGzip)
	if report := diff(t, a, b, Options{}); !report.Equal || len(report.Described) != 1 || report.Described[0].What != "compression" {
		t.Errorf("%+v", report)
	}
	m.Labels = []string{"ant", "wasp", "cat"}
	m.Features[0].Optional = true
	dir, err := setdir.Open(context.Background(), b, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, dir.PutSet(m))
	settest.Check(t, dir.Close())
	for _, unordered := range []bool{false, true} {
		report := diff(t, a, b, Options{Unordered: unordered})
		want := []Described{
			{"labels", "", `3 labels, from 1 on "bee", "cat"`, `3 labels, from 1 on "wasp", "cat"`, true},
			{"feature", "data", "bytes text", "bytes text optional", true},
			{"compression", "", "none", "gzip", false},
		}
		if d := cmp.Diff(want, report.Described); d != "" || report.Equal || report.RecordsA != 36 || report.RecordsB != 36 {
			t.Error(d, report)
		}
	}
}

func TestDiffWithoutOrder(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	const n = 30_000
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(draw.IntN(n / 2))
	}
	records := func(numbers []int64) [][]byte {
		var list [][]byte
		for _, x := range numbers {
			list = append(list, numberRecord(x))
		}
		return list
	}
	other := slices.Clone(numbers)
	draw.Shuffle(n, func(i, j int) { other[i], other[j] = other[j], other[i] })
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for i := range 3 {
		settest.PutFile(t, filepath.Join(a, fmt.Sprintf("%d.tfrecord", i)), settest.FileOf(records(numbers[i*n/3:(i+1)*n/3])...))
	}
	settest.PutFile(t, filepath.Join(b, "0.tfrecord"), settest.FileOf(records(other)...))
	// Less memory than the hashes need.
	o := Options{Unordered: true, Memory: 1e6}
	if report := diff(t, a, b, o); !report.Equal || report.RecordsA != n {
		t.Errorf("%+v", report)
	}
	if report := diff(t, a, b, Options{}); report.Equal {
		t.Error("in order they are equal, too")
	}
	// One record occurs once more, one is new, and one is gone.
	changed := append(slices.Clone(other), other[7], n+1)
	settest.PutFile(t, filepath.Join(b, "0.tfrecord"), settest.FileOf(records(changed[1:])...))
	report := diff(t, a, b, o)
	if report.OnlyA != 1 || report.OnlyB != 2 || len(report.Differences) != 3 {
		t.Fatalf("%+v", report)
	}
	if got := report.Differences[2]; got.B == nil || got.B.Record != n {
		t.Errorf("%+v", got)
	}
}

func TestDiffOfDamage(t *testing.T) {
	dir := t.TempDir()
	good, frames := settest.Framed(10, 20, 30)
	one, two := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, one, good)
	settest.PutFile(t, two, settest.Overwrite("", good, frames, frames[1].Offset+12, frames[1].Offset+13, settest.Flipped).Data)
	for _, unordered := range []bool{false, true} {
		report := diff(t, one, two, Options{Unordered: unordered})
		if report.Equal || len(report.Faults) != 1 || report.Faults[0].Path != two || report.Faults[0].Record != 1 {
			t.Errorf("%+v", report)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, unordered := range []bool{false, true} {
		if _, err := Compare(stopped, one, one, Options{Unordered: unordered}); err == nil {
			t.Error("a stopped comparison ended well")
		}
	}
}

// TestDiffWithoutOrderCounts compares with counting in a map, with few distinct records that occur
// often.
func TestDiffWithoutOrderCounts(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		var sides [2][]int64
		var counts [2]map[int64]int
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")}
		kinds := 1 + draw.IntN(6)
		for i := range sides {
			counts[i] = map[int64]int{}
			var list [][]byte
			for range 1 + draw.IntN(30) {
				x := int64(draw.IntN(kinds))
				sides[i], list = append(sides[i], x), append(list, numberRecord(x))
				counts[i][x]++
			}
			settest.PutFile(t, paths[i], settest.FileOf(list...))
		}
		report := diff(t, paths[0], paths[1], Options{Unordered: true, MaxListed: 4})
		var lone [2][]int64
		for i, side := range sides {
			seen := map[int64]int{}
			for n, x := range side {
				if seen[x]++; seen[x] > counts[1-i][x] {
					lone[i] = append(lone[i], int64(n))
				}
			}
		}
		var listed [2][]int64
		for _, d := range report.Differences {
			if d.A != nil {
				listed[0] = append(listed[0], d.A.Record)
			} else {
				listed[1] = append(listed[1], d.B.Record)
			}
		}
		for i, of := range []int64{report.OnlyA, report.OnlyB} {
			if want := lone[i][:min(len(lone[i]), 4)]; of != int64(len(lone[i])) || !slices.Equal(listed[i], want) {
				t.Fatalf("%d against %d: side %d: %d alone, %d listed; want %d", sides[0], sides[1], i, of, listed[i], lone[i])
			}
		}
	}
}
