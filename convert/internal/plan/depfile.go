package plan

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/manifest"
)

// checkDepfile checks before the work that Options.Depfile can be written.
func (r *run) checkDepfile(ctx context.Context) error {
	if r.Depfile == "" {
		return nil
	}
	if r.dir.Remote() {
		return OptionErrorf(optname.OptionsDepfile, "make and ninja cannot track %s: a set in an object store cannot be their target", r.dir.Path())
	}
	if _, err := output.FindLocal(ctx, r.Depfile); err != nil {
		return fmt.Errorf("%s: %w", optname.OptionsDepfile, err)
	}
	return nil
}

// putDepfile writes Options.Depfile: a make rule by which the manifest depends on every file and
// directory that the set was made from, and an empty rule for each of those, so that deleting one
// is not an error but triggers another run. The manifest of an up-to-date set gets the current
// time, since make would otherwise run again forever.
func (r *run) putDepfile(status Status) error {
	if r.Depfile == "" {
		return nil
	}
	path := filepath.Join(r.dir.Path(), manifest.File)
	target, ok := EscapeDepfile(path)
	if !ok {
		return fmt.Errorf("%s: %q has characters that make cannot read", optname.OptionsDepfile, path)
	}
	left := 0
	var inputs []string
	add := func(path string) {
		if name, ok := EscapeDepfile(path); ok {
			inputs = append(inputs, name)
		} else {
			left++
		}
	}
	for path := range r.source.Files() {
		add(path)
	}
	for _, path := range r.AlsoReads {
		add(path)
	}
	if left > 0 {
		r.Notef("%s with a line break, a semicolon or a bar in the name, or a trailing space, which make cannot read: left out of %s", plural.Of(left, "input"), r.Depfile)
	}
	if !slices.ContainsFunc(inputs, plainName) {
		// Older than the manifest in any case.
		if name, ok := EscapeDepfile(filepath.Join(r.dir.Path(), r.shards[0].Name.String())); ok {
			inputs = append(inputs, name)
		}
	}
	rules := depfileRules(target, inputs)
	if status == UpToDate {
		now := time.Now()
		if err := os.Chtimes(path, now, now); err != nil {
			return err
		}
	}
	return atomicfile.Write(filepath.Dir(r.Depfile), r.Depfile, rules)
}

// plainName reports whether an escaped name may come first in a make rule, or first after its
// colon. A name with an equals sign would set a variable there, and with != run a command.
func plainName(name string) bool { return !strings.Contains(name, "=") }

// depfileRules formats the rules for escaped names. Those with an equals sign get no rule of their
// own, since make has no way to write one.
func depfileRules(target string, inputs []string) []byte {
	if first := slices.IndexFunc(inputs, plainName); first > 0 {
		inputs[0], inputs[first] = inputs[first], inputs[0]
	}
	var rule, empty bytes.Buffer
	rule.WriteString(target + ":")
	for _, name := range inputs {
		rule.WriteString(" \\\n  " + name)
		if !plainName(name) {
			continue
		}
		empty.WriteString("\n" + strings.ReplaceAll(name, "%", `\%`))
		if strings.HasSuffix(name, "&") || strings.HasSuffix(name, `\`) {
			empty.WriteByte(' ') // &: and \: have another meaning
		}
		empty.WriteString(":\n")
	}
	if n := len(inputs); n > 0 && strings.HasSuffix(inputs[n-1], `\`) {
		rule.WriteByte(' ')
	}
	rule.WriteByte('\n')
	rule.Write(empty.Bytes())
	return rule.Bytes()
}

// EscapeDepfile escapes a path for make and ninja; not ok for one with a line break, a semicolon, a
// bar or a trailing blank, which cannot be written for make. Make's manual has the rules under
// "What Makefiles Contain" and "Automatic Prerequisites"; ninja's are in its depfile_parser.in.cc.
func EscapeDepfile(path string) (escaped string, ok bool) {
	if path != "" && strings.Contains(") \t", path[len(path)-1:]) {
		// Make reads a(b) as a member of an archive, and drops trailing blanks.
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			path += "/"
		} else if path[len(path)-1] != ')' {
			return "", false
		}
	}
	volume := filepath.VolumeName(path)
	var b strings.Builder
	if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "=") || !strings.ContainsAny(path, "/"+string(filepath.Separator)) {
		b.WriteString("./") // not a user's home, an assignment, or a make keyword such as export
	}
	slashes := 0
	for i := range len(path) {
		c := path[i]
		switch c {
		case '\n', '\r', 0, ';', '|':
			return "", false
		case ':', ' ', '\t', '#', '*', '?':
			if c == ':' && i < len(volume) {
				break
			}
			// Backslashes before these count double.
			b.WriteString(strings.Repeat(`\`, slashes) + `\`)
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
	b.WriteString(strings.Repeat(`\`, slashes)) // a blank or a colon follows
	return b.String(), true
}
