package setdir

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/regular"
	"github.com/tfrec/tfrec/internal/storage"
)

// The state of a run lies under .tfrec in the output directory: run.json names
// every file that the run will write, shards/FILE.json says what each finished
// shard is. All of it may be deleted at the cost of time: what the next run
// then finds in the manifest, it checks by reading.

const (
	runFormat    = "tfrec.run"
	StateVersion = 1
	// RunFile is where PutRun writes.
	RunFile = StateDir + "/run.json"
	// ArrayPlanFile is where the plan of an array job is until that is finalized.
	ArrayPlanFile = StateDir + "/plan.json"
	ShardsDir     = StateDir + "/shards"
)

// Run is what a run intends. It is written before the first shard is.
type Run struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Name, Options, Decoder and Encoder are the manifest's.
	Name    string                     `json:"name"`
	Options map[string]json.RawMessage `json:"options"`
	Decoder string                     `json:"decoder"`
	Encoder string                     `json:"encoder"`
	// Files names every file that the run will write, relative to the directory.
	Files []string `json:"files"`
	// Stale names files of earlier runs that are not among Files; they are
	// removed before the manifest is written.
	Stale []string `json:"stale,omitempty"`
	// Args are the arguments of the tfrec command that began the run; empty when it was
	// begun otherwise.
	Args []string `json:"args,omitempty"`
	// Plan names the ReshardPlan that the run's shards are made by; empty for runs
	// that make theirs in one process.
	Plan string `json:"plan,omitempty"`
}

// Done is what is known of a finished shard beside what the manifest says.
type Done struct {
	Info
	// ModTime of the shard's file in nanoseconds since 1970, and in an object store
	// the Version that it has there.
	ModTime int64  `json:"mod_time"`
	Version string `json:"version,omitempty"`
	// IndexBytes, IndexModTime and IndexVersion are those of its index; 0 without one.
	IndexBytes   int64  `json:"index_bytes,omitempty"`
	IndexModTime int64  `json:"index_mod_time,omitempty"`
	IndexVersion string `json:"index_version,omitempty"`
	// Source is where the inputs lay on this machine: other files of the same
	// names and times are other inputs.
	Source string `json:"source,omitempty"`
	// Plan names the array job's plan, or the ReshardPlan, that the shard was last
	// found to be of; empty for shards that none has made or seen.
	Plan string `json:"plan,omitempty"`
	// Samples planned for the shard; those that are not records are in Bad or
	// counted in Filtered.
	Samples  int64       `json:"samples"`
	Filtered int64       `json:"filtered,omitempty"`
	Bad      []BadSample `json:"bad,omitempty"`
	// Inputs are the identities of what the shard was made from, in order.
	Inputs []Input `json:"inputs,omitempty"`
	// Seen is what a ReshardPlan saw of the features of the shard's records, for
	// the manifest; nil where the inputs' manifests say it.
	Seen json.RawMessage `json:"seen,omitempty"`
}

// BadSample is a line of the ledger: a sample that could not be used.
type BadSample struct {
	Key string `json:"key"`
	// Source is the input file, relative to the source directory.
	Source string `json:"source"`
	// Line in a CSV file, from 1.
	Line int64 `json:"line,omitempty"`
	// Stage is "read", "decode", "transform", "encode" or "parse".
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
}

// Input is the identity of an input: what it is known by on this machine
// (Key, Size, ModTime), in its store (Key, Size, Version) and everywhere (Hash).
type Input struct {
	Key     InputKey `json:"k"`
	Size    int64    `json:"s"`
	ModTime int64    `json:"t"` // nanoseconds since 1970
	// Hash is the 128-bit XXH3 of the content in hexadecimal.
	Hash string `json:"h"`
	// Version of an object in a store, where it takes the place of ModTime: with
	// its URL it says on every machine what the content is.
	Version string `json:"v,omitempty"`
}

// InputKey is a key of any bytes that survives JSON: one that is not UTF-8 is
// stored as a NUL and its bytes in hexadecimal.
type InputKey string

// MarshalText implements encoding.TextMarshaler.
func (k InputKey) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(k)) && !strings.HasPrefix(string(k), "\x00") {
		return []byte(k), nil
	}
	return []byte("\x00" + hex.EncodeToString([]byte(k))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *InputKey) UnmarshalText(text []byte) error {
	if len(text) == 0 || text[0] != 0 {
		*k = InputKey(text)
		return nil
	}
	b, err := hex.DecodeString(string(text[1:]))
	*k = InputKey(b)
	return err
}

// Run reads the state of the last run. It is nil when there is none that can be
// used: a file that is damaged or of another version counts as none. An error
// says that the state could not be read.
func (d *Dir) Run() (*Run, error) {
	r := new(Run)
	usable, err := d.ReadStateFile(RunFile, r)
	if !usable || r.Format != runFormat || r.Version != StateVersion {
		return nil, err
	}
	return r, nil
}

// PutRun writes the state of the run that begins.
func (d *Dir) PutRun(r *Run) error {
	r.Format, r.Version = runFormat, StateVersion
	return d.PutStateFile(RunFile, r)
}

// Done reads what is known of a finished shard. It is nil when nothing is, or
// when the shard or its index in place is not the one that was recorded:
// another size, or another time or version and, for the shard, another content.
// With content set the shard is read whatever its time. A state that cannot be
// read counts as none: the caller makes the shard again.
func (d *Dir) Done(file string, content bool) *Done {
	done, _ := d.done(file, content, d.at.stamp)
	return done
}

// AllDone returns Done of each file, or the error of a state that could not be
// read. In a store it takes a list of the directory and one request per file.
func (d *Dir) AllDone(ctx context.Context, files []string, content bool) ([]*Done, error) {
	names := make([]string, 0, 2*len(files))
	for _, file := range files {
		names = append(names, file, IndexName(file))
	}
	stamps, err := d.at.stamps(names)
	if err != nil {
		return nil, err
	}
	known := func(name string) (Stamp, error) {
		s, ok := stamps[name]
		if !ok {
			return s, fs.ErrNotExist
		}
		return s, nil
	}
	all := make([]*Done, len(files))
	var g errgroup.Group
	g.SetLimit(d.at.atOnce())
	for i, file := range files {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() (err error) {
			all[i], err = d.done(file, content, known)
			return err
		})
	}
	err = g.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return all, err
}

func (d *Dir) done(file string, content bool, look func(name string) (Stamp, error)) (*Done, error) {
	done := new(Done)
	if usable, err := d.ReadStateFile(StateOf(file), done); !usable || done.File != file {
		return nil, err
	}
	is, err := look(file)
	if err != nil && !storage.Missing(err) {
		return nil, err
	}
	if err != nil || is.Bytes != done.Bytes {
		return nil, nil
	}
	if (content || is != Stamp{done.Bytes, done.ModTime, done.Version}) && !d.HasContent(done.Info) {
		return nil, nil
	}
	index, err := look(IndexName(file))
	if err != nil && !storage.Missing(err) {
		return nil, err
	}
	recorded := Stamp{done.IndexBytes, done.IndexModTime, done.IndexVersion}
	if index != recorded && (index.Bytes != recorded.Bytes || index.Bytes == 0 || !d.HasIndex(file)) {
		return nil, nil
	}
	return done, nil
}

// StateOf is the name of the file with what is known of a shard.
func StateOf(file string) string { return ShardsDir + "/" + file + ".json" }

// Remembered calls yield with every input recorded for any shard of the directory
// or of its stage that was made from source, whether or not the shard is still there.
func (d *Dir) Remembered(source string, yield func(Input)) {
	d.remembered(source, yield)
	if !d.Remote() {
		d.Stage().remembered(source, yield)
	}
}

func (d *Dir) remembered(source string, yield func(Input)) {
	names, _ := d.at.list(ShardsDir)
	for batch := range slices.Chunk(names, d.at.atOnce()) {
		recorded := make([]Done, len(batch))
		var reading sync.WaitGroup
		for i, name := range batch {
			reading.Go(func() {
				usable, _ := d.ReadStateFile(ShardsDir+"/"+name, &recorded[i]) // one that cannot be read saves no work
				if !usable || recorded[i].Source != source {
					recorded[i].Inputs = nil
				}
			})
		}
		reading.Wait()
		for i := range recorded {
			for _, in := range recorded[i].Inputs {
				yield(in)
			}
		}
	}
}

// PutDone records a finished shard. It fills in the times and versions. Nothing is
// recorded of a shard of so many samples that its state could not be read again.
func (d *Dir) PutDone(done *Done) error {
	is, err := d.at.stamp(done.File)
	if err != nil {
		return err
	}
	done.ModTime, done.Version = is.ModTime, is.Version
	index, err := d.at.stamp(IndexName(done.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done.IndexBytes, done.IndexModTime, done.IndexVersion = index.Bytes, index.ModTime, index.Version
	if err := d.PutStateFile(StateOf(done.File), done); !errors.Is(err, ErrState) {
		return err
	}
	return d.at.remove(StateOf(done.File)) // of the shard that was there before
}

// Forget drops what is recorded of shards other than those named.
func (d *Dir) Forget(keep []string) error {
	names, err := d.at.list(ShardsDir)
	if err != nil {
		return err
	}
	kept := make(map[string]bool, len(keep))
	for _, file := range keep {
		kept[file+".json"] = true
	}
	var gone []string
	for _, name := range names {
		if !kept[name] {
			gone = append(gone, ShardsDir+"/"+name)
		}
	}
	return d.at.remove(gone...)
}

// Reset forgets everything that is recorded in the directory.
func (d *Dir) Reset() error {
	if err := d.Forget(nil); err != nil {
		return err
	}
	return d.Remove(RunFile)
}

// ReadStateFile reads a state file into v. It reports false when there is none, and
// when the one that exists cannot be used: it is not JSON of v's kind, is too
// large for DecodeState, or is not a regular file. Other failures to read it are errors.
func (d *Dir) ReadStateFile(name string, v any) (bool, error) {
	data, err := d.Read(name, MaxState)
	if storage.Missing(err) || errors.Is(err, regular.ErrNotRegular) || errors.Is(err, regular.ErrTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return DecodeState(data, v) == nil, nil
}

// PutState writes a state file of the caller's own under .tfrec.
func (d *Dir) PutState(name string, v any) error { return d.PutStateFile(StateDir+"/"+name, v) }

// State reads a state file of the caller's own into v. It reports false when
// there is none that can be used: one that is damaged counts as none. An error
// says that the file could not be read.
func (d *Dir) State(name string, v any) (bool, error) { return d.ReadStateFile(StateDir+"/"+name, v) }

func (d *Dir) PutStateFile(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = checkState(data) // what could not be read again
	}
	if err != nil {
		return fmt.Errorf("state %s: %w", name, err)
	}
	return d.Put(name, append(data, '\n'))
}
