//go:build unix

package reader

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestFullDisk fills a cache in its own process, with a file size limit of 20 kB: the result is an
// error that says what to do, or with Partial all of the elements; and no cache in either case.
func TestFullDisk(t *testing.T) {
	if os.Getenv("TFREC_TEST_FULL_DISK") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), "TFREC_TEST_FULL_DISK=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	// The first exceeds the limit midway, the second only at the final flush.
	for _, records := range []int{20000, 700} {
		dir := readertest.WriteShards(t, tfrecord.CompressionNone, slices.Repeat([]int{records / 10}, 10)...)
		want := readertest.InOrder(slices.Repeat([]int{records / 10}, 10)...)
		signal.Ignore(syscall.SIGXFSZ)
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		small := old
		small.Cur = 20 << 10
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
			t.Skip(err)
		}
		cache := t.TempDir()
		set := open(t, dir, Options{})
		_, err := idsUntil(set.Records().Cache(CacheOptions{Dir: cache}))
		if !errors.Is(err, ErrCacheFull) || !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%d records: %v", records, err)
		}
		if names := namesIn(cache); len(names) > 0 {
			t.Errorf("%d records: left: %q", records, names)
		}
		var told []error
		o := CacheOptions{Dir: cache, Partial: true, OnDiscard: func(why error) { told = append(told, why) }}
		ids, err := idsUntil(set.Records().Cache(o).Repeat(3))
		if err != nil || !slices.Equal(ids, slices.Repeat(want, 3)) {
			t.Errorf("%d records, Partial: %d elements, %v", records, len(ids), err)
		}
		if len(told) != 1 || !errors.Is(told[0], ErrCacheFull) {
			t.Errorf("%d records, Partial: told %v", records, told)
		}
		if names := namesIn(cache); len(names) > 0 {
			t.Errorf("%d records, Partial: left: %q", records, names)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		// Once there is room again it is filled.
		idsOf(t, set.Records().Cache(o))
		if names := namesIn(cache); len(names) != 2 {
			t.Errorf("%d records: then the folder holds %q", records, names)
		}
	}
}
