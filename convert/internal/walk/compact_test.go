package walk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// What is listed comes back, whatever the order and the names.
func TestCompactImagesAreTheListed(t *testing.T) {
	rng := torture.Rand(t)
	for range 20 {
		var found compactImages
		type listed struct {
			path, version string
			size, modTime int64
		}
		var want, got []listed
		for range rng.IntN(3000) {
			p := listed{
				strings.Repeat("dir/", rng.IntN(3)) + fmt.Sprintf("%x.png", rng.IntN(1000)),
				strings.Repeat("v", rng.IntN(3)*rng.IntN(100)), rng.Int64() >> rng.IntN(64), rng.Int64() - rng.Int64(),
			}
			if rng.IntN(2) == 0 {
				p.version = fmt.Sprintf(`"%016x%016x"`, rng.Uint64(), rng.Uint64())
			}
			if rng.IntN(500) == 0 {
				p.path += strings.Repeat("\xff", compactBlock)
			}
			found.add(p.path, p.version, p.size, p.modTime)
			want = append(want, p)
		}
		for _, p := range found.list() {
			got = append(got, listed{p.Path, p.Version.Text(), p.Size, p.ModTime})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d images listed, %d back, or others", len(want), len(got))
		}
	}
}
