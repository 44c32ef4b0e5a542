package setdir

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// Done reads the state of a finished shard. It returns nil if there is none, or if the shard or its
// index has changed: another size, or another time or version and other content. With content set
// the shard is always read and compared. Unreadable state counts as none: the caller writes the
// shard again.
func (s Shards) Done(file string, content bool) *Done {
	var inputs recordedInputs
	done, _ := s.done(file, content, s.dir.at.Stamp, func(_ *Done, recorded recordedInputs) { inputs = recorded })
	if done != nil {
		inputs.each(func(in *RecordedInput) { done.Inputs = append(done.Inputs, in.Input()) })
	}
	return done
}

// Recall receives the inputs that are recorded for shards.
type Recall struct {
	// Source is the location of the inputs, as in Done: inputs of other sources do not count.
	Source string
	// Yield is called with each input of the shard of that index, in the recorded order, whether or
	// not the shard is as recorded. It is never called concurrently.
	// Default: nothing is recalled.
	Yield func(i int, in *RecordedInput)
	// Listed has the shards of the manifest by file. A state with the same label counts shares the
	// map of its shard, which has an entry for each label.
	Listed map[string]manifest.Shard
}

// AllDone returns Done for each file, but without the inputs, which recall receives if it is not
// nil, or the error if a state could not be read. In a store it costs one listing of the directory
// and one request per file.
func (s Shards) AllDone(ctx context.Context, files []string, content bool, recall *Recall) ([]*Done, error) {
	all := make([]*Done, len(files))
	if !s.dir.Remote() {
		if recorded, err := s.dir.Exists(ShardsDir); !recorded || err != nil { // as in most stages
			return all, err
		}
	}
	look, err := s.looker(files)
	if err != nil {
		return nil, err
	}
	var yielding sync.Mutex
	err = s.forEach(ctx, len(files), func(i int) (err error) {
		all[i], err = s.done(files[i], content, look, func(done *Done, inputs recordedInputs) {
			if recall == nil {
				return
			}
			if listed := recall.Listed[files[i]].Labels; maps.Equal(done.Labels, listed) {
				done.Labels = listed
			}
			if recall.Yield != nil && done.Source == recall.Source {
				yielding.Lock()
				defer yielding.Unlock()
				inputs.each(func(in *RecordedInput) { recall.Yield(i, in) })
			}
		})
		return err
	})
	return all, err
}

// looker returns a function that returns the stamps of shards and their indexes. In a store it lists
// them all at once.
func (s Shards) looker(shards []string) (func(name string) (place.Stamp, error), error) {
	if !s.dir.Remote() {
		return s.dir.at.Stamp, nil
	}
	names := make([]string, 0, 2*len(shards))
	for _, file := range shards {
		names = append(names, file, manifest.IndexName(file))
	}
	stamps, err := s.dir.at.Stamps(names)
	return func(name string) (place.Stamp, error) {
		s, ok := stamps[name]
		if !ok {
			return s, fs.ErrNotExist
		}
		return s, nil
	}, err
}

// forEach calls f for each number below n, concurrently as far as the directory reads small files
// so, until a call fails or ctx is done.
func (s Shards) forEach(ctx context.Context, n int, f func(i int) error) error {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	par.ForEach(work, n, s.dir.at.AtOnce(), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			if err := f(i); err != nil {
				stop(err)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(work)
}

// done is Done with stamps of files from look. It calls found with a usable state and the inputs
// recorded there, whether or not the shard has changed.
func (s Shards) done(file string, content bool, look func(name string) (place.Stamp, error), found func(*Done, recordedInputs)) (*Done, error) {
	done, inputs, err := s.readDone(StateOf(file))
	if done == nil || done.File != file {
		return nil, err
	}
	found(done, inputs)
	is, err := look(file)
	if err != nil && !storage.Missing(err) {
		return nil, err
	}
	if err != nil || !s.Unchanged(done.Shard, is, place.Stamp{Bytes: done.Bytes, ModTime: done.ModTime, Version: done.Version}, content) {
		return nil, nil
	}
	index, err := look(manifest.IndexName(file))
	if err != nil && !storage.Missing(err) {
		return nil, err
	}
	recorded := place.Stamp{Bytes: done.IndexBytes, ModTime: done.IndexModTime, Version: done.IndexVersion}
	if index != recorded && (index.Bytes != recorded.Bytes || index.Bytes == 0 || !s.HasIndex(file)) {
		return nil, nil
	}
	return done, nil
}

// StateOf returns the name of the state file of a shard.
func StateOf(file string) string { return ShardsDir + "/" + file + ".json" }

// Remembered calls yield with every input from source that is recorded for any shard of the
// directory or its stage, whether or not the shard still exists. It is not called concurrently.
func (s Shards) Remembered(source string, yield func(in *RecordedInput)) {
	s.remembered(source, yield)
	if !s.dir.Remote() {
		s.dir.Stage().Shards().remembered(source, yield)
	}
}

func (s Shards) remembered(source string, yield func(in *RecordedInput)) {
	names, _ := s.dir.at.List(ShardsDir)
	var yielding sync.Mutex
	_ = s.forEach(s.dir.ctx, len(names), func(i int) error {
		// Unreadable state only means more work.
		if done, inputs, _ := s.readDone(ShardsDir + "/" + names[i]); done != nil && done.Source == source {
			yielding.Lock()
			defer yielding.Unlock()
			inputs.each(yield)
		}
		return nil
	})
}

// readDone reads the state of a shard. It returns nil if there is none or if it is unusable.
func (s Shards) readDone(name string) (*Done, recordedInputs, error) {
	data, err := s.dir.State().readFile(storage.Limited(s.dir.ctx), name) // one of many
	if data == nil || err != nil {
		return nil, nil, err
	}
	done, inputs, err := decodeDone(data)
	if err != nil {
		return nil, nil, nil
	}
	return done, inputs, nil
}

// PutDone records a finished shard. It fills in the times and versions. If the state would be too
// large to be read again, nothing is recorded.
func (s Shards) PutDone(done *Done) error {
	is, err := s.dir.at.Stamp(done.File)
	if err != nil {
		return err
	}
	done.ModTime, done.Version = is.ModTime, is.Version
	index, err := s.dir.at.Stamp(manifest.IndexName(done.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done.IndexBytes, done.IndexModTime, done.IndexVersion = index.Bytes, index.ModTime, index.Version
	if err := s.dir.State().PutFile(StateOf(done.File), done); !errors.Is(err, ErrState) {
		return err
	}
	return s.dir.at.Remove(StateOf(done.File)) // the state of the previous shard
}

// Forget removes the state of all shards except those in keep.
func (s Shards) Forget(keep []string) error {
	names, err := s.dir.at.List(ShardsDir)
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
	return s.dir.at.Remove(gone...)
}
