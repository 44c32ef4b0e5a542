//go:build unix

package atomicfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModeFollowsUmask runs itself in a shell for each umask, as it is a
// property of the process.
func TestModeFollowsUmask(t *testing.T) {
	if path := os.Getenv("WRITE_TO"); path != "" {
		if err := Write(filepath.Dir(path), path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for umask, want := range map[string]os.FileMode{"022": 0o644, "002": 0o664, "077": 0o600, "027": 0o640} {
		path := filepath.Join(t.TempDir(), "f")
		c := exec.Command("sh", "-c", fmt.Sprintf(`umask %s && exec "$0" -test.run=TestModeFollowsUmask`, umask), self)
		c.Env = append(os.Environ(), "WRITE_TO="+path)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("umask %s: %v, %v; want %v", umask, st.Mode(), err, want)
		}
	}
}
