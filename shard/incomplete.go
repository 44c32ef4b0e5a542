package shard

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// IncompleteError says that a directory has only part of a set.
type IncompleteError struct {
	Dir string
	// Missing names the missing files in name order, at most a thousand: shards, and the manifest
	// if the run has not completed. It is nil if Evidence is ByRenames.
	Missing []string
	// Shards is the number of shards of the whole set, Lost the number of missing ones.
	Shards, Lost int
	// Evidence says how the missing files are known.
	Evidence Evidence
	// Tasks says that the set is written by an array job, which ends with Finalize.
	Tasks bool
	// Args are the arguments of the tfrec command that started the run, if known. They are read
	// from the directory and are not trusted: show Command instead.
	Args []string
}

// maxCommand is the longest command line, in bytes, that Command returns.
const maxCommand = 4096

// Command returns the tfrec command that completes the set, quoted for a shell. It is empty if the
// command is unknown or longer than 4096 bytes, or if none of its arguments is the directory as
// seen from the current one: then the set is a copy, or the command was run elsewhere.
func (e *IncompleteError) Command() string {
	if !slices.ContainsFunc(e.Args, e.isDir) {
		return ""
	}
	// Args exclude the program name, so that a directory cannot suggest running another program.
	command := shell.Join("tfrec", e.Args)
	if len(command) > maxCommand {
		return ""
	}
	return command
}

// isDir reports whether an argument is the directory of the set, or the flag for a configuration
// file, which may name it.
func (e *IncompleteError) isDir(arg string) bool {
	if arg == "--config" || strings.HasPrefix(arg, "--config=") {
		return true
	}
	if storage.Remote(e.Dir) || storage.Remote(arg) {
		return strings.TrimSuffix(arg, "/") == strings.TrimSuffix(e.Dir, "/")
	}
	a, err := filepath.Abs(arg)
	b, failed := filepath.Abs(e.Dir)
	return err == nil && failed == nil && a == b
}

// Evidence says how it is known that files of a set are missing.
type Evidence int

// The kinds of evidence.
const (
	ByManifest Evidence = iota // the manifest lists them
	ByNames                    // the names of the other shards imply them
	ByState                    // the run that writes the set has not completed
	ByRenames                  // an Adopt that renames the shards has not completed: not even a part is usable
)

func (e *IncompleteError) Error() string {
	shown := e.missingShards()
	shown = shown[:min(3, len(shown))]
	names := strings.Join(shown, ", ")
	if n := e.Lost - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	are := "are"
	if e.Lost == 1 {
		are = "is"
	}
	switch {
	case e.Evidence == ByRenames:
		return fmt.Sprintf("%s: %s", e.Dir, e.halfRenamed())
	case e.Evidence == ByState && e.Lost == 0:
		return fmt.Sprintf("%s: the run that writes this set has not completed: all shards exist, but %s does not", e.Dir, manifest.File)
	case e.Evidence == ByState:
		return fmt.Sprintf("%s: the run that writes this set has not completed: of %s %d %s missing: %s", e.Dir, plural.Of(e.Shards, "shard"), e.Lost, are, names)
	case e.Evidence == ByNames:
		return fmt.Sprintf("%s: the set is incomplete: of the %s that the names call for, %d %s missing: %s", e.Dir, plural.Of(e.Shards, "shard"), e.Lost, are, names)
	}
	return fmt.Sprintf("%s: the set is incomplete: of the %s that the manifest names, %d %s missing: %s", e.Dir, plural.Of(e.Shards, "shard"), e.Lost, are, names)
}

// missingShards returns Missing without the manifest.
func (e *IncompleteError) missingShards() []string {
	return slices.DeleteFunc(slices.Clone(e.Missing), func(name string) bool { return name == manifest.File })
}

// Note returns a message that only part of the set is used.
func (e *IncompleteError) Note() string { return e.Error() + "; reading the shards that exist" }

// halfRenamed returns advice for a set whose shards Adopt has partly renamed.
func (e *IncompleteError) halfRenamed() string {
	return fmt.Sprintf("its shards are partly renamed: %s was interrupted, or is still running; %s %s completes it", optname.RepairAdopt.With(optname.AdoptOptionsRename), optname.RepairAdopt, e.Dir)
}

// Faults returns the missing files as verify.Files reports them.
func (e *IncompleteError) Faults() []Fault {
	if e.Evidence == ByRenames {
		return []Fault{FileFault(e.Dir, tfrecord.PartMissing, "%s", e.halfRenamed())}
	}
	because := map[Evidence]string{
		ByManifest: "the manifest names it", ByNames: "the names of the other shards call for it",
		ByState: "the run that writes the set has not completed",
	}[e.Evidence]
	command := e.Command()
	switch {
	case e.Tasks:
		because += ": run the remaining tasks of the array job, then finalize it"
	case command != "":
		because += ": complete it with " + command
	}
	var list []Fault
	dir := storage.Parse(e.Dir)
	for _, name := range e.Missing {
		list = append(list, FileFault(dir.Join(name).Path(), tfrecord.PartMissing, "there is no such file, and %s", because))
	}
	if n := e.Lost - len(e.missingShards()); n > 0 {
		list = append(list, FileFault(e.Dir, tfrecord.PartMissing, "%s missing", plural.Of(n, "more shard")))
	}
	return list
}

// miss adds missing shards.
func (e *IncompleteError) miss(names []string) {
	e.Lost += len(names)
	e.Missing = append(e.Missing, names[:min(len(names), maxMissing-len(e.Missing))]...)
}

// maxMissing limits the names of missing shards that are listed: a file name can claim any count.
const maxMissing = 1000

// numbered matches the names of shards that include their count, with any prefix and suffix.
var numbered = regexp.MustCompile(`^(.*?)(\d{5,})-of-(\d{5,})(.*)$`)

// IncompleteByNames returns the shards that are missing according to the counts in the names of the
// existing ones; nil if none are.
func IncompleteByNames(dir string, names []string) *IncompleteError {
	type family struct {
		before, count, after string
		digits               int // of the index
	}
	there := map[family]map[int]bool{}
	counts := map[family]int{}
	for _, name := range names {
		m := numbered.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		index, err1 := strconv.Atoi(m[2])
		count, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil || index > count {
			continue
		}
		f := family{m[1], m[3], m[4], len(m[2])}
		if there[f] == nil {
			there[f] = map[int]bool{}
		}
		there[f][index] = true
		counts[f] = count
	}
	e := &IncompleteError{Dir: dir, Evidence: ByNames}
	for f, indexes := range there {
		first, count := 0, counts[f]
		switch {
		case indexes[count] && !indexes[0]:
			first = 1 // some writers number from 1 to the count
		case indexes[count]:
			delete(indexes, count) // not part of the set
		}
		e.Shards += count
		e.Lost += count - len(indexes)
		for i := first; i < first+count && len(e.Missing) < maxMissing; i++ {
			if !indexes[i] {
				e.Missing = append(e.Missing, fmt.Sprintf("%s%0*d-of-%s%s", f.before, f.digits, i, f.count, f.after))
			}
		}
	}
	if e.Lost == 0 {
		return nil
	}
	slices.Sort(e.Missing)
	return e
}

// Unfinished returns what is missing, according to the state of an unfinished run, from a directory
// without a manifest; nil if there is no such state.
func Unfinished(d *setdir.Dir) (*IncompleteError, error) {
	run, err := d.State().Run()
	if err != nil || run == nil || len(run.Files) == 0 {
		return nil, err
	}
	e := &IncompleteError{Dir: d.Path(), Evidence: ByState, Args: run.Args}
	if e.Tasks, err = d.Exists(setdir.ArrayPlanFile); err != nil {
		return nil, err
	}
	shards := shardsOf(run.Files)
	e.Shards = len(shards)
	there, err := d.Existing(shards)
	if err != nil {
		return nil, err
	}
	e.miss(notAmong(shards, there))
	e.Missing = append(e.Missing, manifest.File)
	return e, nil
}

// Lacks returns what the manifest lists and the directory lacks, nil if nothing is missing, and the
// existing shards.
func (s *Set) Lacks(ctx context.Context) (e *IncompleteError, there []string, err error) {
	var shards []string
	for _, split := range s.Splits {
		for _, info := range split.Shards {
			shards = append(shards, info.File)
		}
	}
	d := setdir.ViewAt(ctx, s.location())
	var places []string // including links to old files
	for _, file := range shards {
		places = append(places, s.place(file))
	}
	existing, err := d.Existing(places)
	if err != nil {
		return nil, nil, err
	}
	for i, j := 0, 0; i < len(shards) && j < len(existing); i++ {
		if places[i] == existing[j] {
			there = append(there, shards[i])
			j++
		}
	}
	if len(there) == len(shards) {
		return nil, there, nil
	}
	e = &IncompleteError{Dir: s.Dir, Shards: len(shards), Evidence: ByManifest}
	e.miss(notAmong(shards, there))
	if run, err := d.State().Run(); err == nil && run != nil {
		e.Args = run.Args
	}
	return e, there, nil
}

// shardsOf returns the shards among the files of a set.
func shardsOf(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return path.Dir(path.Clean(name)) == manifest.IndexDir || Describes(path.Base(name)) || !tfrecordName(path.Base(name)) && !otherHabit(path.Base(name))
	})
}

// notAmong returns the names that are not in others, in name order.
func notAmong(names, others []string) []string {
	drop := make(map[string]bool, len(others))
	for _, name := range others {
		drop[name] = true
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return drop[name] })
	slices.Sort(left)
	return left
}

// halfRenamed reports whether the shards in a directory are partly renamed, and refuses them,
// because neither their names nor the manifest can be trusted. If missing files are collected
// instead, it adds the record files as loose ones.
func (e *expander) halfRenamed(dir storage.Location) (bool, error) {
	if dir.Remote() {
		return false, nil // nothing is renamed in stores
	}
	begun, err := setdir.ViewAt(e.ctx, dir).Exists(StateDir + "/" + setdir.RenamesFile)
	if err != nil || !begun {
		return false, err
	}
	if err := e.lacks(&IncompleteError{Dir: dir.Path(), Evidence: ByRenames}); err != nil {
		return true, err
	}
	return true, e.addLoose(dir)
}
