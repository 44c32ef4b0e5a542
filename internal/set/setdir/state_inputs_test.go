package setdir_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// The inputs of a state are those that encoding/json reads, whatever their keys; AllDone has the
// rest of the state.
func TestRecordedInputsAreThoseOfJSON(t *testing.T) {
	rng := torture.Rand(t)
	dir, err := setdir.Open(t.Context(), filepath.Join(t.TempDir(), "out"), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	parts := []string{"a", "/", "\\", "\"", "\x00", "\xff", "ä", "\u2028", "<", "}", "],[", "日", "\n"}
	for n := range 50 {
		file := fmt.Sprintf("n-train.tfrecord-%05d-of-00050", n)
		settest.Check(t, os.WriteFile(dir.Join(file), []byte{1}, 0o666))
		want := &setdir.Done{Shard: manifest.Shard{File: file, Bytes: 1, Labels: map[string]int64{"inputs": 1}}, Source: "/src", Samples: int64(n)}
		for range rng.IntN(20) {
			var key strings.Builder
			for range rng.IntN(6) {
				key.WriteString(parts[rng.IntN(len(parts))])
			}
			want.Inputs = append(want.Inputs, setdir.Input{
				Key: setdir.InputKey(key.String()), Size: rng.Int64(), ModTime: rng.Int64() - rng.Int64(),
				Hash: fmt.Sprintf("%032x", rng.Uint64()), Version: []string{"", `"etag"`, "7"}[rng.IntN(3)],
			})
		}
		settest.Check(t, dir.Shards().PutDone(want))
		data, err := os.ReadFile(dir.Join(setdir.StateOf(file)))
		settest.Check(t, err)
		if n%2 == 1 { // as somebody else would write it
			var v any
			numbers := json.NewDecoder(bytes.NewReader(data))
			numbers.UseNumber()
			settest.Check(t, numbers.Decode(&v))
			data, err = json.MarshalIndent(v, "", "\t")
			settest.Check(t, err)
			settest.Check(t, os.WriteFile(dir.Join(setdir.StateOf(file)), data, 0o666))
		}
		var plain setdir.Done
		settest.Check(t, json.Unmarshal(data, &plain))
		if got := dir.Shards().Done(file, false); !cmp.Equal(got, &plain) || !cmp.Equal(got.Inputs, want.Inputs) {
			t.Fatalf("%s:\n%s", data, cmp.Diff(&plain, got))
		}
		var recalled []setdir.Input
		all, err := dir.Shards().AllDone(t.Context(), []string{"other", file}, false, &setdir.Recall{Source: "/src", Yield: func(i int, in *setdir.RecordedInput) {
			if i != 1 {
				t.Errorf("an input of shard %d", i)
			}
			recalled = append(recalled, in.Input())
		}})
		settest.Check(t, err)
		plain.Inputs = nil
		if !cmp.Equal(all, []*setdir.Done{nil, &plain}) || !cmp.Equal(recalled, want.Inputs) {
			t.Fatalf("%s:\n%s\n%s", data, cmp.Diff(&plain, all[1]), cmp.Diff(want.Inputs, recalled))
		}
		_, err = dir.Shards().AllDone(t.Context(), []string{file}, false, &setdir.Recall{Source: "/other", Yield: func(int, *setdir.RecordedInput) {
			t.Error("an input of another source")
		}})
		settest.Check(t, err)
	}
}

// The label counts of a state that the manifest has, too, are held once.
func TestLabelCountsAreShared(t *testing.T) {
	dir, err := setdir.Open(t.Context(), t.TempDir(), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	files := []string{"same", "other", "unlisted"}
	listed := map[string]manifest.Shard{"same": {Labels: map[string]int64{"cat": 2}}, "other": {Labels: map[string]int64{"cat": 3}}}
	for _, file := range files {
		w, err := dir.Create(file, setdir.WriterOptions{})
		settest.Check(t, err)
		info, err := w.Commit()
		settest.Check(t, err)
		info.Labels = map[string]int64{"cat": 2}
		settest.Check(t, dir.Shards().PutDone(&setdir.Done{Shard: info}))
	}
	all, err := dir.Shards().AllDone(t.Context(), files, false, &setdir.Recall{Listed: listed})
	settest.Check(t, err)
	for i, file := range files {
		if got := all[i].Labels["cat"]; got != 2 {
			t.Errorf("%s: %d records of a label, want 2", file, got)
		}
	}
	listed["same"].Labels["cat"] = 7
	if all[0].Labels["cat"] != 7 {
		t.Error("equal counts are held twice")
	}
}

// A damaged state is never taken for a part of it.
func TestDamagedInputs(t *testing.T) {
	dir, err := setdir.Open(t.Context(), filepath.Join(t.TempDir(), "out"), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	const file = "n-train.tfrecord-00000-of-00001"
	settest.Check(t, os.WriteFile(dir.Join(file), []byte{1}, 0o666))
	settest.Check(t, dir.Shards().PutDone(&setdir.Done{
		Shard: manifest.Shard{File: file, Bytes: 1}, Source: "/src",
		Inputs: []setdir.Input{{Key: "a", Size: 1, Hash: strings.Repeat("0", 32)}, {Key: "b", Size: 2, Hash: strings.Repeat("1", 32)}},
	}))
	whole, err := os.ReadFile(dir.Join(setdir.StateOf(file)))
	settest.Check(t, err)
	settest.Check(t, json.Unmarshal(whole, new(setdir.Done)))
	for n := range len(whole) - 1 {
		settest.Check(t, os.WriteFile(dir.Join(setdir.StateOf(file)), whole[:n], 0o666))
		if json.Valid(whole[:n]) {
			continue
		}
		dir.Shards().Remembered("/src", func(in *setdir.RecordedInput) { t.Errorf("%s: remembered %+v", whole[:n], in.Input()) })
		if done := dir.Shards().Done(file, false); done != nil {
			t.Fatalf("%s: %+v", whole[:n], done)
		}
	}
	for _, inputs := range []string{`7`, `{}`, `[7]`, `[{"k":7}]`, `[{"s":"x"}]`, `[{"s":1.5}]`, `[{"s":99999999999999999999}]`, `[{"k":"\u0000x"}]`} {
		text := fmt.Sprintf(`{"file":%q,"bytes":1,"source":"/src","inputs":%s}`, file, inputs)
		settest.Check(t, os.WriteFile(dir.Join(setdir.StateOf(file)), []byte(text), 0o666))
		dir.Shards().Remembered("/src", func(in *setdir.RecordedInput) { t.Errorf("%s: remembered %+v", text, in.Input()) })
	}
}
