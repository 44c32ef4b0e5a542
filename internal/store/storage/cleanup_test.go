package storage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// However many requests clean up one after another, an interrupt ends them all, whether it comes
// before or while they are made.
func TestCleanupAfterInterrupt(t *testing.T) {
	for name, test := range map[string]struct {
		prompt      bool
		interrupted time.Duration // after the beginning
		ends        time.Duration
	}{
		"before":      {true, 0, CleanupAfterInterrupt},
		"meanwhile":   {true, 4 * time.Second, 4*time.Second + CleanupAfterInterrupt},
		"nobody":      {true, time.Hour, 3 * cleanupTimeout},
		"nobody asks": {false, 0, 3 * cleanupTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root, interrupt := context.WithCancel(quick(t))
				defer interrupt()
				ctx := root
				if test.prompt {
					ctx = WithPromptCleanup(ctx)
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				data := make([]byte, firstSent+1)
				var uploads []Upload
				for range 3 {
					u := NewUpload(ctx, "mem://bucket/x", &silentDiscard{}, AtOnce)
					if _, err := u.Write(data); err != nil {
						t.Fatal(err)
					}
					uploads = append(uploads, u)
				}
				began := time.Now()
				if test.interrupted == 0 {
					interrupt()
				} else {
					defer time.AfterFunc(test.interrupted, interrupt).Stop()
				}
				for _, u := range uploads {
					u.Abort()
				}
				if took := time.Since(began); took != test.ends {
					t.Errorf("took %v, want %v", took, test.ends)
				}
				interrupt()
				time.Sleep(2 * CleanupAfterInterrupt) // so that no timer is left
			})
		})
	}
}

// silentDiscard is a sender that does not answer what throws parts away.
type silentDiscard struct{ sender }

func (s *silentDiscard) Discard(ctx context.Context) error {
	<-ctx.Done()
	return errors.New("cancelled")
}
