package storage_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// TestSilentStoresAreNamed asks a store that stops answering: it is named after the time that a server
// may be silent, and every minute from then on.
func TestSilentStoresAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var told []time.Duration
		storage.OnSilence(func(store string, since time.Duration) {
			told = append(told, since)
			if took := time.Since(began).Round(time.Second); store != "mem://bucket" || since > took || since < took-time.Second {
				t.Errorf("%s after %v: %v", store, took, since)
			}
		})
		defer storage.OnSilence(nil)
		silent := storagetest.NewSilent(storagetest.New(), 0)
		storage.Register("mem", func(context.Context, string) (storage.Store, error) { return silent, nil })
		defer storage.Register("mem", nil)
		_, err := storage.Parse("mem://bucket/x").Stat(t.Context())
		if err == nil || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("%v", err)
		}
		took := time.Since(began)
		if least := int(took / (2 * time.Minute)); len(told) < least || len(told) > int(took/time.Minute)+1 || told[0] != 30*time.Second {
			t.Errorf("told %v in %v", told, took)
		}
	})
}
