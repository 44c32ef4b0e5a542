package place

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// Calls during an fsync share the next one, and its error; they never count on one that has begun.
func TestDirSyncsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 50
		d := newDirSyncs()
		next := make(chan error)
		var mu sync.Mutex
		begun := map[string]int{} // fsyncs, by directory
		d.fsync = func(dir string) error {
			mu.Lock()
			begun[dir]++
			mu.Unlock()
			return <-next
		}
		failed := errors.New("I/O error")
		first := make(chan error, 1)
		go func() { first <- d.sync("a") }()
		synctest.Wait()
		var others sync.WaitGroup
		for range calls {
			others.Go(func() {
				if err := d.sync("a"); err != failed {
					t.Errorf("a later call: %v, want the error of the second fsync", err)
				}
			})
		}
		synctest.Wait()
		if begun["a"] != 1 {
			t.Fatalf("%d fsyncs at once", begun["a"])
		}
		next <- nil
		if err := <-first; err != nil {
			t.Errorf("the first call: %v", err)
		}
		synctest.Wait()
		next <- failed
		others.Wait()
		if begun["a"] != 2 {
			t.Errorf("%d fsyncs for %d calls during one, want 2", begun["a"], calls)
		}

		// Directories do not wait for each other.
		for _, dir := range []string{"a", "b"} {
			go func() { first <- d.sync(dir) }()
		}
		synctest.Wait()
		if begun["a"] != 3 || begun["b"] != 1 {
			t.Errorf("fsyncs begun: %v", begun)
		}
		for range 2 {
			next <- nil
			if err := <-first; err != nil {
				t.Error(err)
			}
		}
	})
}
