package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// fillRandom sets every field of a value that encodes as JSON to a random value.
func fillRandom(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d <ü>\x01", rng.IntN(1000)))
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64())
	case reflect.Uint64:
		v.SetUint(rng.Uint64())
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillRandom(rng, v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(fmt.Sprintf(`{"x":[%d]}`, rng.IntN(10))))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(4), 4))
		for i := range v.Len() {
			fillRandom(rng, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + rng.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fillRandom(rng, key)
			fillRandom(rng, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillRandom(rng, v.Field(i))
		}
	default:
		panic(v.Kind())
	}
}

// TestManifestsAreDecodedAsJSON compares with json.Unmarshal, so that no field is forgotten.
func TestManifestsAreDecodedAsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := new(Manifest)
		fillRandom(rng, reflect.ValueOf(m).Elem())
		m.Format, m.Version = Format, Version
		data, err := json.MarshalIndent(m, "", "  ")
		check(t, err)
		want := new(Manifest)
		check(t, json.Unmarshal(data, want))
		data = append([]byte(`{"other":{"splits":[[1,"]"]]},`), data[1:]...) // what a later version may add
		got, err := decodeManifest(strings.NewReader(string(data)))
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%v %s\n%s", err, cmp.Diff(want, got), data)
		}
	}
}

// endless repeats a string after a prefix.
type endless struct {
	begin, again string
	n            int64
}

func (e *endless) Read(p []byte) (n int, err error) {
	if at := int(e.n); at < len(e.begin) {
		n = copy(p, e.begin[at:])
	} else {
		at = (at - len(e.begin)) % len(e.again)
		n = copy(p, strings.Repeat(e.again, len(p)/len(e.again)+2)[at:])
	}
	e.n += int64(n)
	return n, nil
}

// TestManifestsAreBounded reads endless inputs. Whatever they repeat, there must be an error after
// a bounded number of bytes and before memory has grown.
func TestManifestsAreBounded(t *testing.T) {
	race.Skip(t)
	ours := `{"format":"tfrec.manifest","version":1,`
	inputs := map[string]endless{
		"zeros": {"", "\x00", 0}, "blanks": {"", " ", 0}, "lists": {"", "[", 0}, "objects": {"", `{"a":`, 0},
		"a foreign text": {`{"a":"`, "x", 0}, "a foreign list": {`{"a":[0`, ",0", 0}, "keys": {`{"a":0`, `,"a":0`, 0},
		"our name": {ours + `"name":"`, "x", 0}, "labels": {ours + `"labels":[""`, `,""`, 0},
		"splits": {ours + `"splits":[{}`, `,{}`, 0}, "nulls": {ours + `"splits":[null`, `,null`, 0},
		"empty shards": {ours + `"splits":[{"shards":[{}`, `,{}`, 0}, "shards": {ours + `"splits":[{"shards":[{"file":"a"}`, `,{"file":"a"}`, 0},
		"counts":  {ours + `"splits":[{"shards":[{"file":"a","labels":{"a":1`, `,"a":1`, 0},
		"options": {ours + `"options":{"a":1`, `,"a":1`, 0},
	}
	for _, name := range torture.Sample(t, 6, slices.Sorted(maps.Keys(inputs))) {
		e := inputs[name]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := decodeManifest(io.LimitReader(&e, MaxSize))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error, %d splits", name, len(m.Splits))
		}
		// The buffer for a value is doubled until it holds maxManifestValue bytes.
		if n := after.TotalAlloc - before.TotalAlloc; n > 20*maxManifestValue {
			t.Errorf("%s: %d MB allocated, %d MB read: %v", name, n>>20, e.n>>20, err)
		} else {
			t.Logf("%s: %d MB allocated, %d MB read: %v", name, n>>20, e.n>>20, err)
		}
	}
}

// TestManifestsRepeatNoMember: repeated members would add up in a map beyond the limit.
func TestManifestsRepeatNoMember(t *testing.T) {
	for i := range reflect.TypeFor[Manifest]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Manifest]().Field(i).Tag.Get("json"), ",")
		_, err := decodeManifest(strings.NewReader(fmt.Sprintf(`{%q:null,"other":1,"other":2,%q:null}`, name, name)))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("duplicate member %q", name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, again := range []string{`{"splits":[{"name":"a","name":"b"}]}`, `{"splits":[{"shards":[],"shards":[]}]}`} {
		if _, err := decodeManifest(strings.NewReader(again)); err == nil || !strings.Contains(err.Error(), "duplicate member") {
			t.Errorf("%s: %v", again, err)
		}
	}
}

// TestManifestsTooLargeAreRefused uses a file of a terabyte, which must not be read.
func TestManifestsTooLargeAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	check(t, os.WriteFile(path, []byte("{"), 0o644))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if _, err := Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), "larger than") || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	m := &Manifest{Splits: []Split{{Shards: make([]Shard, maxManifestShard+1)}}}
	if _, err := m.Encode(); err == nil || !strings.Contains(err.Error(), "fewer shards") {
		t.Errorf("a manifest that nobody can read is written: %v", err)
	}
}

func TestForeignManifests(t *testing.T) {
	for data, foreign := range map[string]bool{
		`{"format":"coco"}`: true, `{"a":[{}]}`: true, `{"a":1} `: true, "{\"a\":1}\n{\"a\":2}\n": true, `{"format":"tfrec.manifest"}{}`: false, `{"format":1}`: false, `{"a":`: false, `[]`: false,
		`{"a":"` + strings.Repeat("x", maxManifestValue+1<<20) + `"}`: true,
	} {
		_, err := decodeManifest(strings.NewReader(data))
		if err == nil || errors.Is(err, ErrForeign) != foreign {
			t.Errorf("%.40s: %v, want foreign %v", data, err, foreign)
		}
	}
}

// TestLabelNamesTakeMemoryOnce: shards share the text of the names, up to a number of names.
func TestLabelNamesTakeMemoryOnce(t *testing.T) {
	for _, names := range []int{1, 1000, maxSharedNames + 10} {
		counts := map[string]int64{}
		for i := range names {
			counts[fmt.Sprintf("class %d", i)] = int64(i)
		}
		m := &Manifest{Format: Format, Version: Version, Splits: []Split{{Shards: []Shard{{File: "a", Labels: counts}, {File: "b", Labels: counts}}}}}
		data, err := m.Encode()
		check(t, err)
		got, err := decodeManifest(bytes.NewReader(data))
		check(t, err)
		texts, shared := map[*byte]bool{}, 0
		for _, s := range got.Splits[0].Shards {
			if !maps.Equal(s.Labels, counts) {
				t.Fatalf("%d labels of %s come back as %d, or others", names, s.File, len(s.Labels))
			}
			for name := range s.Labels {
				text := unsafe.StringData(name)
				if texts[text] {
					shared++
				}
				texts[text] = true
			}
		}
		if want := min(names, maxSharedNames); shared != want {
			t.Errorf("%d of %d names are shared, want %d", shared, names, want)
		}
	}
}
