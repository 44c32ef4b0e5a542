package setdir

import (
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
)

// A directory of the state that vanishes during a run is created again.
func TestVanishedStateDirectory(t *testing.T) {
	d, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		if err := d.State().Put("shards/a.json", 1); err != nil {
			t.Fatal(err)
		}
		if err := d.Shards().Forget(nil); err != nil {
			t.Fatal(err)
		}
		prune(d, ShardsDir, place.TempDir)
		if names, err := d.List(place.StateDir); err != nil || len(names) != 1 {
			t.Fatalf("%q, %v", names, err)
		}
	}
}
