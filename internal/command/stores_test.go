package command

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// storeRuns are runs of each verb with a set in a store, what it writes, and how many passes it
// takes over the shards of IN; -1 for those that read parts of them.
var storeRuns = []struct {
	args   string
	passes int
}{
	{"convert images RAW/photos OUT --resize 32", 0},
	{"convert csv RAW/penguins.csv OUT", 0},
	{"init RAW", 0},
	{"convert images RAW/photos OUT --resize 32 --task 0 --tasks 1", 0}, // for finalize
	{"finalize OUT", 0},
	{"reshard IN OUT --shards 2", 5},
	{"merge IN OUT", 3},
	{"split IN OUT --splits train=0.5,val=0.5", 3},
	{"filter IN OUT --where true", 3},
	{"sample IN OUT --count 5", 3},
	{"take IN OUT --count 5", 3},
	{"dedupe IN OUT", 3},
	{"dedupe IN OUT --report mem://store/dropped.jsonl", -1},
	{"features drop IN OUT --keys image/filename", 3},
	{"append IN MORE", 1},
	{"adopt BARE", 0},
	{"index BARE", 0},
	{"export IN OUT --format folders", 1},
	{"export IN OUT --format jsonl", 2},
	{"preview IN OUT.html", 2},
	{"card IN", -1},
	{"inspect IN", 1},
	{"inspect IN --sheet OUT.png", 2},
	{"clean IN", 0},
	{"cat IN --format hex --take 3", 1},
	{"cat IN --save-state OUT.json --take 3", -1},
	{"repair IN OUT", -1},
	{"repair IN --in-place", -1},
	{"augment preview RAW/photos/none.jpg --augment hflip -o OUT.png", -1},
	{"verify IN", 1},
	{"stats IN", 1},
	{"diff IN IN", 2},
	{"bench IN --seconds 0.01", -1},
	{"doctor IN --duration 10ms --shuffle 10", -1},
}

// TestVerbsOfStores holds the table of docs/storage.md to the command: it has each verb, and each
// verb does what it says. A verb that reads shards makes a request for each 4 MiB of each pass, and
// a few more for each file, as docs/scale.md says.
func TestVerbsOfStores(t *testing.T) {
	race.Skip(t) // what the verbs do at the same time is tested with each of them
	defer storage.Register("mem", nil)
	dir := t.TempDir()
	set := filepath.Join(dir, "set")
	runs(t, 0, "convert", "images", filepath.Join(demo(), "photos"), set, "--resize", "256", "--encode", "raw", "--name", "x", "--shards", "1", "-q")
	base := map[string]string{}
	put := func(from, to string) {
		files, err := readSet(from)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			base[to+"/"+name] = data
		}
	}
	put(set, "set")
	put(set, "more")
	put(demo(), "raw")
	var shards, size, most int
	for name, data := range base {
		if strings.HasPrefix(name, "set/x-") {
			base["bare/"+strings.TrimPrefix(name, "set/")] = data
			shards, size, most = shards+1, size+len(data), max(most, len(data))
		}
	}
	if most < 5<<20 {
		t.Fatalf("%d shards of %d bytes make no request for a second part", shards, size)
	}
	rows := verbsOfStores(t)
	tried := map[string]bool{}
	var last map[string]string
	for _, r := range storeRuns {
		args := strings.Fields(strings.NewReplacer("RAW", "mem://store/raw", "OUT", "mem://store/out", "IN", "mem://store/set", "MORE", "mem://store/more", "BARE", "mem://store/bare").Replace(r.args))
		row, ok := rows[args[0]]
		if !ok {
			t.Errorf("the table has no row for %s", args[0])
			continue
		}
		tried[args[0]] = true
		s := storagetest.New()
		before := map[string]string{} // copies of what the run reads
		for name, data := range base {
			if dir, _, _ := strings.Cut(name, "/"); strings.Contains(strings.Join(args, " "), "mem://store/"+dir) {
				before[name] = data
			}
		}
		if args[0] == "finalize" {
			before = last // what a task has left
		}
		for name, data := range before {
			s.Put(name, []byte(data))
		}
		storage.Forget()
		storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
		var mu sync.Mutex
		gets := 0
		s.Fault = func(kind, name string) error {
			mu.Lock()
			defer mu.Unlock()
			if kind == "open" && strings.HasPrefix(name, "set/x-") {
				gets++
			}
			return nil
		}
		var out, text bytes.Buffer
		code := run(t.Context(), append(args, "--quiet"), &out, &text)
		s.Fault = nil
		last = map[string]string{}
		for _, name := range s.Names() {
			last[name] = string(s.Get(name))
		}
		wrote := !maps.Equal(before, last)
		local := row.writes == "no" && args[0] != "cat" || slices.Contains(args, "--report") || slices.Contains(args, "--save-state")
		switch {
		case local:
			if code == 0 || wrote || !strings.Contains(text.String(), "mem://store/") {
				t.Errorf("%s: exit code %d, written %v, %s", r.args, code, wrote, text.String())
			}
		case code != 0:
			t.Errorf("%s: exit code %d, %s", r.args, code, text.String())
		case wrote && row.writes != "yes":
			t.Errorf("%s: it writes, and the table says %q", r.args, row.writes)
		case !wrote && row.writes == "yes" && args[0] != "clean" && r.args != "inspect IN":
			t.Errorf("%s: it writes nothing, and the table says %q", r.args, row.writes)
		}
		if limit := r.passes * (size/(4<<20) + 4*shards); r.passes >= 0 && gets > limit {
			t.Errorf("%s: %d requests for %d bytes in %d shards, want at most %d", r.args, gets, size, shards, limit)
		}
	}
	for name, row := range rows {
		if !tried[name] && row.reads != "-" {
			t.Errorf("%s is in the table and was not tried", name)
		}
	}
	for _, c := range newRootCommand(nil).Commands() {
		if _, ok := rows[c.Name()]; !ok {
			t.Errorf("the table lacks %s", c.Name())
		}
		delete(rows, c.Name())
	}
	for name := range rows {
		t.Errorf("the table has %s, which is no verb", name)
	}
}

// storesRow says what a verb does with stores.
type storesRow struct{ reads, writes string }

var storesLine = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| (yes|no|-) \\| (yes|no|-) \\|")

// verbsOfStores is the table of docs/storage.md.
func verbsOfStores(t *testing.T) map[string]storesRow {
	t.Helper()
	text, err := os.ReadFile("../../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]storesRow{}
	for _, m := range storesLine.FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			name = strings.Trim(name, "`")
			if _, twice := rows[name]; twice {
				t.Errorf("the table has %s twice", name)
			}
			rows[name] = storesRow{m[2], m[3]}
		}
	}
	return rows
}
