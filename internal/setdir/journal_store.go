package setdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/manifest"
)

// A set in a store changes by a journal, too, whose moves are copies: shards get their new names,
// which no file had, then metadata is replaced, the manifest last and with a single request, and
// only then are the old names removed. Until the manifest is replaced the set is the old one, and
// from then on the new one.

// copiesAtOnce is how many shards are copied at a time.
const copiesAtOnce = 4

// PutFrom writes a file of the set from r, replacing any file of that name. It is visible when it is
// complete.
func (d *Dir) PutFrom(name string, r io.Reader) error {
	if err := inject.Fault(d.ctx, "put", d.Join(name)); err != nil {
		return err
	}
	draft, err := d.at.create(name, nil)
	if err != nil {
		return err
	}
	if _, err = io.CopyBuffer(struct{ io.Writer }{draft}, struct{ io.Reader }{r}, make([]byte, 1<<20)); err == nil {
		err = draft.commit(false)
	}
	if err != nil {
		draft.discard()
	}
	return err
}

// Rename gives a file in a store a name that no other file has, by copying it. It may have been
// begun before, and be complete.
func (d *Dir) Rename(from, to string) error {
	if err := d.copyTo(from, to); err != nil {
		return err
	}
	return d.Remove(from)
}

// copyTo copies a file to a name that no other file has, unless that was already done.
func (d *Dir) copyTo(from, to string) error {
	done, err := d.Exists(to)
	if done || err != nil {
		return err
	}
	f, err := d.loc.Join(from).Open(d.ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s, which was to become %s, is missing: the set is a mixture of two versions; restore it from a copy, or make the set again: %w", d.Join(from), d.Join(to), err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return d.PutFrom(to, f)
}

// completeInStore does the rest of a change. Any step of it may already have been done.
func (d *Dir) completeInStore(j *Journal) error {
	var copies errgroup.Group
	copies.SetLimit(copiesAtOnce)
	for _, m := range j.Moves {
		if !m.Replaces {
			copies.Go(func() error { return d.copyTo(m.From, m.To) })
		}
	}
	if err := copies.Wait(); err != nil {
		return err
	}
	var old []string
	for _, m := range j.Moves {
		if !m.Replaces {
			if !isState(m.From) {
				old = append(old, m.From)
			}
			continue
		}
		data, err := d.Read(m.From, manifest.MaxSize)
		if err == nil {
			err = d.Put(m.To, data)
		}
		if err != nil {
			return err
		}
	}
	if err := d.Remove(append(old, j.Remove...)...); err != nil {
		return err
	}
	if !j.KeepState {
		if err := Forget(d); err != nil {
			return err
		}
	}
	if err := d.Remove(JournalFile); err != nil {
		return err
	}
	return d.DiscardStage()
}

func (d *Dir) discardStageInStore() error {
	var staged []string
	for is, err := range d.loc.Join(StageDir).Walk(d.ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if !strings.HasSuffix(is.Name, "/") {
			staged = append(staged, StageDir+"/"+is.Name)
		}
	}
	if err := d.Remove(staged...); err != nil {
		return err
	}
	return d.Sweep()
}
