package reader

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDamagedCacheIsReplaced damages a cache in every way: with Replace all elements are still
// returned in order, and the cache is made again and reported.
func TestDamagedCacheIsReplaced(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 300)
	var told []error
	build := func(cache string) Pipe {
		return open(t, dir, Options{}).Records().Cache(CacheOptions{
			Dir: cache, Replace: true, OnDiscard: func(why error) { told = append(told, why) },
		}).Repeat(2)
	}
	want := slices.Repeat(readertest.InOrder(300, 300), 2)
	for name, spoil := range map[string]func(data, header []byte) ([]byte, []byte){
		"data":    func(d, h []byte) ([]byte, []byte) { d[len(d)/2] ^= 1; return d, h },
		"end":     func(d, h []byte) ([]byte, []byte) { d[len(d)-1] ^= 1; return d, h },
		"begin":   func(d, h []byte) ([]byte, []byte) { d[3] ^= 1; return d, h },
		"cut":     func(d, h []byte) ([]byte, []byte) { return d[:len(d)-5], h },
		"header":  func(d, h []byte) ([]byte, []byte) { return d, h[:len(h)/2] },
		"numbers": func(d, h []byte) ([]byte, []byte) { return d, []byte(strings.Replace(string(h), `:600`, `:599`, 1)) },
	} {
		for _, skip := range []int{0, 500} { // a State in the middle seeks
			cache := t.TempDir()
			s := started(t, build(cache))
			takeIDs(t, s, skip)
			state := s.State()
			rest(t, s)
			s.Close()
			names := namesIn(cache)
			var d, h []byte
			readertest.Change(t, filepath.Join(cache, names[1]), func(header []byte) []byte { h = header; return header })
			readertest.Change(t, filepath.Join(cache, names[0]), func(data []byte) []byte { d, h = spoil(data, h); return d })
			readertest.Change(t, filepath.Join(cache, names[1]), func([]byte) []byte { return h })
			told = nil
			again, err := build(cache).Start(t.Context(), From{State: &state})
			if err != nil {
				t.Errorf("%s, behind %d: %v", name, skip, err)
				continue
			}
			if got := rest(t, again); !slices.Equal(got, want[skip:]) {
				t.Errorf("%s, behind %d: %d elements, want %d", name, skip, len(got), len(want)-skip)
			}
			again.Close()
			if len(told) != 1 || !strings.Contains(told[0].Error(), cache) {
				t.Errorf("%s, behind %d: told %v", name, skip, told)
			}
			// The new cache is complete.
			whole := started(t, open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}))
			if got := rest(t, whole); !slices.Equal(got, want[:600]) || elementsOf(whole, "read") != 0 {
				t.Errorf("%s, behind %d: then the cache has %d elements", name, skip, len(got))
			}
			whole.Close()
		}
	}
}

// Caching something else where a cache is being filled fails at Start, not only at the end; a run
// of the same pipeline reads in the meantime.
func TestOtherCacheBeingFilledIsRefused(t *testing.T) {
	dir, cache := readertest.WriteShards(t, tfrecord.CompressionNone, 900), t.TempDir()
	set := open(t, dir, Options{})
	filling := started(t, set.Records().Cache(CacheOptions{Dir: cache}))
	takeIDs(t, filling, 3)
	for _, replace := range []bool{false, true} {
		o := CacheOptions{Dir: cache, Replace: replace}
		if _, err := set.Interleave(2, 2).Cache(o).Start(t.Context(), From{}); !errors.Is(err, ErrOtherCache) || !strings.Contains(err.Error(), cache) {
			t.Errorf("Replace %t: %v", replace, err)
		}
		same := started(t, set.Records().Cache(o))
		if got := rest(t, same); !slices.Equal(got, readertest.InOrder(900)) {
			t.Errorf("Replace %t: who wants the same gets %d elements", replace, len(got))
		}
		same.Close()
	}
	rest(t, filling)
	filling.Close()
	if names := namesIn(cache); len(names) != 2 {
		t.Errorf("the folder holds %q", names)
	}
}
