package csvscan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// A call that is cancelled while the store is silent ends at once, and leaves the table to
// later calls: the file that stays open between them is not bound to a call's context.
func TestReadChunkCancelled(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,two\n", 1000)
	for _, compressed := range []string{"", ".gz", ".zst"} {
		read := func(t *testing.T) {
			objects := storagetest.New()
			objects.Put("t"+compressed, compress(t, compressed, []byte(text)))
			var store storage.Store = objects
			storage.Register("mem", func(context.Context, string) (storage.Store, error) { return store, nil })
			t.Cleanup(storage.Forget)
			s, err := Open(t.Context(), "mem://store/t"+compressed, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			chunks := scan(t, s).Chunks

			silent := storagetest.NewSilent(objects, 0)
			store = silent
			storage.Forget()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-silent.Silence()
				cancel()
			}()
			began := time.Now()
			if _, err := s.ReadChunk(ctx, nil, chunks[0]); !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
				t.Errorf("after %v: %v", time.Since(began), err)
			}

			store = objects
			storage.Forget()
			ctx, cancel = context.WithCancel(t.Context())
			data, err := s.ReadChunk(ctx, nil, chunks[0])
			if err != nil || !strings.HasSuffix(text, string(data)) {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			cancel() // after the call, this changes nothing
			again, err := s.ReadChunk(t.Context(), nil, chunks[0])
			if err != nil || string(again) != string(data) {
				t.Errorf("%d bytes, %v", len(again), err)
			}
		}
		t.Run("t"+compressed, func(t *testing.T) { synctest.Test(t, read) })
	}
}
