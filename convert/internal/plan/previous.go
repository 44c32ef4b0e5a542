package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Previous describes the results of an earlier run in the output directory: its manifest, the state
// of an unfinished run, or both.
type Previous struct {
	manifest *manifest.Manifest // nil if the run did not finish
	name     string
	options  map[string]json.RawMessage
	codecs   Codecs
	files    map[string]bool // all that it named, relative to the directory
	samples  int64           // of the set, finished, or before its update was interrupted; 0: unknown
}

// readPrevious reads the results of an earlier run in a directory. It returns nil if there are none.
func readPrevious(dir *setdir.Dir) (*Previous, error) {
	m, err := dir.Manifest()
	if err != nil {
		return nil, fmt.Errorf("%w; move it away to start over: shards that are finished and known are kept", err)
	}
	state, err := dir.State().Run()
	if err != nil {
		return nil, err
	}
	if m == nil && state == nil {
		return nil, nil
	}
	p := &Previous{manifest: m, files: map[string]bool{}}
	if state != nil {
		p.name, p.options, p.codecs = state.Name, state.Options, Codecs{state.Decoder, state.Encoder}
		p.add(state.Files)
		p.add(state.Stale)
		p.samples = state.Replaces
	}
	if m != nil {
		p.name, p.options, p.codecs = m.Name, m.Options, Codecs{m.Decoder, m.Encoder}
		p.add(m.Files())
		p.samples = 0 // without the unusable ones: lines of the ledger may be annotations
		for _, s := range m.Splits {
			p.samples += s.Records
		}
	}
	return p, nil
}

// add adds files, except names outside the directory, which no run writes.
func (p *Previous) add(files []string) {
	for _, f := range files {
		if filepath.IsLocal(filepath.FromSlash(f)) {
			p.files[f] = true
		}
	}
}

// stale returns the existing files among others.
func (p *Previous) stale(dir *setdir.Dir, files []string) ([]string, error) {
	return dir.Existing(p.others(files))
}

// others returns the files that the earlier run named and that are not among the given ones,
// sorted.
func (p *Previous) others(files []string) []string {
	if p == nil {
		return nil
	}
	wanted := make(map[string]bool, len(files))
	for _, f := range files {
		wanted[f] = true
	}
	var others []string
	for f := range p.files {
		if !wanted[f] {
			others = append(others, f)
		}
	}
	slices.Sort(others)
	return others
}

// ExistingShards returns the number of shards of a split in an earlier plan, or in the set of
// ShardsLike; 0 if there is neither.
func (o *Options) ExistingShards(p *Previous, split string) int {
	if p == nil {
		return o.ShardsLike[split]
	}
	var counts map[string]int
	if json.Unmarshal(p.options[optionShards], &counts) != nil {
		return 0
	}
	return counts[split]
}

// The options about the number of shards. The requested value is an option: none, a number, or
// numbers by split. The actual numbers follow from it and from the input, which may grow.
const (
	optionShards = "shards"       // per split
	OptionAuto   = "shards_auto"  // whether the numbers were chosen automatically
	OptionGiven  = "shards_given" // the requested number otherwise, or text: "train=16,val=2"
)

// OptionSplits is the option with the division into splits. With the other words here the source
// states it, by directories, annotations, lists or a table.
const (
	OptionSplits        = "splits"
	SplitsByDirectories = "folders"
	SplitsByAnnotations = "annotations"
	SplitsByLists       = "lists"
	SplitsByTable       = "table"
)

// RecordShards fills in the options about the number of shards.
func (o *Options) RecordShards(m map[string]any, shards []Shard) {
	counts := map[string]int{}
	for _, shard := range shards {
		counts[shard.Name.Split] = shard.Name.Count
	}
	m[optionShards], m[OptionAuto] = counts, false
	switch {
	case o.Shards > 0:
		m[OptionGiven] = o.Shards
	case len(o.SplitShards) > 0:
		m[OptionGiven] = shares.FormatShards(o.SplitShards)
	default:
		m[OptionAuto] = true
	}
}

// sameAsked reports whether two runs were given the same option, where the effective value may
// differ with the input.
func (r *target) sameAsked(p *Previous, name string) bool {
	switch name {
	case OptionAuto, OptionGiven:
		return true // they matter if the numbers of shards differ
	case optionShards:
		wasAuto := setdir.CompactOption(p.options[OptionAuto]) == "true"
		was, now := p.options[OptionGiven], r.options[OptionGiven]
		return wasAuto && setdir.CompactOption(r.options[OptionAuto]) == "true" || was != nil && setdir.CompactOption(was) == setdir.CompactOption(now)
	case OptionSplits:
		unasked := []string{strconv.Quote(SplitsByDirectories), strconv.Quote(SplitsByLists), strconv.Quote(SplitsByTable), strconv.Quote(shares.FormatSplits((&Options{}).SplitShares()))}
		return slices.Contains(unasked, setdir.CompactOption(p.options[name])) && slices.Contains(unasked, setdir.CompactOption(r.options[name]))
	}
	return false
}

// difference names the first difference from an earlier run because of which their shards cannot
// form one set; empty if there is none.
func (r *target) difference(p *Previous) string {
	if verb := p.options[setdir.OptionVerb]; verb != nil {
		return fmt.Sprintf("it is of tfrec %s, this is a conversion", strings.Trim(string(verb), `"`))
	}
	if p.name != r.Name {
		return setdir.Difference(optname.OptionsName.String(), p.name, r.Name)
	}
	same := func(name string) bool { return r.sameAsked(p, name) }
	if name := setdir.ChangedOption(p.options, r.options, same); name != "" {
		was, now, field := r.optionText(name, p.options), r.optionText(name, r.options), r.optionName(name).String()
		switch name {
		case optionShards:
			was, now = askedShards(p.options), askedShards(r.options)
		case OptionAntialias: // a field of the opposite
			field += ": antialias"
		}
		return setdir.Difference(field, was, now)
	}
	if p.codecs != r.codecs {
		return otherCodecs(p.codecs, r.codecs)
	}
	return ""
}

// askedShards returns the value of Options.Shards that a run with these options had.
func askedShards(options map[string]json.RawMessage) string {
	var bySplit map[string]int
	switch {
	case options[OptionGiven] != nil:
		return strings.Trim(setdir.CompactOption(options[OptionGiven]), `"`)
	case setdir.CompactOption(options[OptionAuto]) == "true":
		return "auto"
	case json.Unmarshal(options[optionShards], &bySplit) == nil:
		return shares.FormatShards(bySplit) // of a version that did not record the requested value
	}
	return setdir.NotGiven
}

// refuseForeign returns an error if the run would replace a file that no earlier run named.
func (r *run) refuseForeign(p *Previous) error {
	var unknown []string
	for _, name := range r.files() {
		if p == nil || !p.files[name] {
			unknown = append(unknown, name)
		}
	}
	err := setdir.MustBeVacant(r.dir, unknown)
	if errors.Is(err, setdir.ErrForeign) {
		err = fmt.Errorf("%w, or choose another directory or %s", err, optname.OptionsName)
	}
	return err
}

// files names every file that this run may write, relative to the directory.
func (r *target) files() []string {
	var files []string
	for _, j := range r.shards {
		name := j.Name.String()
		files = append(files, name)
		if r.uncompressed() {
			files = append(files, manifest.IndexName(name))
		}
	}
	if r.uncompressed() {
		files = append(files, manifest.TFDSFiles(r.described.Features)...)
	}
	if r.described.LabelMap {
		files = append(files, manifest.LabelMapFile)
	}
	return append(files, manifest.File)
}

// maxName is the maximum file name length of file systems, less the suffix of a temporary file.
const maxName = 255 - 12

// checkNames returns an error for file names that are too long, before anything is made: names of
// label files contain a feature's key.
func (r *target) checkNames() error {
	for _, name := range r.files() {
		if base := filepath.Base(name); len(base) > maxName {
			return fmt.Errorf("the file %s... would have a name of %d bytes, more than the limit of %d: shorten %s, or the names of features", base[:40], len(base), maxName, optname.OptionsName)
		}
	}
	return nil
}

func (r *target) uncompressed() bool {
	return r.Compression == tfrecord.CompressionAuto || r.Compression == tfrecord.CompressionNone
}

// removeOld removes exactly the files that an earlier run named, the manifest first, and their
// recorded state.
func (r *run) removeOld(p *Previous) error {
	// Announced first, so that if this run is killed here, the next one knows all remaining files.
	stale, err := p.stale(r.dir, nil)
	if err != nil {
		return err
	}
	if err := r.dir.State().PutRun(&setdir.Run{Name: p.name, Options: p.options, Decoder: p.codecs.Decoder, Encoder: p.codecs.Encoder, Stale: stale}); err != nil {
		return err
	}
	if err := r.dir.Remove(manifest.File); err != nil {
		return err
	}
	if err := r.dir.Remove(stale...); err != nil {
		return err
	}
	return r.dir.State().Reset()
}

// announce records the files that this run intends to write, before it writes anything else; ledger
// adds the ledger to them.
func (r *run) announce(p *Previous, ledger bool) error {
	run := r.intent(ledger)
	var err error
	if run.Stale, err = p.stale(r.dir, run.Files); err != nil {
		return err
	}
	return r.dir.State().PutRun(run)
}

// intent describes the files that this run writes, with a ledger or without.
func (r *run) intent(ledger bool) *setdir.Run {
	files := r.files()
	if ledger {
		files = append(files, manifest.LedgerFile)
	}
	run := &setdir.Run{
		Name: r.Name, Options: r.options, Decoder: r.codecs.Decoder, Encoder: r.codecs.Encoder, Files: files, Args: r.Args,
	}
	if r.before != nil {
		run.Replaces = r.before.samples
	}
	return run
}
