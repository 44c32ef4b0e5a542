// Package claim lets processes on many machines take turns with a directory of an object store,
// which has no locks: each creates a small object of its own below the directory, checks for other
// processes' claims, and withdraws if there is one. Claims are renewed while they are held; the
// claims of dead processes expire.
//
// It requires a store whose lists reflect all earlier writes, like the large clouds: of two
// processes that claim at the same time, at least one then sees the other. The age of a claim is
// measured with the store's clock alone; the clock of this machine only measures durations.
// No claim of this kind is perfect: a process may be suspended for minutes between its last check
// of its claim and its next write. Users that need more publish with create-only names, and
// compare.
package claim

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Renew is the interval between renewals of a claim, and Expire the age, by the store's clock, at
// which a claim is taken for a dead process's: a run after a kill waits at most that long. A claim
// may miss two renewals. Tests change them before the first claim is taken.
var (
	Renew  = 4 * time.Second
	Expire = 12 * time.Second
)

// ErrHeld means that a live process has a claim.
var ErrHeld = errors.New("claimed by another process")

// ErrNotNeeded means that Options.Until has ended the wait for a claim.
var ErrNotNeeded = errors.New("the claim is no longer needed")

// ErrLost means that another process has taken over a claim, since it took this one for dead.
var ErrLost = errors.New("this process did not renew its claim in time, and another process took over")

// Options are the options of Take.
type Options struct {
	// Shared claims go together; others are alone.
	Shared bool
	// Wait has Take wait for others that live. Otherwise it returns an error that unwraps
	// to ErrHeld when one of them has renewed its claim.
	Wait bool
	// Until, if not nil, is called before each check of the others. If it returns true, Take stops
	// waiting and returns ErrNotNeeded.
	Until func() (bool, error)
	// Note, if not nil, is called with a sentence about what Take waits for.
	Note func(sentence string)
}

// Claim is one process's. It is renewed in the background until Release.
type Claim struct {
	store storage.Store
	name  string
	data  []byte

	ctx    context.Context // done with ErrLost, when it is lost
	cancel context.CancelCauseFunc
	keeper sync.WaitGroup

	turn    chan struct{}  // holds a token while the fields below are used, and during a renewal
	fresh   time.Time      // before the request of the last renewal
	is      storage.Object // as it was last written
	doubted bool           // another process may have taken over: see settle

	cleared []storage.Object
}

// The names of claims begin with what they are.
const (
	aloneMode  = "alone-"
	sharedMode = "shared-"
)

// holder describes the process that holds a claim, for messages.
type holder struct {
	Host    string `json:"host"`
	Process int    `json:"process"`
}

func (h holder) String() string { return fmt.Sprintf("process %d on %s", h.Process, h.Host) }

// Take claims a directory of a store, after waiting for conflicting claims. Claims of dead
// processes are removed. The claim and its Context end with ctx.
func Take(ctx context.Context, s storage.Store, directory string, o Options) (*Claim, error) {
	t := &taking{store: s, directory: directory + "/", o: o}
	for {
		c, err := t.try(ctx)
		if c != nil || err != nil {
			return c, err
		}
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Context is done when the claim is, with ErrLost as its cause when it was lost.
func (c *Claim) Context() context.Context { return c.ctx }

// Cleared returns the claims of dead processes that were removed for this one.
func (c *Claim) Cleared() []storage.Object { return c.cleared }

// Check returns an error when the claim is lost. One that was not renewed for long is renewed first,
// and is found out to be lost, if it is, by that.
func (c *Claim) Check() error {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
	defer func() { <-c.turn }()
	for range mostRenewals {
		if !c.doubted && since(c.fresh) < Expire/2 {
			return nil
		}
		if err := c.renew(c.ctx); err != nil {
			return err
		}
		if c.doubted {
			if err := c.settle(c.ctx); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("renew the claim %s: the store takes longer for that than a claim lasts", c.name)
}

// mostRenewals bounds the renewals in a row by Check of a claim that is too old again by the time
// it is renewed.
const mostRenewals = 5

// Release withdraws the claim. Where the store does not answer, it is left to expire.
func (c *Claim) Release() {
	lost := errors.Is(context.Cause(c.ctx), ErrLost)
	c.cancel(context.Canceled)
	c.keeper.Wait()
	if !lost {
		withdraw(c.ctx, c.store, c.name)
	}
}

// Dead returns the claims below prefix that have expired. The caller must hold c, which is in the
// same store.
func (c *Claim) Dead(ctx context.Context, prefix string) ([]storage.Object, error) {
	c.turn <- struct{}{}
	now := c.is.ModTime
	<-c.turn
	var dead []storage.Object
	for o, err := range c.store.List(ctx, prefix, true) {
		if err != nil {
			return nil, err
		}
		if _, ours := modeOf(o.Name); ours && o.Name != c.name && now.Sub(o.ModTime) > Expire {
			dead = append(dead, o)
		}
	}
	return dead, nil
}

// keep renews the claim until it is released or lost.
func (c *Claim) keep() {
	tick := time.NewTicker(Renew)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			c.turn <- struct{}{}
			c.keepFresh()
			<-c.turn
		}
	}
}

// keepFresh renews the claim, unless the store takes too long to answer: then the next tick tries
// again before the claim has expired. Check finds out whether that lasts. The caller holds the
// turn.
func (c *Claim) keepFresh() {
	ctx, cancel := context.WithTimeout(c.ctx, Expire/2)
	defer cancel()
	_ = c.renew(ctx)
}

// renew writes the claim again, if it still exists. If that is late, it may have been removed
// between the two requests, and the claim is in doubt until settle. The caller holds the turn.
func (c *Claim) renew(ctx context.Context) error {
	late := since(c.fresh) >= Expire/2
	asked := time.Now()
	_, err := storage.Look(ctx, c.store, c.name)
	if errors.Is(err, fs.ErrNotExist) {
		return c.lose()
	}
	var is storage.Object
	if err == nil {
		is, err = storage.Put(ctx, c.store, c.name, c.data, storage.CreateOptions{Replace: true})
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("renew the claim %s: %w", c.name, err)
	}
	c.fresh, c.is, c.doubted = asked, is, c.doubted || late
	return nil
}

// settle finds out whether a claim that was renewed late still belongs to this process alone. A
// rival that has expired does not matter, and one that only tries sees this claim and withdraws;
// one that stays has taken over. The caller holds the turn.
func (c *Claim) settle(ctx context.Context) error {
	began := time.Now()
	var staying map[string]bool
	for {
		found, _, err := rivals(ctx, c.store, c.name)
		if err != nil {
			return err
		}
		stay := map[string]bool{}
		for _, r := range found {
			if r.left >= 0 && (staying == nil || staying[r.Name]) {
				stay[r.Name] = true
			}
		}
		if staying = stay; len(staying) == 0 {
			c.doubted = false
			return nil
		}
		if since(began) >= Renew {
			withdraw(ctx, c.store, c.name)
			return c.lose()
		}
		if err := par.Sleep(ctx, Renew/8); err != nil {
			return cmp.Or(context.Cause(c.ctx), err)
		}
	}
}

func (c *Claim) lose() error {
	c.cancel(ErrLost)
	return ErrLost
}

// since returns the time since t on this machine. It includes time asleep, which only the wall
// clock counts.
func since(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// withdraw removes a claim, also when ctx is done. One that stays, expires.
func withdraw(ctx context.Context, s storage.Store, name string) {
	ctx, cancel := storage.Cleanup(ctx, 10*time.Second)
	defer cancel()
	_ = s.Remove(ctx, name)
}

// modeOf returns the mode in the name of a claim; ok is false for other objects.
func modeOf(name string) (mode string, ok bool) {
	for _, mode := range []string{aloneMode, sharedMode} {
		if strings.HasPrefix(path.Base(name), mode) {
			return mode, true
		}
	}
	return "", false
}

// newClaim returns a claim that is not in the store yet.
func newClaim(s storage.Store, directory string, shared bool) *Claim {
	mode := aloneMode
	if shared {
		mode = sharedMode
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	data, err := json.Marshal(holder{host, os.Getpid()})
	if err != nil {
		panic(fmt.Sprintf("claim: a name and a number do not marshal: %v", err))
	}
	return &Claim{store: s, name: directory + mode + strings.ToLower(rand.Text()), data: append(data, '\n'), turn: make(chan struct{}, 1)}
}
