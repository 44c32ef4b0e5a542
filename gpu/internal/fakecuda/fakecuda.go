//go:build cuda && linux && amd64 && cgo

package fakecuda

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>

static void (*find(void))(int64_t *) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	return library == NULL ? NULL : (void (*)(int64_t *))dlsym(library, "fakecuda_counts");
}

static int counts(int64_t *to) {
	void (*f)(int64_t *) = find();
	if (f == NULL)
		return 0;
	f(to);
	return 1;
}
*/
import "C"

import "testing"

// Counts are the numbers of live objects and of events in the fake driver.
type Counts struct {
	Buffers, Pinned, Streams, Events, Modules, Contexts int64
	// Leaked is the number of these that ended with their context, since the process began.
	Leaked int64
	// Kernels is the number of kernels that have run, since the process began.
	Kernels int64
	// NVJPEG is the number of live objects of the fake nvJPEG.
	NVJPEG int64
	// Waits is the number of waits for a stream or an event, Spins the number of waits that kept a
	// processor busy, since the process began.
	Waits, Spins int64
	// Flags are the flags of the first GPU's primary context.
	Flags int64
	// Reserved is the number of times that the fake nvJPEG allocated memory for batches, since the
	// process began.
	Reserved int64
	// Retains is the number of times that primary contexts are retained.
	Retains int64
	// UsedNVJPEG reports whether the fake nvJPEG was used. A context stays after that.
	UsedNVJPEG bool
}

// Now returns the counts. ok is false if the driver is not the fake one.
func Now() (c Counts, ok bool) {
	var n [15]C.int64_t
	if C.counts(&n[0]) == 0 {
		return c, false
	}
	return Counts{
		Buffers: int64(n[0]), Pinned: int64(n[1]), Streams: int64(n[2]), Events: int64(n[3]), Modules: int64(n[4]),
		Contexts: int64(n[5]), Leaked: int64(n[6]), Kernels: int64(n[7]), NVJPEG: int64(n[8]),
		Waits: int64(n[9]), Spins: int64(n[10]), Flags: int64(n[11]), Reserved: int64(n[12]),
		Retains: int64(n[13]), UsedNVJPEG: n[14] != 0,
	}, true
}

// Alive returns the counts of live objects, without the context that stays once nvJPEG was used.
func (c Counts) Alive() Counts {
	if c.UsedNVJPEG {
		c.Contexts, c.Retains, c.UsedNVJPEG = 0, 0, false
	}
	c.Kernels, c.Waits, c.Spins, c.Flags, c.Reserved = 0, 0, 0, 0, 0
	return c
}

// Use skips the test where the driver is not the fake one. When the test ends, as
// much must be alive as when Use was called.
func Use(t testing.TB) {
	t.Helper()
	before, ok := Now()
	if !ok {
		t.Skip("not on the fake driver: make gpu-test")
	}
	t.Cleanup(func() {
		after, _ := Now()
		if after.Alive() != before.Alive() {
			t.Errorf("alive in the driver: %+v; before the test it was %+v", after, before)
		}
	})
}

// Set sets a variable of the fake, such as "FAIL", until the test ends.
func Set(t testing.TB, name, value string) {
	t.Helper()
	t.Setenv("FAKECUDA_"+name, value)
}
