package reshape

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestShortNames gives options what follows the last slash of a key: the set and its manifest are those
// of the whole key, of inputs with a manifest and without, also when it is there already.
func TestShortNames(t *testing.T) {
	build := func(i int, b *tfrecord.Builder) {
		b.Int64("image/class/label", int64(i*7%3))
		b.String("image/name", string(rune('a'+i%2)))
		b.String("x/y", "")
		b.String("z/y", "")
	}
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "bare.tfrecord"), 12, build)
	set := filepath.Join(t.TempDir(), "set")
	_, err := Reshard(t.Context(), []string{bare}, set, ReshardOptions{Options: Options{Shards: 2}})
	settest.Check(t, err)
	thirds := []shard.SplitShare{{Name: "a", Share: 0.7}, {Name: "b", Share: 0.3}}
	for name, verb := range map[string]func(in, out, key string) (*Report, error){
		"sort": func(in, out, key string) (*Report, error) {
			return Reshard(t.Context(), []string{in}, out, ReshardOptions{SortBy: key, Options: Options{Name: "n"}})
		},
		"group": func(in, out, key string) (*Report, error) {
			return Reshard(t.Context(), []string{in}, out, ReshardOptions{GroupBy: key, Options: Options{Name: "n"}})
		},
		"hash": func(in, out, key string) (*Report, error) {
			return Resplit(t.Context(), []string{in}, out, ResplitOptions{ByHash: key, Splits: thirds, Options: Options{Name: "n"}})
		},
		"list": func(in, out, key string) (*Report, error) {
			return Resplit(t.Context(), []string{in}, out, ResplitOptions{Key: key, List: map[string]string{"a": "train", "b": "val"}, Options: Options{Name: "n"}})
		},
		"dedupe": func(in, out, key string) (*Report, error) {
			r, err := Dedupe(t.Context(), []string{in}, out, DedupeOptions{By: key, Options: Options{Name: "n"}})
			if err != nil {
				return nil, err
			}
			return &r.Report, nil
		},
		"select": func(in, out, key string) (*Report, error) {
			return SelectFeatures(t.Context(), []string{in}, out, []string{key, "x/*"}, Options{Name: "n"})
		},
		"drop": func(in, out, key string) (*Report, error) {
			return DropFeatures(t.Context(), []string{in}, out, []string{key}, Options{Name: "n"})
		},
		"rename": func(in, out, key string) (*Report, error) {
			return RenameFeatures(t.Context(), []string{in}, out, []RenameFeature{{key, "new"}}, Options{Name: "n"})
		},
	} {
		for _, in := range []string{bare, set} {
			key, short := "image/class/label", "label"
			if name == "list" {
				key, short = "image/name", "name"
			}
			whole, out := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
			_, err := verb(in, whole, key)
			settest.Check(t, err)
			_, err = verb(in, out, short)
			settest.Check(t, err)
			if diff := cmp.Diff(settest.FilesOf(t, whole), settest.FilesOf(t, out)); diff != "" {
				t.Errorf("%s of %s: by a short name another set: %s", name, filepath.Base(in), diff)
			}
			for _, again := range []string{key, short} {
				if r, err := verb(in, out, again); err != nil || r.Status != rearrange.UpToDate {
					t.Errorf("%s of %s again by %q: %+v, %v", name, filepath.Base(in), again, r, err)
				}
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		for key, want := range map[string]string{"lable": `did you mean "image/class/label"?`, "y": `"y" may be any of "x/y", "z/y"`} {
			if _, err := verb(set, out, key); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s by %q: %v", name, key, err)
			}
		}
	}
}
