package reshape

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageRecord builds records with slashes in their keys.
func imageRecord(i int, b *tfrecord.Builder) {
	b.Bytes("image/encoded", []byte("\xff\xd8\xff\xe0 picture"))
	b.Int64("image/width", int64(100+i))
	b.Int64("label", int64(i%2))
	b.String("text", "some text")
}

func TestReshapeFeatures(t *testing.T) {
	ctx := context.Background()
	set := madeSet(t, 50, 2, []string{"cat", "dog"}, imageRecord)
	supervise(t, set, &manifest.Supervised{Input: "image/encoded", Target: "label"})
	type work func(in, out string) error
	selecting := func(keys ...string) work {
		return func(in, out string) error {
			_, err := SelectFeatures(ctx, []string{in}, out, keys, Options{})
			return err
		}
	}
	dropping := func(keys ...string) work {
		return func(in, out string) error {
			_, err := DropFeatures(ctx, []string{in}, out, keys, Options{})
			return err
		}
	}
	renamingTo := func(pairs ...string) work {
		return func(in, out string) error {
			var names []RenameFeature
			for _, p := range pairs {
				from, to, _ := strings.Cut(p, "=")
				names = append(names, RenameFeature{from, to})
			}
			_, err := RenameFeatures(ctx, []string{in}, out, names, Options{})
			return err
		}
	}
	for _, c := range []struct {
		name       string
		work       work
		keys       string
		labels     bool
		supervised *manifest.Supervised
		want       func(i int, b *tfrecord.Builder)
	}{
		{"select", selecting("label", "image/*"), "image/encoded image/width label", true, &manifest.Supervised{Input: "image/encoded", Target: "label"}, func(i int, b *tfrecord.Builder) {
			b.Bytes("image/encoded", []byte("\xff\xd8\xff\xe0 picture"))
			b.Int64("image/width", int64(100+i))
			b.Int64("label", int64(i%2))
		}},
		{"drop", dropping("*b*"), "image/encoded image/width text", false, nil, func(i int, b *tfrecord.Builder) {
			b.Bytes("image/encoded", []byte("\xff\xd8\xff\xe0 picture"))
			b.Int64("image/width", int64(100+i))
			b.String("text", "some text")
		}},
		{"drop all", dropping("*"), "", false, nil, func(int, *tfrecord.Builder) {}},
		{"rename", renamingTo("image/*=z/*", "label=class"), "class text z/encoded z/width", true, &manifest.Supervised{Input: "z/encoded", Target: "class"}, func(i int, b *tfrecord.Builder) {
			b.Int64("class", int64(i%2))
			b.String("text", "some text")
			b.Bytes("z/encoded", []byte("\xff\xd8\xff\xe0 picture"))
			b.Int64("z/width", int64(100+i))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			settest.Check(t, c.work(set, out))
			verified(t, out)
			m := settest.ManifestOf(t, out)
			var keys []string
			for _, f := range m.Features {
				keys = append(keys, f.Key)
			}
			if got := strings.Join(keys, " "); got != c.keys || (len(m.Labels) == 2) != c.labels {
				t.Errorf("features %q, labels %q", got, m.Labels)
			}
			if diff := cmp.Diff(c.supervised, m.Supervised); diff != "" {
				t.Error(diff)
			}
			for _, s := range m.Splits {
				for _, info := range s.Shards {
					if (len(info.Labels) == 2) != c.labels {
						t.Errorf("labels of %s: %v", info.File, info.Labels)
					}
				}
			}
			var got, want [][]byte
			sources, err := shard.Expand(t.Context(), []string{out}, shard.ExpandOptions{})
			settest.Check(t, err)
			for _, s := range sources {
				got = append(got, settest.RecordsOf(t, s.Path)...)
			}
			var b tfrecord.Builder
			for i := range 50 {
				b.Reset()
				c.want(i, &b)
				want = append(want, b.Append(nil))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.500s", diff)
			}
		})
	}
	for want, work := range map[string]work{
		`reshape.SelectFeatures.keys: no feature "nope"; there are "image/encoded", "image/width", "label", "text"`: selecting("label", "nope"),
		`no feature "img/*"`:    dropping("img/*"),
		`want keys of features`: selecting(),
		`features "label" and "text" would both be named "text"`: renamingTo("label=text"),
		`feature "label" would have no name`:                     renamingTo("label="),
		`want one * on both sides, or none`:                      renamingTo("image/*=z"),
		`no feature "x"`:                                         renamingTo("x=y"),
		`both be named "same"`:                                   renamingTo("label=same", "text=same"),
	} {
		for _, in := range []string{set, settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 9, imageRecord)} {
			out := filepath.Join(t.TempDir(), "out")
			if err := work(in, out); !isOptionError(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
			settest.NothingAt(t, out)
		}
	}
}

// supervise changes the manifest's description of supervised training.
func supervise(t *testing.T, path string, s *manifest.Supervised) {
	t.Helper()
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	m := settest.ManifestOf(t, path)
	m.Supervised = s
	settest.Check(t, dir.PutSet(m))
}

func TestMatchesKey(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "a", true}, {"a*", "a/b/c", true}, {"*c", "a/b/c", true}, {"a*c", "ac", true},
		{"a*a", "a", false}, {"a*b*c", "a-b-c", true}, {"a*b*c", "a-c-b", false}, {"*", "", true}, {"**", "x", true}, {"*b*", "abc", true},
		{"ab*ba", "aba", false}, {"*a*a*", "a", false}, {"[a]", "a", false}, {"[a]", "[a]", true}, {"", "", true}, {"", "a", false},
	} {
		if got := matchesKey(c.pattern, c.key); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.key, got)
		}
	}
}
