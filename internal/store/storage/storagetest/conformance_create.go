package storagetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

func (c conformance) createOnly(t *testing.T) {
	for _, size := range []int{0, 10, c.Part + 1} {
		name := fmt.Sprintf("once/%d", size)
		data := noise(size, 1)
		is := c.must(t, name, data)
		if again, err := c.upload(t.Context(), name, noise(size, 2), storage.CreateOptions{}); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s once more: %+v, %v", name, again, err)
		}
		c.holds(t, is, data)
	}
}

func (c conformance) replace(t *testing.T) {
	const name = "replaced"
	before := c.must(t, name, noise(10, 1))
	for i, size := range []int{20, c.Part + 1, 7} {
		data := noise(size, uint64(i))
		is, err := c.upload(t.Context(), name, data, storage.CreateOptions{Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		c.holds(t, is, data)
		if is.Version == before.Version {
			t.Errorf("%d bytes are of the version of those before, %s", size, is.Version)
		}
		if _, _, err := c.Open(t.Context(), name, before.Version, 0, 5); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("the version before: %v", err)
		}
		before = is
	}
}

func (c conformance) race(t *testing.T) { c.racing(t, 20, 1000) }

func (c conformance) raceOfLarge(t *testing.T) { c.racing(t, 2, c.Part+1) }

// racing has several writers make one object, again and again.
func (c conformance) racing(t *testing.T, times, size int) {
	const writers = 4
	for i := range times {
		name := fmt.Sprintf("race/%d-%d", size, i)
		var made [writers]storage.Object
		var errs [writers]error
		var work sync.WaitGroup
		for w := range writers {
			work.Go(func() {
				made[w], errs[w] = c.upload(t.Context(), name, noise(size, uint64(w)), storage.CreateOptions{})
			})
		}
		work.Wait()
		winner := -1
		for w, err := range errs {
			switch {
			case err == nil && winner < 0:
				winner = w
			case err == nil:
				t.Errorf("%s: %d and %d have both made it", name, winner, w)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("%s: %v", name, err)
			}
		}
		if winner < 0 {
			t.Fatalf("%s: nobody has made it", name)
		}
		c.holds(t, made[winner], noise(size, uint64(winner)))
	}
}

func (c conformance) abort(t *testing.T) {
	for _, size := range []int{0, 100, 2*c.Part + 1} {
		name := fmt.Sprintf("aborted/%d", size)
		u, err := c.Create(t.Context(), name, storage.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Write(noise(size, 1)); err != nil {
			t.Fatal(err)
		}
		u.Abort()
		u.Abort()
		if _, err := u.Commit(); err == nil {
			t.Error("committed behind Abort")
		}
		c.gone(t, name)
	}
	name := "committed"
	u, err := c.Create(t.Context(), name, storage.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is, err := u.Commit()
	if err != nil {
		t.Fatal(err)
	}
	u.Abort()
	if _, err := u.Write([]byte("x")); err == nil {
		t.Error("written behind Commit")
	}
	c.holds(t, is, nil)
}

func (c conformance) cancel(t *testing.T) {
	for _, size := range []int{100, 2*c.Part + 1} {
		name := fmt.Sprintf("cancelled/%d", size)
		ctx, cancel := context.WithCancel(t.Context())
		u, err := c.Create(ctx, name, storage.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Write(noise(size, 1)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := u.Commit(); !errors.Is(err, context.Canceled) {
			t.Errorf("committed when the context was done: %v", err)
		}
		c.gone(t, name)
	}
}
