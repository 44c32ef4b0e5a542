package torture

import (
	"slices"
	"strings"
	"testing"
)

// TestCheck holds the checker to short logs, as strace writes them.
func TestCheck(t *testing.T) {
	const (
		create   = `1 openat(AT_FDCWD</>, "/r/out/.tmp/f", O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0600) = 5</r/out/.tmp/f>`
		write    = `1 write(5</r/out/.tmp/f>, "a, b) = 1\"<"..., 12) = 12`
		fsync    = `1 fsync(5</r/out/.tmp/f>) = 0`
		rename   = `1 renameat(AT_FDCWD</>, "/r/out/.tmp/f", AT_FDCWD</>, "/r/out/a") = 0`
		syncOut  = `1 fsync(6</r/out>) = 0`
		syncRoot = `1 fsync(6</r>) = 0`
		manifest = `1 renameat(AT_FDCWD</>, "/r/out/.tmp/m", AT_FDCWD</>, "/r/out/manifest.json") = 0`
		removed  = `1 unlinkat(AT_FDCWD</>, "/r/out/a", 0) = 0`
	)
	for _, c := range []struct {
		name string
		log  []string
		want []string // a part of each fault
	}{
		{"right", []string{create, write, fsync, rename, syncOut}, nil},
		{"unsynced data", []string{create, write, rename, syncOut}, []string{"before its data are synced", "data of /r/out/a are not synced"}},
		{"unsynced name", []string{create, write, fsync, rename}, []string{"name of /r/out/a is not synced"}},
		{"synced before it was written", []string{create, fsync, write, rename, syncOut}, []string{"before its data", "data of /r/out/a"}},
		{"synced before it was renamed", []string{create, write, fsync, syncOut, rename}, []string{"name of /r/out/a"}},
		{"failed sync", []string{create, write, strings.Replace(fsync, "= 0", "= -1 EIO (Input/output error) (INJECTED)", 1), rename, syncOut}, []string{"before its data", "data of /r/out/a"}},
		{"failed rename", []string{create, write, fsync, strings.Replace(rename, "= 0", "= -1 EXDEV (Invalid cross-device link)", 1)}, nil},
		{"removed again", []string{create, write, fsync, rename, removed}, nil},
		{"a new directory", []string{`1 mkdirat(AT_FDCWD</r>, "new", 0755) = 0`}, []string{"name of /r/new is not synced at the end: mkdirat"}},
		{"a new directory, synced", []string{`1 mkdirat(AT_FDCWD</r>, "new", 0755) = 0`, syncRoot}, nil},
		{"below a directory that is renamed", []string{
			`1 mkdirat(AT_FDCWD</>, "/r/t", 0755) = 0`, `1 openat(9</r/t>, "x", O_WRONLY|O_CREAT, 0644) = 4</r/t/x>`, `1 write(4</r/t/x>, "1", 1) = 1`,
			`1 renameat(AT_FDCWD</>, "/r/t", AT_FDCWD</>, "/r/u") = 0`, syncRoot,
		}, []string{"/r/t/x gets the name /r/u before", "data of /r/u/x", "name of /r/u/x"}},
		{"all at once", []string{
			`1 mkdirat(AT_FDCWD</>, "/r/t", 0755) = 0`, `1 openat(9</r/t>, "x", O_WRONLY|O_CREAT, 0644) = 4</r/t/x>`, `1 write(4</r/t/x>, "1", 1) = 1`,
			`1 syncfs(9</r/t>) = 0`, `1 renameat(AT_FDCWD</>, "/r/t", AT_FDCWD</>, "/r/u") = 0`, syncRoot,
		}, nil},
		{"a manifest too early", []string{create, write, fsync, rename, manifest, syncOut}, []string{"manifest.json vouches for /r/out/a"}},
		{"a manifest in time", []string{create, write, fsync, rename, syncOut, manifest, syncOut}, nil},
		{"a link", []string{`1 linkat(AT_FDCWD</>, "/r/old", AT_FDCWD</>, "/r/damaged/old", 0) = 0`}, []string{"name of /r/damaged/old is not synced at the end: link"}},
		{"a file written in place", []string{`1 write(3</r/old>, "1", 1) = 1`}, []string{"data of /r/old"}},
		{"outside", []string{`1 mkdirat(AT_FDCWD</>, "/elsewhere", 0755) = 0`, `1 write(3</dev/null>, "1", 1) = 1`}, nil},
		{"ignored", []string{`1 openat(AT_FDCWD</>, "/r/lock", O_RDWR|O_CREAT, 0644) = 4</r/lock>`}, nil},
		{"two threads", []string{create, `1 write(5</r/out/.tmp/f>, "x", 1 <unfinished ...>`, `2 fsync(6</r>) = 0`, `1 <... write resumed>) = 1`, fsync, rename, syncOut}, nil},
		{"two threads, unsynced", []string{create, fsync, `1 write(5</r/out/.tmp/f>, "x", 1 <unfinished ...>`, `2 fsync(6</r>) = 0`, `1 <... write resumed>) = 1`, rename, syncOut}, []string{"before its data", "data of"}},
	} {
		d := Durability{
			Root: "/r", Before: []string{"/r", "/r/out", "/r/out/.tmp", "/r/old", "/r/damaged", "/r/out/.tmp/m"},
			Ignore:  func(path string) bool { return path == "/r/lock" || strings.HasPrefix(path, "/r/out/.tmp/") },
			Vouches: func(path string) bool { return strings.HasSuffix(path, "/manifest.json") },
		}
		if strings.HasPrefix(c.name, "a manifest") {
			c.log = slices.Insert(c.log, 0, `1 fsync(7</r/out/.tmp/m>) = 0`)
		}
		got := d.Check([]byte(strings.Join(c.log, "\n") + "\n1 +++ exited with 0 +++\n"))
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && strings.Contains(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  []int
	}{{3, 2, []int{1, 2}}, {3, 101, []int{1, 51, 101}}, {1, 9, []int{1}}, {5, 0, nil}, {4, 4, []int{1, 2, 3, 4}}} {
		if got := Spread(c.n, c.of); !slices.Equal(got, c.want) {
			t.Errorf("Spread(%d, %d) = %v, want %v", c.n, c.of, got, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	log := []byte("1 fsync(3</a>) = 0\n2 fsync(3</a>) = 0\n1 fsync(3</a>) = -1 EIO (Input/output error)\n1 mkdir(\"/a\", 0755) = 0\n")
	if got := Counts(log); got["fsync"] != 2 || got["mkdir"] != 1 || len(got) != 2 {
		t.Errorf("%v", got)
	}
}
