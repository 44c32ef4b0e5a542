package setdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

func TestOverlap(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	settest.Check(t, os.MkdirAll(at("set/sub"), 0o755))
	settest.Check(t, os.WriteFile(at("set/file"), nil, 0o644))
	settest.Check(t, os.Symlink(at("set"), at("link")))
	const same, inside, contains = "is the input: choose another output directory", " is inside the input ", " contains the input "
	for _, c := range []struct{ out, in, want string }{
		{"set", "set", same}, {"set", "set/", same}, {"set", "set/../set/.", same}, {"link", "set", same}, {"set", "link", same},
		{"set/sub", "set", inside}, {"set/new", "set", inside}, {"link/new/er", "set", inside}, {"set/new", "link", inside},
		{"set", "set/sub", contains}, {"link", "set/file", contains}, {"", "set", contains},
		{"new", "set", ""}, {"set2", "set", ""}, {"set/sub", "set/file", ""}, {"link/new", "set/sub", ""},
	} {
		for _, pair := range [][2]string{
			{at(c.out), base + "/" + c.in},
			{"mem://bucket/" + c.out, "mem://bucket/" + c.in},
		} {
			out, in := pair[0], pair[1]
			if strings.HasPrefix(out, "mem") && strings.Contains(c.out+c.in, "link") {
				continue // a store has no links
			}
			err := setdir.MustBeApart(out, at("other"), in)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s from %s: %v, want %q", out, in, err, c.want)
			}
			if is := setdir.MustDiffer(out, in); errors.Is(is, setdir.ErrIsInput) != (c.want == same) || errors.Is(err, setdir.ErrIsInput) != (c.want == same) {
				t.Errorf("%s from %s: %v and %v", out, in, is, err)
			}
		}
	}
	if err := setdir.MustDiffer("", "."); err != nil {
		t.Errorf("no output: %v", err)
	}
	if err := setdir.MustBeApart(at("set"), "mem://bucket/set"); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestMustBeVacant(t *testing.T) {
	store, url := settest.StoreOf(t)
	store.Put("set/b", nil)
	local := t.TempDir()
	settest.Check(t, os.WriteFile(filepath.Join(local, "b"), nil, 0o644))
	for _, path := range []string{local, url + "/set"} {
		dir := setdir.View(t.Context(), path)
		settest.Check(t, setdir.MustBeVacant(dir, nil))
		settest.Check(t, setdir.MustBeVacant(dir, []string{"a", "c"}))
		if err := setdir.MustBeVacant(dir, []string{"a", "b", "c"}); !errors.Is(err, setdir.ErrForeign) || !strings.HasPrefix(err.Error(), dir.Join("b")+" exists and no manifest") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
