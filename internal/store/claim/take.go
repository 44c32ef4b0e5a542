package claim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// taking is the attempt to take a claim.
type taking struct {
	store     storage.Store
	directory string // with the slash after it
	o         Options

	cleared []storage.Object // of dead processes

	unseen int     // claims of its own in a row that no list showed
	rounds int     // of waiting, which grow longer
	rivals []rival // seen last
	noted  bool
	// spread is the time over which those that try at the same time are to spread their next tries.
	spread time.Duration
}

// rival is a claim that conflicts with another one.
type rival struct {
	storage.Object
	left time.Duration // until it expires; where one's own claim is not there, all of it
}

// rivals lists the claims that conflict with one in its directory, and returns when that one was
// written; the zero time if it does not exist.
func rivals(ctx context.Context, s storage.Store, own string) (found []rival, now time.Time, err error) {
	mode, _ := modeOf(own)
	directory, _ := path.Split(own)
	for o, err := range s.List(ctx, directory, false) {
		if err != nil {
			return nil, now, err
		}
		other, claim := modeOf(o.Name)
		switch {
		case o.Name == own:
			now = o.ModTime
		case claim && (mode == aloneMode || other == aloneMode):
			found = append(found, rival{Object: o})
		}
	}
	for i := range found {
		found[i].left = Expire
		if !now.IsZero() {
			found[i].left -= now.Sub(found[i].ModTime)
		}
	}
	return found, now, nil
}

// mostUnseen bounds the claims in a row that may be missing from a list requested after them,
// because they were removed or the list is stale.
const mostUnseen = 10

// try claims, and withdraws if there is a rival that has not expired.
func (t *taking) try(ctx context.Context) (*Claim, error) {
	c := newClaim(t.store, t.directory, t.o.Shared)
	asked := time.Now()
	is, err := storage.Put(ctx, t.store, c.name, c.data, storage.CreateOptions{})
	if errors.Is(err, fs.ErrExist) {
		// The name is random, so no other process has it: the request was duplicated on the way to
		// the store, and the second answer has arrived.
		is, err = storage.Look(ctx, t.store, c.name)
	}
	if err != nil {
		withdraw(ctx, t.store, c.name) // it may be there all the same
		return nil, err
	}
	found, now, err := rivals(ctx, t.store, c.name)
	if err != nil {
		withdraw(ctx, t.store, c.name)
		return nil, err
	}
	t.rivals = nil
	for _, r := range found {
		if r.left >= 0 {
			t.rivals = append(t.rivals, r)
			continue
		}
		if err := t.store.Remove(ctx, r.Name); err != nil {
			withdraw(ctx, t.store, c.name)
			return nil, err
		}
		t.cleared = append(t.cleared, r.Object)
	}
	if len(t.rivals) > 0 || now.IsZero() {
		withdraw(ctx, t.store, c.name)
		t.disperse()
		if t.unseen++; !now.IsZero() {
			t.unseen = 0
		}
		if t.unseen == mostUnseen {
			return nil, fmt.Errorf("the store's listings do not show what was written below %s, after %d tries: they cannot keep processes apart that write to one directory", t.directory, t.unseen)
		}
		return nil, context.Cause(ctx)
	}
	c.fresh, c.is, c.cleared = asked, is, t.cleared
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.keeper.Go(c.keep)
	return c, nil
}

// mostSpread bounds the time over which tries spread, in which thousands of processes have a second
// each.
const mostSpread = time.Hour

// disperse sets how long the next tries spread. Claims that are to be alone are all withdrawn if
// they meet: as many as are seen at the same time, as many times longer the tries have to spread
// until about one is seen. Otherwise hundreds of processes would meet again for ever.
func (t *taking) disperse() {
	meeting := 0
	for _, r := range t.rivals {
		if mode, _ := modeOf(r.Name); mode == aloneMode && !t.o.Shared {
			meeting++
		}
	}
	if meeting > 1 {
		t.spread = min(max(t.spread, Renew/8)*time.Duration(meeting), mostSpread)
	}
}

// wait returns when it is worth trying again: one of the rivals has ended, or has let its claim
// expire, and it is this process's turn among those that try.
func (t *taking) wait(ctx context.Context) error {
	began, turn := time.Now(), time.Duration(0)
	if t.spread > 0 {
		turn = rand.N(t.spread)
	}
	for {
		if err := t.pause(ctx); err != nil {
			return err
		}
		if len(t.rivals) == 0 {
			return nil // its own claim was not there
		}
		if t.o.Until != nil {
			if done, err := t.o.Until(); done || err != nil {
				return cmp.Or(err, ErrNotNeeded)
			}
		}
		there := map[string]storage.Object{}
		for o, err := range t.store.List(ctx, t.directory, false) {
			if err != nil {
				return err
			}
			there[o.Name] = o
		}
		for i := range t.rivals {
			r := &t.rivals[i]
			is, still := there[r.Name]
			switch {
			case !still || since(began) > r.left:
				if since(began) >= turn {
					return nil
				}
			case is.Version != r.Version || !is.ModTime.Equal(r.ModTime):
				if !t.o.Wait {
					return fmt.Errorf("%w: %v", ErrHeld, t.holder(ctx, r))
				}
				r.Object, r.left = is, since(began)+Expire
			}
		}
		if since(began) > Renew/5 && !t.noted && t.o.Note != nil {
			t.noted = true
			r := t.rivals[0]
			if t.o.Wait {
				t.o.Note(fmt.Sprintf("waiting for %v", t.holder(ctx, &r)))
			} else {
				t.o.Note(fmt.Sprintf("found a claim of %v: waiting up to %v to see whether it is still running", t.holder(ctx, &r), (r.left - since(began)).Round(time.Second)))
			}
		}
	}
}

// pause waits for a random and growing time, so that conflicting processes do not conflict again,
// and hundreds do not send requests all the time.
func (t *taking) pause(ctx context.Context) error {
	longest := max(min(Renew/150<<min(t.rounds, 10), Renew/8), min(t.spread/64, Renew/2))
	t.rounds++
	return par.Sleep(ctx, longest/2+rand.N(longest))
}

// holder says whose claim a rival is, as far as it can be read.
func (t *taking) holder(ctx context.Context, r *rival) string {
	var h holder
	data, err := storage.Retry(ctx, func(ctx context.Context) ([]byte, error) {
		body, _, err := t.store.Open(ctx, r.Name, "", 0, min(r.Size, 4096))
		if err != nil {
			return nil, err
		}
		defer body.Close()
		return io.ReadAll(body)
	})
	if err != nil || json.Unmarshal(data, &h) != nil || h.Host == "" {
		return "another process"
	}
	return h.String()
}
