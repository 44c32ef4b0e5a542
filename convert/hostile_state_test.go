package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard/verify"
)

// The state of a set is untrusted: no run removes what it names outside of the directory, or
// through a link.
func TestStateOfOthersRemovesNothing(t *testing.T) {
	for name, leadsOut := range map[string]bool{"../theirs": true, "data/theirs": false} {
		src, out := directories(t, 6), filepath.Join(t.TempDir(), "set")
		mustImages(t, src, out, ImageOptions{Options: Options{Name: "n", Shards: 2}})
		theirs := filepath.Join(filepath.Dir(out), "theirs")
		put(t, filepath.Dir(theirs), "theirs", []byte("theirs"))
		if err := os.Symlink(filepath.Dir(out), filepath.Join(out, "data")); err != nil {
			t.Skip(err)
		}
		run := filepath.Join(out, filepath.FromSlash(setdir.RunFile))
		data, err := os.ReadFile(run)
		if err != nil {
			data = []byte(`{"name":"n"}`)
		}
		var state map[string]any
		if err := json.Unmarshal(data, &state); err != nil {
			t.Fatal(err)
		}
		state["stale"] = []string{name}
		if data, err = json.Marshal(state); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Dir(run), filepath.Base(run), data)
		put(t, src, "a/new.png", pngOf(99))
		s, err := Images(t.Context(), src, out, ImageOptions{Options: Options{Name: "n", Shards: 2}})
		if leadsOut && (err != nil || s.Status != Updated) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if data, err := os.ReadFile(theirs); string(data) != "theirs" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if report, err := verify.Files(t.Context(), []string{out}, verify.Options{}); err != nil || !report.OK {
			t.Errorf("%s: the set is not whole: %v", name, err)
		}
	}
}
