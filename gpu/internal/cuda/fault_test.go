//go:build cuda && linux && amd64 && cgo

package cuda_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
)

func TestSurveyOfTheFake(t *testing.T) {
	fakecuda.Use(t)
	fakecuda.Set(t, "DEVICES", "2")
	d, err := cuda.Survey()
	must(t, err)
	if d.Version != "12.2" || len(d.Devices) != 2 {
		t.Fatalf("%+v", d)
	}
	want := cuda.Info{
		Index: 1, Name: "tfrec's fake GPU 1", UUID: "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f",
		Memory: 1 << 30, Major: 9, Minor: 0, Multiprocessors: 4, CopyEngines: 2,
	}
	if d.Devices[1] != want {
		t.Errorf("got  %+v\nwant %+v", d.Devices[1], want)
	}
	fakecuda.Set(t, "MIG", "1")
	d, err = cuda.Survey()
	must(t, err)
	if got, want := d.Devices[1].UUID, "MIG-74757677-7879-7a7b-7c7d-7e7f80818283"; got != want {
		t.Errorf("a slice has the UUID %s; want %s", got, want)
	}
	fakecuda.Set(t, "FAIL", "cuDeviceGetUuid:2:500,cuDeviceGetUuid:4:500") // an old driver: the second of each GPU is the _v2
	d, err = cuda.Survey()
	must(t, err)
	if d.Devices[1].UUID != want.UUID {
		t.Errorf("the UUID is %s; want %s", d.Devices[1].UUID, want.UUID)
	}
}

func TestFaultsOfOpen(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, variable, value string
		index                 int
		kind                  error
		says                  string
	}{
		{"no GPU", "DEVICES", "0", 0, cuda.ErrNoDevice, "the NVIDIA driver finds no GPU"},
		{"no such GPU", "", "", 7, cuda.ErrNoDevice, "there is no GPU 7: the NVIDIA driver finds 1"},
		{"less than none", "", "", -1, cuda.ErrNoDevice, "there is no GPU -1: the NVIDIA driver finds 1"},
		{"an old GPU", "CAPABILITY", "61", 0, cuda.ErrNoDevice, "GPU 0 (tfrec's fake GPU 0) has compute capability 6.1; 7.0 (Volta) or later is needed"},
		{"a full GPU", "FAIL", "cuDevicePrimaryCtxRetain:1:2", 0, cuda.ErrOutOfMemory, "GPU 0 (tfrec's fake GPU 0) has no memory left to be opened: cuDevicePrimaryCtxRetain answers CUDA_ERROR_OUT_OF_MEMORY (2)"},
		{"a GPU taken", "FAIL", "cuDevicePrimaryCtxRetain:1:999", 0, nil, "open GPU 0 (tfrec's fake GPU 0): cuDevicePrimaryCtxRetain answers CUDA_ERROR_UNKNOWN (999)"},
		{"no name", "FAIL", "cuDeviceGetName:1:1", 0, nil, "cuDeviceGetName answers CUDA_ERROR_INVALID_VALUE (1)"},
		{"no count", "FAIL", "cuDeviceGetCount:1:12345", 0, nil, "cuDeviceGetCount answers an unknown error (12345)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				fakecuda.Set(t, c.variable, c.value)
			}
			d, err := cuda.Open(c.index)
			if err == nil {
				d.Close()
				t.Fatal("it opens")
			}
			if err.Error() != c.says || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("got  %v\nwant %v", err, c.says)
			}
		})
	}
}

// TestChild is what TestFaultsOfLoading runs in a process of its own.
func TestChild(t *testing.T) {
	if os.Getenv("TFREC_CUDA_CHILD") == "" {
		t.Skip("only in a process of its own")
	}
	_, err := cuda.Survey()
	for _, kind := range []error{cuda.ErrNoDriver, cuda.ErrNoDevice, cuda.ErrOldDriver} {
		if errors.Is(err, kind) {
			os.Stdout.WriteString(kind.Error() + "|" + err.Error())
			os.Exit(0)
		}
	}
	os.Stdout.WriteString("none of ours|")
	os.Exit(1)
}

// TestFaultsOfLoading checks faults before the driver is loaded, which need a process of their own.
func TestFaultsOfLoading(t *testing.T) {
	fakecuda.Use(t)
	directories := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	if len(directories) == 0 {
		t.Skip("the fake driver is not found through LD_LIBRARY_PATH")
	}
	executable, err := os.Executable()
	must(t, err)
	for _, c := range []struct {
		name, directory, fail string
		kind                  error
		says                  string
	}{
		{"no driver", t.TempDir(), "", cuda.ErrNoDriver, "no NVIDIA driver (libcuda.so.1: cannot open shared object file: No such file or directory); install it, or start the container with GPUs"},
		{"a driver without what is needed", filepath.Join(directories[0], "old"), "", cuda.ErrOldDriver, "the NVIDIA driver is too old: it has no cuCtxSetCurrent; update it to version 535 or later"},
		{"no GPU", directories[0], "cuInit:1:100", cuda.ErrNoDevice, "the NVIDIA driver finds no GPU"},
		{"two versions", directories[0], "cuInit:1:803", cuda.ErrNoDriver, "the NVIDIA driver does not start: cuInit answers CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the library and the kernel module are of different versions"},
		{"who knows", directories[0], "cuInit:1:77", cuda.ErrNoDriver, "the NVIDIA driver does not start: cuInit answers error 77"},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := exec.Command(executable, "-test.run=^TestChild$")
			child.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") }),
				"TFREC_CUDA_CHILD=1", "LD_LIBRARY_PATH="+c.directory, "FAKECUDA_FAIL="+c.fail)
			out, err := child.CombinedOutput()
			if want := c.kind.Error() + "|" + c.says; err != nil || string(out) != want {
				t.Errorf("got  %s (%v)\nwant %s", out, err, want)
			}
		})
	}
}

// TestNeedsNoDriver checks that the program starts without a driver: it links libc alone, and hides
// its own cu functions from the driver.
func TestNeedsNoDriver(t *testing.T) {
	executable, err := os.Executable()
	must(t, err)
	f, err := elf.Open(executable)
	must(t, err)
	defer f.Close()
	needed, err := f.ImportedLibraries()
	must(t, err)
	// glibc's, which were more than one file before 2.34.
	glibc := []string{"libc.so.6", "libpthread.so.0", "libdl.so.2", "libresolv.so.2", "ld-linux-x86-64.so.2", "libm.so.6"}
	for _, n := range needed {
		if !slices.Contains(glibc, n) {
			t.Errorf("the program needs %s", n)
		}
	}
	if len(needed) == 0 {
		t.Error("the program needs no library at all: this is not it")
	}
	symbols, err := f.DynamicSymbols()
	must(t, err)
	for _, s := range symbols {
		if len(s.Name) > 2 && strings.HasPrefix(s.Name, "cu") && s.Name[2] >= 'A' && s.Name[2] <= 'Z' {
			t.Errorf("the program exports or wants %s", s.Name)
		}
	}
}

func TestFaultsOfLoadingKernels(t *testing.T) {
	fakecuda.Use(t)
	d := gputest.Device(t)
	for _, c := range []struct {
		name, variable, value string
		ptx                   []byte
		kind                  error
		says                  string
	}{
		{
			"an old driver", "DRIVER", "12010", gputest.Probe, cuda.ErrOldDriver,
			"the NVIDIA driver, for CUDA 12.2, does not take the kernels of this program: cuModuleLoadData answers CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222); update it to version 535 or later",
		},
		{"no PTX at all", "", "", []byte("nothing"), cuda.ErrOldDriver, "CUDA_ERROR_INVALID_PTX (218)"},
		{"nothing", "", "", nil, nil, "load kernels: this is not PTX"},
		{"a zero", "", "", []byte(".version 8.2\x00"), nil, "load kernels: this is not PTX"},
		{"no memory", "FAIL", "cuModuleLoadData:1:2", gputest.Probe, cuda.ErrOutOfMemory, "load kernels: no memory left on GPU 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				fakecuda.Set(t, c.variable, c.value)
			}
			_, err := d.Load(c.ptx)
			if err == nil || !strings.Contains(err.Error(), c.says) || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("got  %v\nwant %v", err, c.says)
			}
		})
	}
	m, err := d.Load(gputest.Probe)
	must(t, err)
	if _, err := m.Function("probe_nothing"); err == nil || !strings.Contains(err.Error(), "find kernel probe_nothing: GPU 0") {
		t.Errorf("a kernel that isn't there: %v", err)
	}
	if d.Lost() {
		t.Error("the device is lost")
	}
}

// TestOutOfMemory runs out of both kinds of memory, and continues with less.
func TestOutOfMemory(t *testing.T) {
	fakecuda.Use(t)
	d, f := probe(t, "probe_affine")
	s := stream(t, d)
	fakecuda.Set(t, "MEMORY", "1000000")
	_, err := s.Alloc(1_000_001)
	if !errors.Is(err, cuda.ErrOutOfMemory) || err.Error() != "allocate 1000001 bytes: no memory left on GPU 0 (tfrec's fake GPU 0): cuMemAlloc answers CUDA_ERROR_OUT_OF_MEMORY (2)" {
		t.Errorf("device memory: %v", err)
	}
	b := buffer(t, s, 600_000)
	if free, total, err := d.Memory(); free != 400_000 || total != 1_000_000 || err != nil {
		t.Errorf("Memory: %d of %d free, %v", free, total, err)
	}
	if _, err := s.Alloc(600_000); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("a second buffer: %v", err)
	}
	must(t, b.Free())
	fakecuda.Set(t, "FAIL", "cuMemHostAlloc:1:2")
	_, err = s.AllocHost(4096)
	if !errors.Is(err, cuda.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "allocate 4096 bytes of pinned memory: ") {
		t.Errorf("pinned memory: %v", err)
	}
	if d.Lost() {
		t.Error("the device is lost")
	}
	must(t, affine(s, f, rand.New(rand.NewPCG(5, 6)), 1000))
}

// TestFailingLaunches lets launches and kernels fail in the middle of a run.
func TestFailingLaunches(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, fail string
		lost       bool
		says       string
	}{
		{"as it is launched", "cuLaunchKernel:3:719", true, "GPU 0 (tfrec's fake GPU 0) failed: cuLaunchKernel answers CUDA_ERROR_LAUNCH_FAILED (719); this process cannot use it any more"},
		{"as it runs", "kernel:3:700", true, "GPU 0 (tfrec's fake GPU 0) failed: cuEventSynchronize answers CUDA_ERROR_ILLEGAL_ADDRESS (700); this process cannot use it any more"},
		{"refused", "cuLaunchKernel:3:701", false, "GPU 0 (tfrec's fake GPU 0) can't run kernel probe_affine: cuLaunchKernel answers an unknown error (701)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, f := probe(t, "probe_affine")
			s := stream(t, d)
			fakecuda.Set(t, "FAIL", c.fail)
			rng := rand.New(rand.NewPCG(7, 8))
			must(t, affine(s, f, rng, 300), affine(s, f, rng, 300))
			err := affine(s, f, rng, 300)
			if !errors.Is(err, cuda.ErrLaunch) || err.Error() != c.says || d.Lost() != c.lost {
				t.Fatalf("lost is %v, got\n%v, want\n%v", d.Lost(), err, c.says)
			}
			again := affine(s, f, rng, 300)
			if c.lost != errors.Is(again, cuda.ErrLaunch) || !c.lost && again != nil {
				t.Errorf("the next: %v", again)
			}
			// What the device had is freed at the end of the test without an error.
		})
	}
	// A device that was lost and closed can be opened again.
	d, f := probe(t, "probe_affine")
	must(t, affine(stream(t, d), f, rand.New(rand.NewPCG(9, 10)), 300))
}

// TestFailingWait is a kernel whose failure only Close or an event gets to see.
func TestFailingWait(t *testing.T) {
	fakecuda.Use(t)
	launch := func(t *testing.T) (*cuda.Device, *cuda.Stream, *cuda.Event) {
		d, f := probe(t, "probe_place")
		s, err := d.NewStream()
		must(t, err)
		e, err := s.NewEvent()
		must(t, err)
		fakecuda.Set(t, "FAIL", "kernel:1:719")
		b := buffer(t, s, 4)
		must(t, s.Launch(f, cuda.Dim{}, cuda.Dim{}, b.At(0)), s.Record(e))
		return d, s, e
	}
	t.Run("Close", func(t *testing.T) {
		d, s, _ := launch(t)
		if err := s.Close(); !errors.Is(err, cuda.ErrLaunch) || !d.Lost() || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("Wait", func(t *testing.T) {
		d, s, e := launch(t)
		if err := e.Wait(); !errors.Is(err, cuda.ErrLaunch) || !d.Lost() {
			t.Error(err)
		}
		must(t, s.Close())
	})
	t.Run("Done", func(t *testing.T) {
		d, s, e := launch(t)
		if done, err := e.Done(); done || !errors.Is(err, cuda.ErrLaunch) || !d.Lost() {
			t.Error(done, err)
		}
		must(t, s.Close())
	})
}

// TestNothingHappensUnwaited checks of the fake what other tests rely on: a copy that nobody waited
// for did not happen.
func TestNothingHappensUnwaited(t *testing.T) {
	fakecuda.Use(t)
	d := gputest.Device(t)
	s := stream(t, d)
	in, out, b := host(t, s, 8), host(t, s, 8), buffer(t, s, 8)
	copy(in.Bytes(), "12345678")
	e, err := s.NewEvent()
	must(t, err, s.Upload(b, 0, in, 0, 8), s.Download(out, 0, b, 0, 8), s.Record(e))
	if want := bytes.Repeat([]byte{0xA5}, 8); !bytes.Equal(out.Bytes(), want) {
		t.Errorf("before: % x", out.Bytes())
	}
	for i, want := range []bool{false, false, true} {
		if done, err := e.Done(); done != want || err != nil {
			t.Errorf("asked %d times: %v, %v", i+1, done, err)
		}
	}
	if string(out.Bytes()) != "12345678" {
		t.Errorf("after: % x", out.Bytes())
	}
}

// TestWaitsSleep checks that nothing that waits keeps a processor busy, also in a context that
// another library made for waits that do, whose flags stay what they are.
func TestWaitsSleep(t *testing.T) {
	fakecuda.Use(t)
	const spin, sleep = 1, 4
	for _, c := range []struct {
		active string
		flags  int64
	}{{"", sleep}, {"1", spin}, {"", sleep}} {
		fakecuda.Set(t, "ACTIVE", c.active)
		before, _ := fakecuda.Now()
		d, err := cuda.Open(0)
		must(t, err)
		s, err := d.NewStream()
		must(t, err)
		e, err := s.NewEvent()
		must(t, err, s.Record(e), e.Wait(), s.Synchronize(), s.Close())
		after, _ := fakecuda.Now()
		if waits, spins := after.Waits-before.Waits, after.Spins-before.Spins; waits != 3 || spins != 0 {
			t.Errorf("active %q: %d of %d waits keep a processor busy; want 0 of 3", c.active, spins, waits)
		}
		if after.Flags != c.flags {
			t.Errorf("active %q: the context has flags %d; want %d", c.active, after.Flags, c.flags)
		}
		must(t, d.Close())
	}
}

// TestFailuresOnTheWay lets every call of a run fail once: each error is returned, and everything
// allocated so far is freed, which fakecuda.Use checks.
func TestFailuresOnTheWay(t *testing.T) {
	fakecuda.Use(t)
	run := func() (err error) {
		d, err := cuda.Open(0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		m, err := d.Load(gputest.Probe)
		if err != nil {
			return err
		}
		f, err := m.Function("probe_affine")
		if err != nil {
			return err
		}
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		e, err := s.NewEvent()
		if err != nil {
			return err
		}
		if err := affine(s, f, rand.New(rand.NewPCG(11, 12)), 100); err != nil {
			return err
		}
		return errors.Join(s.Record(e), e.Wait())
	}
	must(t, run())
	for _, function := range []string{
		"cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceTotalMem", "cuDeviceGetUuid",
		"cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxRetain", "cuModuleLoadData", "cuModuleGetFunction", "cuStreamCreate", "cuEventCreate", "cuMemAlloc",
		"cuMemHostAlloc", "cuMemcpyHtoDAsync", "cuLaunchKernel", "cuMemcpyDtoHAsync", "cuEventRecord", "cuEventSynchronize",
	} {
		t.Run(function, func(t *testing.T) {
			for _, n := range []string{"1", "2"} {
				fakecuda.Set(t, "FAIL", function+":"+n+":1")
				if err := run(); err == nil && n == "1" || err != nil && !strings.Contains(err.Error(), function) {
					t.Errorf("call %s: %v", n, err)
				}
			}
		})
	}
}
