package cloud

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// throughFaults are runs of each verb, by name: commands that are separated by semicolons. ROOT is
// a directory of the disk or a bucket with what newRoot puts there, LOCAL always one of the disk.
var throughFaults = map[string]string{
	"convert images":  "convert images ROOT/photos ROOT/out --resize 64 --splits train=0.8,val=0.2 --shards 2 -q",
	"convert keep":    "convert images ROOT/photos LOCAL/out --encode keep --shards 2 --max-errors 0 -q",
	"convert parts":   "convert images ROOT/photos ROOT/out --resize 448 --encode raw --name x -q", // a shard of several parts
	"convert boxes":   "convert images ROOT/detection/images ROOT/out --annotations ROOT/detection/coco.json --instance-masks --resize 64x64 --shards 2 -q",
	"convert masks":   "convert images ROOT/detection/images ROOT/out --annotations ROOT/detection/voc --masks ROOT/detection/masks --resize 64x64 --splits train=0.8,val=0.2 -q",
	"convert csv":     "convert csv ROOT/tables/penguins.csv ROOT/out --shards 2 --shuffle --seed 3 -q",
	"convert parquet": "convert table ROOT/tables/set.parquet ROOT/out --shards 2 -q",
	"tasks":           "convert images ROOT/photos ROOT/out --resize 32 --shards 3 --task 1 --tasks 2 -q; convert images ROOT/photos ROOT/out --resize 32 --shards 3 --task 0 --tasks 2 -q; finalize ROOT/out -q",
	"again":           "convert images ROOT/photos ROOT/out --resize 32 -q; convert images ROOT/photos ROOT/out --resize 32 -q",
	"reshard":         "reshard ROOT/set ROOT/out --shards 3 --shuffle --seed 5 -q",
	"sort":            "reshard ROOT/set ROOT/out --sort-by image/filename --shards 3 -q",
	"merge":           "merge ROOT/set ROOT/more ROOT/out --name x -q",
	"split":           "split ROOT/set ROOT/out --splits train=0.5,val=0.5 --seed 1 -q",
	"filter":          `filter ROOT/set ROOT/out --where f["image/class/label"]>=1 -q`,
	"sample":          "sample ROOT/set ROOT/out --count 5 --seed 1 -q",
	"take":            "take ROOT/set ROOT/out --count 5 -q",
	"dedupe":          "dedupe ROOT/set ROOT/out -q",
	"features":        "features drop ROOT/set ROOT/out --keys image/filename -q",
	"append":          "append ROOT/set ROOT/more -q",
	"adopt":           "adopt ROOT/bare --name y --rename -q",
	"index":           "index ROOT/bare --force -q",
	"export folders":  "export ROOT/set ROOT/out --format folders -q",
	"export tars":     "export ROOT/set ROOT/out --format webdataset -q",
	"export parquet":  "export ROOT/set ROOT/deep/out.parquet --format parquet -q",
	"preview":         "preview ROOT/set ROOT/page.html --samples 5 -q",
	"inspect":         "inspect ROOT/set --sheet ROOT/sheet.png -q",
	"clean":           "clean ROOT/set --force -q",
	"verify":          "verify ROOT/set --deep -q",
	"stats":           "stats ROOT/set -q",
	"diff":            "diff ROOT/set ROOT/set -q",
	"cat":             "cat ROOT/set --format hex",
	"cat cached":      "cat ROOT/set --format hex --shuffle global --seed 3 --cache-dir LOCAL/.cache; cat ROOT/set --format hex --cache-dir LOCAL/.cache",
	"bench":           "bench ROOT/set --seconds 0.01 -q",
	"doctor":          "doctor ROOT/set --duration 1s -q",
	"repair":          "repair ROOT/set LOCAL/out -q",
	"repair packed":   "repair ROOT/packed LOCAL/out -q",
	"verify packed":   "verify ROOT/packed --deep -q",
	"augment":         "augment preview ROOT/photos/daisy/4407065098_ef25f1ccac_n.jpg --augment hflip -o LOCAL/sheet.png -q",
}

// unchecked are runs in which flipped bits of parts of large objects are not noticed, or not told from
// damage of the file, as docs/storage.md says.
var unchecked = []string{"convert parquet"}

// measures are the verbs that print measurements, which differ each time.
var measures = []string{"bench", "doctor"}

// transport is what errors say that name what is at fault between the store and here.
var transport = regexp.MustCompile("given up after [0-9]+ tries|in transit|on the way|the store takes longer|did not renew its claim")

// root has the inputs of verbs, by their paths below ROOT.
func newRoot(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	set, more, packed, table := filepath.Join(dir, "set"), filepath.Join(dir, "more"), filepath.Join(dir, "packed"), filepath.Join(dir, "set.parquet")
	must(t, "convert", "images", photos, set, "--resize", "160", "--encode", "raw", "--splits", "train=0.8,val=0.2", "--name", "x", "-q")
	must(t, "take", set, more, "--count", "6", "--name", "x", "-q")
	must(t, "reshard", more, packed, "--compression", "gzip", "-q")
	must(t, "export", more, table, "--format", "parquet", "-q")
	root := map[string]string{}
	add := func(from, to string) {
		for name, data := range files(t, from) {
			root[to+filepath.ToSlash(name)] = data
		}
	}
	add(set, "set")
	add(more, "more")
	add(packed, "packed")
	add(photos, "photos")
	add("../testdata/detection", "detection")
	add("../testdata/demo/penguins.csv", "tables/penguins.csv")
	add(table, "tables/set.parquet")
	for name, data := range root {
		if rest, ok := strings.CutPrefix(name, "set/x-"); ok && isShard(name) {
			root["bare/x-"+rest] = data
		}
	}
	return root
}

// outcome is what commands made.
type outcome struct {
	code  int               // of the last that was run
	out   string            // of all of them
	text  string            // of stderr
	files map[string]string // below ROOT and LOCAL, without the state of runs
}

// runAll runs commands, until one fails, with root in place of ROOT.
func runAll(t *testing.T, commands, root string, env []string) (o outcome) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	local := t.TempDir()
	names := strings.NewReplacer("ROOT", root, "LOCAL", local)
	for command := range strings.SplitSeq(commands, ";") {
		var out, text bytes.Buffer
		c := testwait.Command(t, self, strings.Fields(names.Replace(command))...)
		c.Env = append(append(os.Environ(), actAsTfrec+"=1", impatient+"=1"), env...)
		c.Stdout, c.Stderr = &out, &text
		if err := c.Run(); err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		o.code = c.ProcessState.ExitCode()
		if !slices.Contains(measures, strings.Fields(command)[0]) {
			o.out += strings.NewReplacer(root, "ROOT", local, "LOCAL").Replace(out.String())
		}
		o.text += text.String()
		if o.code != 0 {
			break
		}
	}
	o.files = map[string]string{}
	for name, data := range files(t, local) {
		if !strings.HasPrefix(name, "/.cache/") {
			o.files["LOCAL"+name] = data
		}
	}
	return o
}

// onDisk runs commands with root on a disk.
func onDisk(t *testing.T, commands string, root map[string]string) outcome {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range root {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := runAll(t, commands, dir, nil)
	for name, data := range files(t, dir) {
		o.files["ROOT"+filepath.ToSlash(name)] = data
	}
	return o
}

// inMemory runs commands with root in a store, through a proxy.
func inMemory(t *testing.T, commands string, m *memory, p *faultproxy.Proxy) outcome {
	t.Helper()
	p.Backend = m
	s := httptest.NewServer(p)
	defer s.Close()
	env := []string{"TFREC_TIMEOUT=1s"}
	for name, value := range s3Environment(s.URL) {
		env = append(env, name+"="+value)
	}
	o := runAll(t, commands, "s3://bucket", env)
	s.CloseClientConnections()
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, object := range m.objects {
		if !strings.Contains("/"+name, "/.tfrec/") {
			o.files["ROOT/"+name] = string(object.data)
		}
	}
	return o
}

// fingerprints of typed tables are, in a store, of the URL and the version.
var fingerprints = regexp.MustCompile(`"fingerprint": "[0-9a-f]+"`)

// differs returns the first difference between what came of two runs.
func (o outcome) differs(from outcome) string {
	if o.out != from.out {
		return fmt.Sprintf("printed\n%.500s\nwant\n%.500s", o.out, from.out)
	}
	for _, name := range slices.Sorted(maps.Keys(from.files)) {
		data, ok := o.files[name]
		want, at := from.files[name], 0
		if strings.HasSuffix(name, "/manifest.json") && strings.Contains(want, `"source": "table"`) {
			data, want = fingerprints.ReplaceAllString(data, ""), fingerprints.ReplaceAllString(want, "")
		}
		if !ok || data != want {
			for at < min(len(data), len(want)) && data[at] == want[at] {
				at++
			}
			return fmt.Sprintf("%s: there is one: %v, of %d bytes, want %d; at byte %d %.100q, want %.100q", name, ok, len(data), len(want), at, data[max(0, at-20):], want[max(0, at-20):])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		if _, ok := from.files[name]; !ok {
			return name + " is there, too"
		}
	}
	return ""
}

// What a verb makes of a store, through a proxy with all faults, is what it makes of a disk, to the
// byte; or it says that what is between the store and here is at fault (exit code 1), and without
// faults the same commands then make it right. With -torture, each verb also meets each kind of
// fault alone, and all of them with more seeds.
func TestVerbsThroughFaults(t *testing.T) {
	covered(t)
	root := newRoot(t)
	var mu sync.Mutex
	counts, runs, failures := map[faultproxy.Kind]int{}, 0, 0
	t.Run("verbs", func(t *testing.T) {
		for n, name := range slices.Sorted(maps.Keys(throughFaults)) {
			commands := throughFaults[name]
			want := sync.OnceValue(func() outcome { return onDisk(t, commands, root) })
			try := func(t *testing.T, p *faultproxy.Proxy) {
				t.Parallel()
				want := want()
				if want.code != 0 {
					t.Fatalf("on a disk: exit code %d, %s", want.code, want.text)
				}
				if slices.Contains(unchecked, name) {
					p.Only = func(k faultproxy.Kind, _ *http.Request) bool { return k != faultproxy.Flip }
				}
				m := inBucketOf(root)
				got := inMemory(t, commands, m, p)
				t.Logf("exit code %d, %s", got.code, p)
				switch {
				case got.code == 1 && transport.MatchString(got.text) && strings.Contains(got.text, "s3://bucket"):
					t.Logf("%s", got.text)
					if again := inMemory(t, commands, m, &faultproxy.Proxy{}); again.code != 0 || again.differs(want) != "" {
						t.Errorf("%s, and then without faults: exit code %d, %s\n%s", got.text, again.code, again.text, again.differs(want))
					}
				case got.code != 0:
					t.Errorf("exit code %d, %s\n%s", got.code, got.text, got.out)
				case got.differs(want) != "":
					t.Errorf("%s\n%s", got.differs(want), got.text)
				}
				left := 0
				for _, u := range m.uploads {
					left++
					t.Logf("an upload of %s is left", u.name)
				}
				if most := p.Count(faultproxy.Lose, "begin") + p.Count(faultproxy.Double, "begin"); left > most {
					t.Errorf("%d uploads are left, and the answers that began %d were lost or came twice", left, most)
				}
				mu.Lock()
				defer mu.Unlock()
				runs++
				failures += got.code
				for _, k := range faultproxy.Kinds {
					counts[k] += p.Count(k)
				}
			}
			for _, seed := range torture.Seeds(1, 4) {
				t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
					p := &faultproxy.Proxy{Seed: 100*seed + uint64(n), Shares: faultproxy.Evenly(0.3, lasting...)}
					maps.Copy(p.Shares, faultproxy.Evenly(0.06, waiting...))
					p.Shares[faultproxy.Thin], p.Shares[faultproxy.Stale] = 0.05, 0.25 // of lists, which are few
					try(t, p)
				})
				for _, k := range faultproxy.Kinds {
					if !torture.On() || seed > 0 {
						break
					}
					t.Run(fmt.Sprintf("%s/%s", name, k), func(t *testing.T) {
						share := 0.3
						switch {
						case slices.Contains(waiting, k):
							share = 0.1
						case k == faultproxy.Flip: // what is fetched again must come right within a few times
							share = 0.03
						}
						try(t, &faultproxy.Proxy{Seed: seed, Shares: faultproxy.Shares{k: share}})
					})
				}
			}
		}
	})
	t.Logf("%d runs, %d of which failed; faults: %v", runs, failures, counts)
	for _, k := range faultproxy.Kinds {
		if counts[k] == 0 && !t.Failed() {
			t.Errorf("there was no fault of kind %s", k)
		}
	}
	if failures > runs/10 {
		t.Errorf("%d of %d runs failed", failures, runs)
	}
}

// Shards that append and adopt copy to their new names are those of the manifest, whatever bits flip
// on the way to the copy.
func TestFlippedBitsInCopies(t *testing.T) {
	root := newRoot(t)
	for name, dir := range map[string]string{"append": "set", "adopt": "bare"} {
		commands := throughFaults[name]
		want := onDisk(t, commands, root)
		p := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Flip: 1}, Only: func(_ faultproxy.Kind, r *http.Request) bool {
			return isShard(r.URL.Path) && strings.HasPrefix(r.URL.Path, "/bucket/"+dir+"/") && r.Header.Get("Cache-Control") != "no-cache"
		}}
		got := inMemory(t, commands, inBucketOf(root), p)
		if got.code != 0 || got.differs(want) != "" || p.Count(faultproxy.Flip) < 2 {
			t.Errorf("%s: exit code %d, %s, %s\n%s", name, got.code, got.text, got.differs(want), p)
		}
	}
}

// inBucketOf returns a store with root in its bucket.
func inBucketOf(root map[string]string) *memory {
	m := newMemory()
	for name, data := range root {
		m.objects[name] = kept{[]byte(data), "", time.Unix(1e9, 0)}
	}
	return m
}

// waiting are the faults that cost at least a second, lasting the others.
var (
	waiting = []faultproxy.Kind{faultproxy.Hang, faultproxy.Stall, faultproxy.Trickle}
	lasting = slices.DeleteFunc(slices.Clone(faultproxy.Kinds), func(k faultproxy.Kind) bool { return slices.Contains(waiting, k) })
)

// covered fails if there is a verb that reads from stores, by the table in docs/storage.md, and is
// not run.
func covered(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{}
	for _, commands := range throughFaults {
		for command := range strings.SplitSeq(commands, ";") {
			run[strings.Fields(command)[0]] = true
		}
	}
	found := 0
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| yes \\|").FindAllStringSubmatch(string(text), -1) {
		for verb := range strings.SplitSeq(m[1], ", ") {
			found++
			if verb = strings.Trim(verb, "`"); !run[verb] {
				t.Errorf("%s reads from stores, and does not run through faults", verb)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d verbs in the table of docs/storage.md", found)
	}
}
