package reader

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// interleaveGolden is an order recorded from TensorFlow.
type interleaveGolden struct {
	Lengths []int
	Cycle   int `json:"cycle_length"`
	Block   int `json:"block_length"`
	Order   []int
}

func interleaveGoldens(t *testing.T) []interleaveGolden {
	t.Helper()
	data, err := os.ReadFile("../testdata/reader/interleave.json")
	if err != nil {
		t.Fatal(err)
	}
	var goldens []interleaveGolden
	if err := json.Unmarshal(data, &goldens); err != nil {
		t.Fatal(err)
	}
	if len(goldens) < 25 {
		t.Fatalf("only %d goldens", len(goldens))
	}
	return goldens
}

func TestInterleaveIsTFDatas(t *testing.T) {
	for _, g := range interleaveGoldens(t) {
		for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
			dir := readertest.WriteShards(t, c, g.Lengths...)
			for _, parallelism := range []int{1, 2, 8} {
				for _, memory := range []int64{1, 0} {
					set := open(t, dir, Options{Parallelism: parallelism, Memory: memory})
					if got := idsOf(t, set.Interleave(g.Cycle, g.Block)); !slices.Equal(got, g.Order) {
						t.Errorf("%v, cycle %d, block %d, %v, parallelism %d:\n got %v\nwant %v",
							g.Lengths, g.Cycle, g.Block, c, parallelism, got, g.Order)
					}
				}
			}
		}
	}
}

// spot is a record of a file, both counted from 0.
type spot struct{ file, number int }

// interleavePlaces is a minimal model of tf.data's interleave.
func interleavePlaces(lengths []int, cycle, block int) []spot {
	slots := make([]*spot, cycle)
	var order []spot
	for coming, open, turn := 0, 0, 0; coming < len(lengths) || open > 0; turn = (turn + 1) % cycle {
		if slots[turn] == nil && coming < len(lengths) {
			slots[turn] = &spot{file: coming}
			coming++
			open++
		}
		f := slots[turn]
		for i := 0; f != nil && i < block; i++ {
			if f.number == lengths[f.file] {
				slots[turn], f = nil, nil
				open--
				break
			}
			order = append(order, *f)
			f.number++
		}
	}
	return order
}

// interleaveModel is interleavePlaces in the numbers of the records that
// writeShards writes.
func interleaveModel(lengths []int, cycle, block int) []int {
	var order []int
	for _, p := range interleavePlaces(lengths, cycle, block) {
		order = append(order, p.file*1000+p.number)
	}
	return order
}

// Files of many blocks each, with cycles that leave some files over.
func TestInterleaveOfLongFiles(t *testing.T) {
	lengths := []int{900, 0, 20, 700, 999, 1, 300}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	for _, cycle := range []int{1, 2, 3, 7, 20} {
		for _, block := range []int{1, 5, 600} {
			want := interleaveModel(lengths, cycle, block)
			for _, parallelism := range []int{1, 3} {
				set := open(t, dir, Options{Parallelism: parallelism, Memory: 1})
				if got := idsOf(t, set.Interleave(cycle, block)); !slices.Equal(got, want) {
					t.Errorf("cycle %d, block %d, parallelism %d: another order", cycle, block, parallelism)
				}
			}
		}
	}
}

func TestModelIsTFDatas(t *testing.T) {
	for _, g := range interleaveGoldens(t) {
		if got := interleaveModel(g.Lengths, g.Cycle, g.Block); !slices.Equal(got, g.Order) {
			t.Errorf("%v, cycle %d, block %d: got %v, want %v", g.Lengths, g.Cycle, g.Block, got, g.Order)
		}
	}
}

func TestUnorderedGivesTheSameRecords(t *testing.T) {
	lengths := []int{300, 0, 20, 500, 1}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	for _, cycle := range []int{1, 2, 5, 9} {
		got := idsOf(t, open(t, dir, Options{Unordered: true, Memory: 1}).Interleave(cycle, 3).Repeat(2))
		want := append(readertest.InOrder(lengths...), readertest.InOrder(lengths...)...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("cycle %d: %d records, want %d", cycle, len(got), len(want))
		}
	}
}

func TestShuffledFiles(t *testing.T) {
	lengths := make([]int, 30)
	for i := range lengths {
		lengths[i] = 1
	}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	read := func(seed uint64) []int {
		return idsOf(t, open(t, dir, Options{ShuffleFiles: true, Seed: seed}).Records().Repeat(2))
	}
	a, b, c := read(1), read(1), read(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) || slices.Equal(a[:30], a[30:]) {
		t.Error("a seed must fix the order of the files, another one or another epoch change it")
	}
	for _, epoch := range [][]int{a[:30], a[30:]} {
		sorted := slices.Sorted(slices.Values(epoch))
		if !slices.Equal(sorted, readertest.InOrder(lengths...)) || slices.Equal(epoch, sorted) {
			t.Errorf("an epoch of %v", epoch)
		}
	}
}

func TestRecordsSayWhereTheyAre(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionZstd} {
		dir := readertest.WriteShards(t, c, 3, 0, 2)
		set := open(t, dir, Options{})
		offset, file := int64(0), int32(0)
		for r, err := range set.Interleave(1, 1).Repeat(2).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if r.File != file {
				offset, file = 0, r.File
			}
			if want := readertest.Numbered(int(r.File), int(r.Number)); string(r.Data) != string(want) || r.Offset != offset {
				t.Errorf("%v: record %d of file %d at %d, want it at %d", c, r.Number, r.File, r.Offset, offset)
			}
			offset += int64(len(r.Data)) + tfrecord.Overhead
		}
	}
}

func TestRepeat(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 2, 1)
	set := open(t, dir, Options{})
	once := []int{0, 1, 1000}
	for times, want := range map[int][]int{0: {}, 1: once, 3: slices.Repeat(once, 3)} {
		if got := idsOf(t, set.Records().Repeat(times)); !slices.Equal(got, want) {
			t.Errorf("Repeat(%d) = %v", times, got)
		}
	}
	var epochs []int32
	for r, err := range set.Records().Repeat(2).Repeat(-1).Take(10).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		epochs = append(epochs, r.Epoch)
	}
	if want := []int32{0, 0, 0, 1, 1, 1, 2, 2, 2, 3}; !slices.Equal(epochs, want) {
		t.Errorf("epochs %v, want %v", epochs, want)
	}
	empty := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 0, 0), Options{})
	if got := idsOf(t, empty.Records().Repeat(-1)); len(got) != 0 {
		t.Errorf("of empty files: %v", got)
	}
}

func TestSkipAndTake(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 700, 900)
	set := open(t, dir, Options{})
	all := readertest.InOrder(700, 900)
	for _, n := range []int64{0, 1, 511, 512, 513, 1600, 1700} {
		k := min(n, 1600)
		if got := idsOf(t, set.Records().Skip(n)); !slices.Equal(got, all[k:]) {
			t.Errorf("Skip(%d): %d records", n, len(got))
		}
		if got := idsOf(t, set.Records().Take(n)); !slices.Equal(got, all[:k]) {
			t.Errorf("Take(%d): %d records", n, len(got))
		}
	}
	if got := idsOf(t, set.Records().Skip(600).Take(300).Skip(200)); !slices.Equal(got, all[800:900]) {
		t.Errorf("Skip, Take, Skip: %v", got)
	}
}

func TestMistakesInSettings(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 1)
	set := open(t, dir, Options{})
	for name, p := range map[string]Pipe{
		"no set":     {},
		"cycle":      set.Interleave(0, 1),
		"block":      set.Interleave(1, 0),
		"buffer":     set.Records().Shuffle(0),
		"run":        set.ShuffleAll(ShuffleAllOptions{Block: -1}),
		"window":     set.ShuffleAll(ShuffleAllOptions{Window: -1}),
		"no set, on": Pipe{}.Shuffle(3).Repeat(2),
	} {
		if s, err := p.Start(t.Context(), From{}); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
	for name, o := range map[string]Options{
		"worker":  {Worker: 2, Workers: 2},
		"workers": {Workers: -1},
		"below":   {Worker: -1, Workers: 2},
		"share":   {SkipBad: SkipBad{Share: 1.5}},
		"count":   {SkipBad: SkipBad{Count: -1}},
		"shard":   {ShardBy: 9},
		"ends":    {Uneven: 9},
		"split":   {Split: "train"},
	} {
		if _, err := Open(t.Context(), dir, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, path := range []string{"nowhere", "nowhere*", t.TempDir()} {
		if _, err := Open(t.Context(), path, Options{}); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func TestStatsCount(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 200)
	s, err := open(t, dir, Options{}).Interleave(2, 1).Shuffle(10).Repeat(2).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rest(t, s)
	stats := s.Stats()
	var names []string
	for _, stage := range stats {
		names = append(names, stage.Name)
		if stage.Elements != 1000 || stage.Busy <= 0 || stage.Workers < 1 {
			t.Errorf("%+v", stage)
		}
	}
	if want := "[read interleave(cycle=2,block=1) shuffle(buffer=10,seed=0)]"; fmt.Sprint(names) != want {
		t.Errorf("stages %v, want %s", names, want)
	}
	if d := stats[0].Busy + stats[1].WaitInput; d > time.Minute {
		t.Errorf("times that cannot be: %v", d)
	}
}
