package reshape

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// modelRecord is a record in memory, with the values that tests sort and group by.
type modelRecord struct {
	data  string
	id    int64
	group string
}

// model is a set in memory: its records by split, in order.
type model map[string][]modelRecord

// all returns the records in the order in which a run reads them: by file name.
func (m model) all() []modelRecord {
	var all []modelRecord
	for _, split := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[split]...)
	}
	return all
}

// each returns the model with the records of each split changed by f. Empty splits are removed.
func (m model) each(f func(records []modelRecord) []modelRecord) model {
	changed := model{}
	for split, records := range m {
		if records := f(slices.Clone(records)); len(records) > 0 {
			changed[split] = records
		}
	}
	return changed
}

// randomModel makes a set of records of many sizes.
func randomModel(rnd *rand.Rand) model {
	m := model{}
	var b tfrecord.Builder
	for _, split := range []string{"train", "test", "val"}[:1+rnd.IntN(3)] {
		for range 1 + rnd.IntN(150) {
			r := modelRecord{id: rnd.Int64N(1000) - 500, group: string(rune('a' + rnd.IntN(4)))}
			b.Reset()
			b.Int64("id", r.id)
			b.String("group", r.group)
			b.Bytes("noise", binary.LittleEndian.AppendUint64(make([]byte, rnd.IntN(1<<rnd.IntN(13))), rnd.Uint64()))
			r.data = string(b.Append(nil))
			m[split] = append(m[split], r)
		}
	}
	return m
}

// put writes the model as a set.
func (m model) put(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set")
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	set := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "m", Compression: "none", Records: manifest.RecordExample}
	set.Features = []manifest.Feature{
		{Key: "group", Kind: "bytes", Class: manifest.ClassText}, {Key: "id", Kind: "int64", Class: manifest.ClassScalar}, {Key: "noise", Kind: "bytes", Class: manifest.ClassScalar},
	}
	for _, split := range slices.Sorted(maps.Keys(m)) {
		records := m[split]
		s := manifest.Split{Name: split, Records: int64(len(records))}
		shards := 1 + rnd.IntN(4)
		for i := range shards {
			w, err := dir.Create(shard.Name{Dataset: "m", Split: split, Index: i, Count: shards}.String(), setdir.WriterOptions{})
			settest.Check(t, err)
			for _, r := range records[len(records)*i/shards : len(records)*(i+1)/shards] {
				settest.Check(t, w.WriteRecord([]byte(r.data)))
			}
			info, err := w.Commit()
			settest.Check(t, err)
			s.Shards = append(s.Shards, info)
		}
		set.Splits = append(set.Splits, s)
	}
	settest.Check(t, dir.PutSet(set))
	return path
}

// readModel reads a set, and verifies it completely.
func readModel(t *testing.T, path string) model {
	t.Helper()
	report, err := verify.Files(context.Background(), []string{path}, verify.Options{})
	settest.Check(t, err)
	if !report.OK {
		t.Fatalf("%s: %+v", path, report.Faults)
	}
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	settest.Check(t, err)
	m := model{}
	var e tfrecord.Example
	for _, s := range sources {
		r, err := shard.Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
		settest.Check(t, err)
		for data, err := range r.All() {
			settest.Check(t, err)
			settest.Check(t, e.Parse(data))
			id, _ := e.Get("id")
			group, _ := e.Get("group")
			record := modelRecord{data: string(data)}
			record.id, _ = id.Int64()
			text, _ := group.Bytes()
			record.group = string(text)
			m[s.Split] = append(m[s.Split], record)
		}
		settest.Check(t, r.Close())
	}
	return m
}

// sameModel checks that the splits have the same records and, unless anyOrder is set, in the same
// order.
func sameModel(t *testing.T, got, want model, anyOrder bool) {
	t.Helper()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Fatalf("splits %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for split := range want {
		g, w := got[split], want[split]
		if anyOrder {
			byData := func(a, b modelRecord) int { return cmp.Compare(a.data, b.data) }
			g, w = slices.SortedFunc(slices.Values(g), byData), slices.SortedFunc(slices.Values(w), byData)
		}
		if !slices.Equal(g, w) {
			t.Fatalf("split %s: %d records, want %d in the model's order", split, len(g), len(w))
		}
	}
}

// modelVerb reshapes a set at path into out, and the model in the same way. It returns the expected
// set, and whether its order is arbitrary: the test then continues with the actual order.
type modelVerb func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (want model, anyOrder bool)

// modelVerbs are the verbs that the model supports.
var modelVerbs = map[string]modelVerb{
	"reshard": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Reshard(context.Background(), []string{path}, out, ReshardOptions{Options: o})
		settest.Check(t, err)
		return m, false
	},
	"shuffle": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Reshard(context.Background(), []string{path}, out, ReshardOptions{Options: o, Shuffle: true})
		settest.Check(t, err)
		again := filepath.Join(t.TempDir(), "again")
		o.Workers, o.Memory = 3, 64<<20
		_, err = Reshard(context.Background(), []string{path}, again, ReshardOptions{Options: o, Shuffle: true})
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, out), settest.FilesOf(t, again)) {
			t.Error("other workers and memory give another order")
		}
		return m, true
	},
	"sort": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Reshard(context.Background(), []string{path}, out, ReshardOptions{Options: o, SortBy: "id"})
		settest.Check(t, err)
		return m.each(func(records []modelRecord) []modelRecord {
			slices.SortStableFunc(records, func(a, b modelRecord) int { return cmp.Compare(a.id, b.id) })
			return records
		}), false
	},
	"group": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		groups := filepath.Join(t.TempDir(), "groups")
		report, err := Reshard(context.Background(), []string{path}, groups, ReshardOptions{Options: o, GroupBy: "group"})
		settest.Check(t, err)
		var sets []string
		want := model{}
		for _, group := range slices.Sorted(maps.Keys(report.Groups)) {
			only := m.each(func(records []modelRecord) []modelRecord {
				return slices.DeleteFunc(records, func(r modelRecord) bool { return r.group != group })
			})
			sameModel(t, readModel(t, filepath.Join(groups, group)), only, false)
			sets = append(sets, filepath.Join(groups, group))
			for split, records := range only {
				want[split] = append(want[split], records...)
			}
		}
		_, err = Merge(context.Background(), sets, out, o)
		settest.Check(t, err)
		return want, false
	},
	"merge": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		other := randomModel(rnd)
		_, err := Merge(context.Background(), []string{other.put(t, rnd), path}, out, o)
		settest.Check(t, err)
		want := maps.Clone(m)
		for split, records := range other {
			want[split] = slices.Concat(records, want[split])
		}
		return want, false
	},
	"take": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		n := len(m.all())
		skip := rnd.IntN(n/2 + 1)
		count := 1 + rnd.IntN(n)
		_, err := Take(context.Background(), []string{path}, out, TakeOptions{Options: o, Skip: int64(skip), Count: int64(count)})
		settest.Check(t, err)
		place := 0
		want := model{}
		for _, split := range slices.Sorted(maps.Keys(m)) {
			for _, r := range m[split] {
				if place >= skip && place < skip+count {
					want[split] = append(want[split], r)
				}
				place++
			}
		}
		return want, false
	},
	"sample": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		count := 1 + rnd.IntN(len(m.all()))
		_, err := Sample(context.Background(), []string{path}, out, SampleOptions{Options: o, Count: int64(count)})
		settest.Check(t, err)
		got := readModel(t, out)
		if n := len(got.all()); n != count {
			t.Fatalf("a sample of %d records, want %d", n, count)
		}
		for split, records := range got {
			rest := m[split]
			for _, r := range records {
				i := slices.Index(rest, r)
				if i < 0 {
					t.Fatalf("split %s of a sample is out of order, or has a record that was not there", split)
				}
				rest = rest[i+1:]
			}
		}
		return got, false
	},
}

// TestVerbsAgreeWithAModel reshapes a set in random ways, one after another, and a list of records
// in memory in the same ways.
func TestVerbsAgreeWithAModel(t *testing.T) {
	names := slices.Sorted(maps.Keys(modelVerbs))
	for _, seed := range torture.Seeds(3, 200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			m := randomModel(rnd)
			path := m.put(t, rnd)
			for step := range 14 {
				name := names[(step+5*int(seed))%len(names)]
				if step >= len(names) {
					name = names[rnd.IntN(len(names))]
				}
				if len(m.all()) < 20 {
					name = "merge"
				}
				o := Options{Seed: rnd.Uint64(), Memory: source.LeastMemory, Workers: 1 + rnd.IntN(3)}
				switch rnd.IntN(4) {
				case 0:
					o.Shards = 1 + rnd.IntN(9)
				case 1:
					o.RecordsPerShard = 1 + rnd.Int64N(50)
				case 2:
					o.ShardSize = 1000 + rnd.Int64N(50_000)
				}
				if rnd.IntN(3) == 0 {
					o.Compression = []tfrecord.Compression{tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd}[rnd.IntN(3)]
				}
				out := filepath.Join(t.TempDir(), "out")
				t.Logf("step %d: %s of %d records", step, name, len(m.all()))
				before := settest.FilesOf(t, path)
				want, anyOrder := modelVerbs[name](t, rnd, m, path, out, o)
				if !settest.SameFiles(before, settest.FilesOf(t, path)) {
					t.Fatal("the input was changed")
				}
				got := readModel(t, out)
				sameModel(t, got, want, anyOrder)
				checkLayout(t, out, &o)
				if step%4 == 0 {
					judged(t, rnd, out, want, anyOrder)
				}
				m, path = got, out
			}
		})
	}
}

// checkLayout compares the shards of a set with the options.
func checkLayout(t *testing.T, path string, o *Options) {
	t.Helper()
	m := settest.ManifestOf(t, path)
	if o.Shards > 0 {
		for _, s := range m.Splits {
			if len(s.Shards) != o.Shards {
				t.Errorf("split %s has %d shards, want %d", s.Name, len(s.Shards), o.Shards)
			}
			for _, info := range s.Shards {
				if n := s.Records / int64(o.Shards); info.Records != n && info.Records != n+1 {
					t.Errorf("%s has %d records of %d in %d shards", info.File, info.Records, s.Records, o.Shards)
				}
			}
		}
	}
	if o.RecordsPerShard > 0 {
		for _, s := range m.Splits {
			for i, info := range s.Shards {
				if last := i == len(s.Shards)-1; !last && info.Records != o.RecordsPerShard || last && (info.Records == 0 || info.Records > o.RecordsPerShard) {
					t.Errorf("%s has %d records, want %d", info.File, info.Records, o.RecordsPerShard)
				}
			}
		}
	}
	if m.Compression == "none" && len(m.Features) != 3 {
		t.Errorf("the manifest describes %d features, want 3", len(m.Features))
	}
}
