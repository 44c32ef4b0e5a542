package convert

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// relistInput is a source of images with faults of all kinds, and the options to convert it.
type relistInput struct {
	src, file string
	o         ImageOptions
	rows      []string
	voc       bool
}

// newRelistInput makes a source whose images are named in a table, or annotated in VOC's files.
func newRelistInput(t *testing.T, r *rand.Rand, voc bool) *relistInput {
	dir := t.TempDir()
	in := &relistInput{src: filepath.Join(dir, "src"), file: filepath.Join(dir, "labels.csv"), voc: voc}
	in.o = ImageOptions{Options: Options{Name: "n", Shards: 3, Even: true, MaxErrors: Tolerance{Count: 1000}}, Encode: EncodeSpec{Format: PNG}}
	put(t, dir, "elsewhere/o.png", pngOf(99))
	if voc {
		in.file = filepath.Join(dir, "voc")
		in.o.Annotations.Files = []AnnotationFile{{Path: in.file}}
	} else {
		in.o.Labels.File = in.file
		if err := os.MkdirAll(in.src, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(in.src, "dir")); err != nil {
			t.Skip(err)
		}
		in.rows = []string{"0.png,l0", "dir/o.png,l1"}
	}
	if r.IntN(2) == 0 {
		in.o.Augment = AugmentSpec{Policy: policy(t, "mixup"), Copies: 2, KeepOriginal: true}
	}
	put(t, in.src, "0.png", pngOf(0))
	if voc {
		put(t, in.file, "0.xml", []byte(vocOf(objectOf("cat", 1, 1, 4, 4))))
	}
	for i := range 14 {
		in.change(t, r, i+1)
	}
	return in
}

func vocOf(objects ...string) string {
	return "<annotation><size><width>8</width><height>8</height></size>" + strings.Join(objects, "") + "</annotation>"
}

func objectOf(name string, box ...int) string {
	return fmt.Sprintf("<object><name>%s</name><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>", name, box[0], box[1], box[2], box[3])
}

// change gives the image of a number, or its row or annotations, another fault or none.
func (in *relistInput) change(t *testing.T, r *rand.Rand, i int) {
	name := fmt.Sprintf("%d.png", i)
	switch r.IntN(6) {
	case 0:
		put(t, in.src, name, []byte(fmt.Sprintf("no image %d", r.IntN(9))))
	case 1:
		os.Remove(filepath.Join(in.src, name))
	case 2:
		put(t, in.src, name, nil)
	case 3: // cannot be read
		put(t, in.src, name, nil)
		if err := os.Truncate(filepath.Join(in.src, name), origin.MaxInput+1+r.Int64N(9)); err != nil {
			t.Fatal(err)
		}
	default:
		put(t, in.src, name, pngOf(r.IntN(9)))
	}
	if in.voc {
		in.annotate(t, r, fmt.Sprintf("%d.xml", i))
		return
	}
	in.rows = slices.Insert(in.rows, r.IntN(len(in.rows)+1), fmt.Sprintf("%s,%s", name, []string{"", "l0", "l1"}[r.IntN(3)]))
	if r.IntN(2) == 0 {
		at := r.IntN(len(in.rows))
		in.rows = slices.Delete(in.rows, at, at+1)
	}
	if !slices.Contains(in.rows, "0.png,l0") {
		in.rows = append(in.rows, "0.png,l0")
	}
	if err := os.WriteFile(in.file, []byte("path,label\n"+strings.Join(in.rows, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (in *relistInput) annotate(t *testing.T, r *rand.Rand, name string) {
	n := r.IntN(7)
	switch r.IntN(6) {
	case 0:
		os.Remove(filepath.Join(in.file, name))
	case 1:
		put(t, in.file, name, []byte("<annotation>"+strings.Repeat("<a>", n)+"</b>"))
	case 2:
		put(t, in.file, name, []byte(vocOf(objectOf("cat", 3, 3, 2, n), objectOf("dog", 1, 1, 4, 4))))
	case 3:
		put(t, in.file, name, []byte(vocOf(objectOf("cat", 20+n, 20, 30, 30), objectOf("", 1, 1, 4, 4))))
	default:
		put(t, in.file, name, []byte(vocOf(objectOf("cat", 1, 1, 2+n, 4))))
	}
}

// reword replaces the reasons in the states of shards, as if an earlier version had other words.
func reword(t *testing.T, out string) (reworded int) {
	t.Helper()
	states, err := filepath.Glob(filepath.Join(out, shard.StateDir, "shards", "*.json"))
	if err != nil || len(states) == 0 {
		t.Fatal(states, err)
	}
	for _, state := range states {
		var done map[string]json.RawMessage
		data, err := os.ReadFile(state)
		if err == nil {
			err = json.Unmarshal(data, &done)
		}
		if err != nil {
			t.Fatal(err)
		}
		var bad []setdir.BadSample
		if done["bad"] == nil {
			continue
		}
		if err := json.Unmarshal(done["bad"], &bad); err != nil {
			t.Fatal(err)
		}
		for i := range bad {
			if bad[i].Listed {
				bad[i].Reason = "old words"
				reworded++
			}
		}
		done["bad"], _ = json.Marshal(bad)
		data, _ = json.Marshal(done)
		if err := os.WriteFile(state, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return reworded
}

// TestRewordedReasonsRedoNothing: other words for the faults that the listing finds redo no shard, and
// after any change of the input the set, its ledger included, is as one made afresh.
func TestRewordedReasonsRedoNothing(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		in := newRelistInput(t, r, seed%2 == 1)
		out := filepath.Join(t.TempDir(), "out")
		for step := range 3 {
			s := mustImages(t, in.src, out, in.o)
			want := contents(t, out)
			fresh := filepath.Join(t.TempDir(), "fresh")
			if f := mustImages(t, in.src, fresh, in.o); f.Errors != s.Errors {
				t.Errorf("seed %d, step %d: %d errors, and %d of a new set", seed, step, s.Errors, f.Errors)
			}
			sameSet(t, want, contents(t, fresh))

			reworded := reword(t, out)
			s = mustImages(t, in.src, out, in.o)
			if s.ShardsWritten != 0 || s.Status != UpToDate {
				t.Errorf("seed %d, step %d: %d other words: %s, %d shards written", seed, step, reworded, s.Status, s.ShardsWritten)
			}
			sameSet(t, contents(t, out), want)
			if ledger := want[manifest.LedgerFile]; strings.Contains(ledger, "listed") || strings.Contains(ledger, "old words") {
				t.Errorf("seed %d, step %d: ledger %s", seed, step, ledger)
			}
			for range 1 + r.IntN(3) {
				in.change(t, r, 1+r.IntN(14))
			}
		}
	}
}

// TestLedgersFollowTheirInput: a fact that only a reason states is up to date in the ledger, and no
// shard is redone for it.
func TestLedgersFollowTheirInput(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	src, file := filepath.Join(dir, "src"), filepath.Join(dir, "l.csv")
	put(t, src, "a.png", pngOf(1))
	o := ImageOptions{Labels: LabelSpec{File: file}, Options: Options{MaxErrors: Tolerance{Count: 3}}}
	for i, c := range []struct{ rows, want string }{
		{"a.png,x\ngone.png,x\n", `"line":3,"stage":"read","reason":"no such file`},
		{"a.png,x\n\ngone.png,\n", `"line":4,"stage":"read","reason":"gone.png has an empty label`},
		{"gone.png,\na.png,x\n", `"line":2,"stage":"read","reason":"gone.png has an empty label`},
	} {
		if err := os.WriteFile(file, []byte("path,label\n"+c.rows), 0o644); err != nil {
			t.Fatal(err)
		}
		s := mustImages(t, src, out, o)
		if got := contents(t, out)[manifest.LedgerFile]; !strings.Contains(got, c.want) {
			t.Errorf("ledger %s, want %s in it", got, c.want)
		}
		if i == 2 && (s.ShardsWritten != 0 || s.Status != Updated) {
			t.Errorf("%d shards written, %s", s.ShardsWritten, s.Status)
		}
	}
}

// TestReasonsAreInNoIdentity: an image that the listing rejects, and annotations that it does, have
// the same identity whatever is said of them, and another one if there is another number of them.
func TestReasonsAreInNoIdentity(t *testing.T) {
	identity := func(reason string, line int64, faults int) string {
		image := &annotation.Image{Name: "a", Source: "a.xml", Unreadable: reason}
		for range faults {
			image.Faults = append(image.Faults, annotation.Fault{Name: "object 1", Reason: reason})
		}
		bad := &setdir.BadSample{Key: "a.png", Source: "l.csv", Line: line, Stage: "read", Reason: reason}
		set := &sample.Set{Options: new(ImageOptions), Annotations: new(annotations.Union), Images: []origin.Image{{Path: "a.png", Extra: &origin.Extra{Bad: bad, Annotated: image}}}}
		return string(set.Identity(nil, sample.Of(0), (&rememberedHashes{Set: set}).known(0)))
	}
	want := identity("old words", 2, 1)
	if identity("new ones", 3, 1) != want {
		t.Error("the identity depends on words")
	}
	if identity("old words", 2, 2) == want {
		t.Error("the identity does not depend on the number of faults")
	}
}
