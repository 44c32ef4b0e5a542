package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/shard"
)

// putDepfile writes Options.Depfile: a rule of make that the manifest depends
// on every file and folder that the set was made from, and an empty rule for
// each of those, so that one that is deleted is no error but a reason to run
// again. The manifest of a set that was up to date is given the present time,
// or its age would have make run again for ever.
func (r *run) putDepfile(status Status) error {
	if r.Depfile == "" {
		return nil
	}
	manifest := filepath.Join(r.dir.Path(), shard.ManifestFile)
	var rule, empty bytes.Buffer
	target, ok := escapeDepfile(manifest)
	if !ok {
		return fmt.Errorf("--depfile: %q has characters that make cannot read", manifest)
	}
	rule.WriteString(target + ":")
	left := 0
	add := func(path string) {
		name, ok := escapeDepfile(path)
		if !ok {
			left++
			return
		}
		rule.WriteString(" \\\n  " + name)
		empty.WriteString("\n" + strings.ReplaceAll(name, "%", `\%`) + ":\n")
	}
	for path := range r.source.files() {
		add(path)
	}
	for _, path := range r.AlsoReads {
		add(path)
	}
	if left > 0 {
		r.note("%s with a line break in the name, which make cannot read: left out of %s", plural(int64(left), "input"), r.Depfile)
	}
	rule.WriteByte('\n')
	rule.Write(empty.Bytes())
	if status == UpToDate {
		now := time.Now()
		if err := os.Chtimes(manifest, now, now); err != nil {
			return err
		}
	}
	return atomicfile.Write(filepath.Dir(r.Depfile), r.Depfile, rule.Bytes())
}

// escapeDepfile writes a path as make and ninja read it in a rule; not ok for
// one with a line break, which neither can. Make's manual has the rules under
// "What Makefiles Contain" and "Automatic Prerequisites".
func escapeDepfile(path string) (escaped string, ok bool) {
	var b strings.Builder
	slashes := 0
	for i := range len(path) {
		c := path[i]
		switch c {
		case '\n', '\r', 0:
			return "", false
		case ' ', '\t', '#':
			// Backslashes in front of a blank count double.
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteByte('\\')
		case ':':
			if filepath.VolumeName(path) == "" || i != 1 {
				b.WriteByte('\\')
			}
		case '$':
			b.WriteByte('$')
		}
		b.WriteByte(c)
		if c == '\\' {
			slashes++
		} else {
			slashes = 0
		}
	}
	return b.String(), true
}
