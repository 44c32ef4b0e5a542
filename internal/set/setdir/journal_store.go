package setdir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// A set in a store changes by a journal, too, whose moves are copies: shards get their new names,
// which no file had, then metadata is replaced, the manifest last and with a single request, and
// only then are the old names removed. Until the manifest is replaced the set is the old one, and
// from then on the new one.

// copiesAtOnce is the number of shards to copy at a time.
const copiesAtOnce = 4

// PutFrom writes a file of the set from r, replacing any file of that name. It is visible when it is
// complete.
func PutFrom(d *Dir, name string, r io.Reader) error { return putFrom(d, name, r, nil) }

// putFrom is PutFrom with a check: the file becomes visible only if check returns nil after r has
// been read to its end.
func putFrom(d *Dir, name string, r io.Reader, check func() error) error {
	if err := inject.Fault(d.ctx, "put", d.Join(name)); err != nil {
		return err
	}
	draft, err := d.at.Create(name, nil)
	if err != nil {
		return err
	}
	if _, err = io.CopyBuffer(struct{ io.Writer }{draft}, struct{ io.Reader }{r}, make([]byte, 1<<20)); err == nil && check != nil {
		err = check()
	}
	if err == nil {
		err = draft.Commit(false)
	}
	if err != nil {
		draft.Discard()
	}
	return err
}

// Rename gives a file in a store a name that no other file has, by copying it. It may have been
// begun before, and be complete. The copy is held to the SHA-256 of the file, in hexadecimal digits;
// an empty one accepts what comes.
func Rename(d *Dir, from, to, sum string) error {
	if err := copyTo(d, from, to, sum); err != nil {
		return err
	}
	return d.Remove(from)
}

// mostReads bounds the attempts to copy a file whose bytes differ at each read.
const mostReads = 4

var errOtherBytes = errors.New("other bytes arrive each time: they change in transit, in the network, a proxy or a faulty machine")

// copyTo copies a file to a name that no other file has, unless that was already done. Bytes without
// the given SHA-256, in hexadecimal digits, are read again, around caches: the same ones are the
// file's own. An empty one accepts what comes.
func copyTo(d *Dir, from, to, sum string) error {
	done, err := d.Exists(to)
	if done || err != nil {
		return err
	}
	ctx, last := d.ctx, sum
	for range mostReads {
		h := sha256.New()
		err = copyFrom(ctx, d, from, to, h, func() error {
			was := last
			if last = hex.EncodeToString(h.Sum(nil)); sum == "" || last == sum || last == was {
				return nil
			}
			return errOtherBytes
		})
		if !errors.Is(err, errOtherBytes) {
			return err
		}
		ctx = storage.Around(d.ctx)
	}
	return fmt.Errorf("copy %s to %s: %w", d.Join(from), d.Join(to), err)
}

// copyFrom copies a file, whose bytes it adds to sum, if check then returns nil.
func copyFrom(ctx context.Context, d *Dir, from, to string, sum io.Writer, check func() error) error {
	f, err := d.loc.Join(from).Open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s, which was to become %s, is missing: the set is a mixture of two versions; restore it from a copy, or make the set again: %w", d.Join(from), d.Join(to), err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return putFrom(d, to, io.TeeReader(f, sum), check)
}

// sums returns the SHA-256 of the shards that a journal's manifest describes.
func (j *Journal) sums(d *Dir) (map[string]string, error) {
	sums := map[string]string{}
	for _, m := range j.Moves {
		if m.To != manifest.File {
			continue
		}
		set, err := manifest.Read(d.ctx, d.Join(m.From))
		if err != nil {
			return nil, err
		}
		for _, split := range set.Splits {
			for _, s := range split.Shards {
				sums[s.File] = s.SHA256
			}
		}
	}
	return sums, nil
}

// completeInStore does the rest of a change. Any step of it may already have been done.
func (j *Journal) completeInStore(d *Dir) error {
	sums, err := j.sums(d)
	if err != nil {
		return err
	}
	var copies errgroup.Group
	copies.SetLimit(copiesAtOnce)
	for _, m := range j.Moves {
		if !m.Replaces {
			copies.Go(func() error { return copyTo(d, m.From, m.To, sums[m.To]) })
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
	return d.Staged().Discard()
}
