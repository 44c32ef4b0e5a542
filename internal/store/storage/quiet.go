package storage

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// tellAgain is the minimum time between two reports of a store that does not answer.
const tellAgain = time.Minute

// quiet are the stores that do not answer.
var quiet struct {
	sync.Mutex
	tell  func(store string, since time.Duration)
	began map[string]time.Time // by store: when the first request without an answer was made
	last  map[string]time.Time // when a request without an answer was last noticed
	told  map[string]time.Time // when tell was last called
}

// OnSilence has tell called when a store has sent nothing for the time that a server may be silent
// (TimeoutVariable), and again every minute while requests have no answer. It may be called from any
// goroutine, one at a time; nil ends it.
func OnSilence(tell func(store string, since time.Duration)) {
	quiet.Lock()
	defer quiet.Unlock()
	quiet.tell = tell
	quiet.began, quiet.last, quiet.told = map[string]time.Time{}, map[string]time.Time{}, map[string]time.Time{}
}

// noteSilence notes that a request to a store had no answer for a time; "" is a store that the caller
// does not know.
func noteSilence(store string, waited time.Duration) {
	if store == "" {
		store = openStores()
	}
	quiet.Lock()
	defer quiet.Unlock()
	if quiet.tell == nil {
		return
	}
	now := time.Now()
	if now.Sub(quiet.last[store]) > 2*waited+tellAgain { // it answered in between
		quiet.began[store] = now.Add(-waited)
		delete(quiet.told, store)
	}
	quiet.last[store] = now
	if now.Sub(quiet.told[store]) >= tellAgain {
		quiet.told[store] = now
		quiet.tell(store, now.Sub(quiet.began[store]).Round(time.Second))
	}
}

// openStores names the stores that are open.
func openStores() string {
	registry.Lock()
	defer registry.Unlock()
	var names []string
	for url := range opened {
		scheme, host, _ := strings.Cut(url, "://")
		names = append(names, Location{scheme: scheme, host: host}.server())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
