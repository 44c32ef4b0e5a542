package origin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// Versions come back as they are, and equal themselves alone.
func TestVersionsAreKeptExactly(t *testing.T) {
	rng := torture.Rand(t)
	usual := []string{
		fmt.Sprintf(`"%016x%016x"`, rng.Uint64(), rng.Uint64()), `"00000000000000000000000000000000"`,
		fmt.Sprintf(`"0x8D%013X"`, rng.Uint64()>>12), fmt.Sprint(time.Now().UnixMicro()),
		ChangeVersion(fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64())), archiveVersion(fmt.Sprintf("%032x", rng.Uint64()), "change"),
	}
	versions := append([]string{
		"", `"`, `""`, "0", "0123456789", strings.Repeat("0", 32), `"0x"`, "modified 2026-01-02T03:04:05Z, 17 bytes", "\xff\x00",
		`"d41d8cd98f00b204e9800998ecf8427e-12"`, `W/"d41d8cd98f00b204e9800998ecf8427e"`, strings.Repeat("v", 500),
	}, usual...)
	for _, v := range usual { // a byte more, less or changed
		for i := range v {
			versions = append(versions, v[:i], v[:i]+"x"+v[i:], v[:i]+string(rune(rng.IntN(128)))+v[i+1:], v[:i]+strings.ToUpper(v[i:]), v[:i]+strings.ToLower(v[i:]))
		}
	}
	var last Version
	for _, text := range versions {
		v := VersionAs([]byte(text), last)
		if got := v.Text(); got != text {
			t.Fatalf("%q comes back as %q", text, got)
		}
		for _, other := range []string{text, versions[rng.IntN(len(versions))], text + "x"} {
			if is := v.Is([]byte(other)); is != (other == text) {
				t.Fatalf("%q is %q: %v", text, other, is)
			}
		}
		last = v
	}
	for _, text := range usual {
		if v := VersionAs([]byte(text), Version{}); v.Form.digits == 0 {
			t.Errorf("%s has text of its own", text)
		}
	}
	archive := func(size, change int) Version {
		return VersionAs([]byte(archiveVersion(fmt.Sprintf("%016x%016x", size, 0), fmt.Sprint(change))), Version{})
	}
	for i := range 9 {
		v, size, change := archive(1, 1), i%3, i/3%3
		other := archive(size, change)
		if is := v.IsButForChange([]byte(other.Text())); is != (size == 1) {
			t.Errorf("an archive of size 1 is one of size %d: %v", size, is)
		}
		if is := v.Is([]byte(other.Text())); is != (size == 1 && change == 1) {
			t.Errorf("an archive with change 1 is one of size %d with change %d: %v", size, change, is)
		}
	}
	a := VersionAs([]byte("some"), Version{})
	if b := VersionAs([]byte("some"), a); a != b {
		t.Error("equal versions in a row have text each")
	}
}
