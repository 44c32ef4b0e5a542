package place

import (
	"sync"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
)

// dirSyncs fsyncs directories. Concurrent calls for one directory share fsyncs.
type dirSyncs struct {
	fsync   func(dir string) error // atomicfile.SyncDir
	mu      sync.Mutex
	next    map[string]*dirSync      // not begun, by directory
	running map[string]chan struct{} // holds a token during an fsync, by directory
}

// dirSync is an fsync that calls wait for.
type dirSync struct {
	done chan struct{}
	err  error // set before done is closed
}

func newDirSyncs() *dirSyncs {
	return &dirSyncs{fsync: atomicfile.SyncDir, next: map[string]*dirSync{}, running: map[string]chan struct{}{}}
}

// sync returns after an fsync of a directory that began after the call.
func (d *dirSyncs) sync(dir string) error {
	d.mu.Lock()
	if s := d.next[dir]; s != nil {
		d.mu.Unlock()
		<-s.done
		return s.err
	}
	s := &dirSync{done: make(chan struct{})}
	d.next[dir] = s
	running := d.running[dir]
	if running == nil {
		running = make(chan struct{}, 1)
		d.running[dir] = running
	}
	d.mu.Unlock()

	running <- struct{}{}
	d.mu.Lock()
	delete(d.next, dir) // a later call may be about a later rename
	d.mu.Unlock()
	s.err = d.fsync(dir)
	<-running
	close(s.done)
	return s.err
}
