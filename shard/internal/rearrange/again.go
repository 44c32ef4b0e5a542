package rearrange

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// A finished run leaves a state file that records the request and the result. Repeating the same
// run then has nothing to do, and a different one gets an error that names the difference.
//
// The request is compared as a whole, by the stamps of the inputs. A conversion compares each shard by
// a fingerprint of its samples, since it keeps the shards that a changed input does not affect. Here
// nearly every change moves records between shards, and a fingerprint would need all inputs to be
// read, which takes as long as the run.

// UpToDate is the Report.Status of a run that had nothing to do.
const UpToDate = "up_to_date"

const (
	finishedFormat = "tfrec.finished"
)

// finished is the state of a finished run. It is written before the last manifest, so that every
// finished set has one.
type finished struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Request Request `json:"request"`
	// Sets are the sets that the run made: one, or one per group.
	Sets []finishedSet `json:"sets"`
	// Report is the report of the run.
	Report Report `json:"report"`
}

// finishedSet identifies a set as it was written.
type finishedSet struct {
	// Sub is its directory in the output directory, with a trailing slash; empty for the output
	// directory itself.
	Sub string `json:"sub,omitempty"`
	// Manifest is the hash of the manifest's bytes.
	Manifest string `json:"manifest"`
	// Times are the modification times of its shards in nanoseconds since 1970, in the order of the
	// manifest; Versions are their versions in an object store.
	Times    []int64  `json:"times"`
	Versions []string `json:"versions,omitempty"`
}

// Request holds everything that the bytes of a new set depend on.
type Request struct {
	// Options are the effective options by flag name, including name and seed.
	Options map[string]json.RawMessage `json:"options"`
	// Inputs are the input files in order.
	Inputs []requestedInput `json:"inputs"`
	// Labels is a hash of the inputs' label names, which need not come from a manifest.
	Labels string `json:"labels"`
	// Unknown is set if not everything is known: the result depends on a function of the caller's.
	Unknown bool `json:"unknown,omitempty"`
}

// requestedInput identifies an input file on this machine.
type requestedInput struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time"` // in nanoseconds since 1970
	// Version is the ETag or generation of an object.
	Version string `json:"version,omitempty"`
	// Manifest is the hash of the manifest that names the file; empty without one.
	Manifest string `json:"manifest,omitempty"`
}

// newRequest returns the request of a run.
func newRequest(ctx context.Context, in *source.Inputs, o *Options, v *Verb, name string) (Request, error) {
	options := o.effective(v)
	options["name"], options["seed"] = name, o.Seed
	q := Request{Unknown: v.Unknown}
	var err error
	if q.Options, err = rawOptions(options); err != nil {
		return q, err
	}
	manifests := map[*shard.Set]string{}
	for _, f := range in.Files {
		path, err := setdir.Resolve(f.Path)
		if err != nil {
			return q, err
		}
		st, err := path.Stat(ctx)
		if err != nil {
			return q, err
		}
		one := requestedInput{Path: jsontext.Readable(path.Path()), Size: st.Size(), ModTime: st.ModTime().UnixNano()}
		if object, ok := st.Sys().(storage.Object); ok {
			one.Version = object.Version
		}
		if f.Set != nil {
			if manifests[f.Set] == "" {
				data, err := f.Set.Encode()
				if err != nil {
					return q, err
				}
				manifests[f.Set] = HashText(data)
			}
			one.Manifest = manifests[f.Set]
		}
		q.Inputs = append(q.Inputs, one)
	}
	q.Labels = newListHash(append([]string{in.BareLabel}, in.Described.Labels...)...).String()
	return q, nil
}

// effective returns the effective options of a run by flag name, without seed and name.
func (o *Options) effective(v *Verb) map[string]any {
	options := map[string]any{setdir.OptionVerb: v.Name, "compression": o.compression().String()}
	switch {
	case o.Shards > 0:
		options["shards"] = o.Shards
	case len(o.SplitShards) > 0:
		options["shards"] = shares.FormatShards(o.SplitShards)
	case o.ShardSize > 0:
		options["shard_size"] = o.ShardSize
	case o.RecordsPerShard > 0:
		options["records_per_shard"] = o.RecordsPerShard
	default:
		options["shards"] = "auto"
	}
	maps.Copy(options, v.Options)
	return options
}

func rawOptions(options map[string]any) (map[string]json.RawMessage, error) {
	raw := make(map[string]json.RawMessage, len(options))
	for name, value := range options {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		raw[name] = data
	}
	return raw, nil
}

// HashText returns the hash of data in hexadecimal, which identifies it in states.
func HashText(data []byte) string {
	h := digest.Of(data)
	return fmt.Sprintf("%016x%016x", h.Hi, h.Lo)
}

// differs describes the first difference from an earlier request; "" if they are the same.
func (q *Request) differs(before *Request, v *Verb) string {
	text := func(r *Request, key string) string { return setdir.OptionText(r.Options[key], nil) }
	verb := text(before, setdir.OptionVerb)
	if verb != text(q, setdir.OptionVerb) {
		return "the verb was " + verb
	}
	if key := setdir.ChangedOption(before.Options, q.Options, nil); key != "" {
		return setdir.Difference(v.optionName(key).String(), text(before, key), text(q, key))
	}
	for i, is := range q.Inputs {
		if i == len(before.Inputs) {
			return fmt.Sprintf("%s was no input", is.Path)
		}
		was := before.Inputs[i]
		switch {
		case was.Path != is.Path:
			return setdir.Difference(fmt.Sprintf("input %d", i+1), was.Path, is.Path)
		case was.Size != is.Size || was.ModTime != is.ModTime || was.Version != is.Version:
			return fmt.Sprintf("the input %s has changed since", is.Path)
		case was.Manifest != is.Manifest:
			return fmt.Sprintf("the manifest of %s has changed since", is.Path)
		}
	}
	switch {
	case len(q.Inputs) < len(before.Inputs):
		return fmt.Sprintf("%s was an input, too", before.Inputs[len(q.Inputs)].Path)
	case q.Labels != before.Labels:
		return "the names of the inputs' labels have changed since"
	case q.Unknown || before.Unknown:
		return "cannot tell whether it would be the same set"
	}
	return ""
}

// finishedOf reads the state of the finished run that filled the directory; nil if there is none.
func finishedOf(d *setdir.Dir) (*finished, error) {
	m := new(finished)
	usable, err := d.State().Read(setdir.FinishedFile, m)
	if !usable || m.Format != finishedFormat || m.Version != setdir.StateVersion || len(m.Sets) == 0 {
		return nil, err
	}
	return m, nil
}

// changed returns a file of the sets that is not as it was written; "" if there is none. Shards are
// read only if their modification time differs.
func (m *finished) changed(ctx context.Context, d *setdir.Dir) string {
	for _, s := range m.Sets {
		if !filepath.IsLocal(filepath.FromSlash(s.Sub + manifest.File)) {
			return s.Sub
		}
		set := setdir.View(ctx, d.Join(s.Sub))
		if file := s.changed(set); file != "" {
			return set.Join(file)
		}
	}
	return ""
}

func (s *finishedSet) changed(set *setdir.Dir) string {
	data, err := set.Read(manifest.File, manifest.MaxSize)
	if err != nil || HashText(data) != s.Manifest {
		return manifest.File
	}
	m, err := set.Manifest()
	if err != nil || m == nil {
		return manifest.File
	}
	var infos []manifest.Shard
	var names []string
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			infos, names = append(infos, info), append(names, info.File)
		}
	}
	stamps, err := set.Stamps(names)
	if err != nil {
		return manifest.File
	}
	for i, info := range infos {
		is, ok := stamps[info.File]
		if !ok || !set.Shards().Unchanged(info, is, s.stamp(i, info.Bytes), false) {
			return info.File
		}
	}
	metadata, err := setdir.Metadata(m)
	if err != nil {
		return manifest.File
	}
	var indexes []string
	for _, file := range m.Files() {
		if strings.HasPrefix(file, manifest.IndexDir+"/") {
			indexes = append(indexes, file)
		} else if want, ok := metadata[file]; ok && !setdir.Holds(set, file, want) {
			return file
		}
	}
	there, err := set.Existing(indexes)
	if err != nil {
		return manifest.File
	}
	for i, file := range indexes {
		if i == len(there) || there[i] != file {
			return file
		}
	}
	return ""
}

// stamp returns the stamp of a shard of the given number and size as it was written.
func (s *finishedSet) stamp(number int, bytes int64) place.Stamp {
	is := place.Stamp{Bytes: bytes}
	if number < len(s.Times) {
		is.ModTime = s.Times[number]
	}
	if number < len(s.Versions) {
		is.Version = s.Versions[number]
	}
	return is
}

// again checks whether the directory already holds the requested set, and if so returns the report
// of the run that made it. It is an error if it holds a different set.
func again(ctx context.Context, out string, q *Request, v *Verb) (*Report, error) {
	dir := setdir.View(ctx, out)
	m, err := finishedOf(dir)
	if m == nil {
		return nil, err
	}
	file := m.changed(ctx, dir)
	run, err := dir.State().Run()
	if err != nil {
		return nil, err
	}
	if run != nil && file != "" {
		return nil, nil // left by a run that was killed after writing the state
	}
	manifests := make([]string, len(m.Sets))
	for i, s := range m.Sets {
		manifests[i] = s.Sub + manifest.File
	}
	left, err := dir.Existing(manifests)
	if err != nil || len(left) == 0 {
		return nil, err // nil: the set was removed
	}
	diff := q.differs(&m.Request, v)
	switch {
	case diff != "":
		return nil, setdir.MadeOtherwise(out, diff, setdir.OrOverwrite(dir, optname.OptionsOverwrite.String(), ""))
	case file != "":
		return nil, fmt.Errorf("%s holds this set, but %s has changed since or is missing: %s", out, file, setdir.OrOverwrite(dir, fmt.Sprintf("%s makes it again", optname.OptionsOverwrite), "remove all of it, or give another directory"))
	}
	report := m.Report
	report.Status = UpToDate
	return &report, nil
}

// record adds a set that is about to be finished to the state.
func (r *Run) record(m *manifest.Manifest, sub string, dir *setdir.Dir) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	s := finishedSet{Sub: sub, Manifest: HashText(data)}
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			is, err := dir.Stamp(info.File)
			if err != nil {
				return err
			}
			s.Times = append(s.Times, is.ModTime)
			if is.Version != "" {
				s.Versions = append(s.Versions, is.Version)
			}
		}
	}
	r.sets = append(r.sets, s)
	return nil
}

// putFinished writes the state of the run; all of its sets must have been recorded.
func (r *Run) putFinished() error {
	return r.Dir.State().Put(setdir.FinishedFile, &finished{
		Format: finishedFormat, Version: setdir.StateVersion, Request: r.Request, Sets: r.sets, Report: r.Report,
	})
}
