package gputest_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var binary = flag.String("tfrec", "", "the tfrec with CUDA in it that `make gpu` built; without it, tests of the command are skipped")

// tfrec runs the command with a directory in which libcuda.so.1 is looked for, and wants
// it to succeed.
func tfrec(t *testing.T, driver string, environment []string, args ...string) string {
	t.Helper()
	if *binary == "" {
		t.Skip("no -tfrec given: make gpu-test")
	}
	c := exec.Command(*binary, args...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") })
	c.Env = append(append(c.Env, "LD_LIBRARY_PATH="+driver), environment...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func fakeDriver(t *testing.T) string {
	t.Helper()
	directories := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	if len(directories) == 0 {
		t.Skip("the fake driver is not found through LD_LIBRARY_PATH: make gpu-test")
	}
	return directories[0]
}

// libraries is a directory with some of the fake libraries.
func libraries(t *testing.T, fake string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		if err := os.Symlink(filepath.Join(fake, file), filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// driverAlone is a directory with the fake driver and no nvJPEG.
func driverAlone(t *testing.T, fake string) string {
	t.Helper()
	return libraries(t, fake, "libcuda.so.1", "libnvcuvid.so.1")
}

// TestVerb runs `tfrec gpu` with the driver, with one that is missing something, and
// without.
func TestVerb(t *testing.T) {
	fake := fakeDriver(t)
	for _, c := range []struct {
		name, driver, variable string
		args                   []string
		want                   []string
	}{
		{"a GPU", fake, "", nil, []string{"NVIDIA driver: for CUDA 12.2\nGPU 0: tfrec's fake GPU 0, compute capability 9.0, 4 multiprocessors, 1.0 GiB of which 1.0 GiB are free\n  nvJPEG 12.2.2 (libnvjpeg.so.12): hardware, GPU, hybrid\n"}},
		{"no chip for JPEG", fake, "FAKECUDA_HARDWARE=0", nil, []string{"\n  nvJPEG 12.2.2 (libnvjpeg.so.12): GPU, hybrid\n"}},
		{"a slice without a chip for JPEG", fake, "FAKECUDA_MIG=1 FAKECUDA_HARDWARE=0", []string{"--json"}, []string{`"name":"tfrec's fake GPU 0 MIG 1g.10gb","uuid":"MIG-64656667-6869-6a6b-6c6d-6e6f70717273"`, `"backends":["GPU","hybrid"]`}},
		{"no chip for JPEG, JSON", fake, "FAKECUDA_HARDWARE=0", []string{"--json"}, []string{`"backends":["GPU","hybrid"],"missing":[{"backend":"hardware","failed":false,"reason":"architecture mismatch (7)"}]}`}},
		{"a chip for JPEG that fails", fake, "FAKECUDA_FAIL=nvjpegCreateEx:1:6", nil, []string{"(libnvjpeg.so.12): GPU, hybrid\n  nvJPEG's backend \"hardware\" does not start: execution failed (6)\n"}},
		{"a chip for JPEG that fails, JSON", fake, "FAKECUDA_FAIL=nvjpegCreateEx:1:6", []string{"--json"}, []string{`"missing":[{"backend":"hardware","failed":true,"reason":"execution failed (6)"}]}`}},
		{"no video", libraries(t, fake, "libcuda.so.1", "libnvjpeg.so.12"), "", nil, []string{"CUDA 12.2\nNo library for video (libnvcuvid.so.1: ", "start the container with video in NVIDIA_DRIVER_CAPABILITIES\nGPU 0: "}},
		{"no video, JSON", libraries(t, fake, "libcuda.so.1", "libnvjpeg.so.12"), "", []string{"--json"}, []string{`"driver":"12.2","no_video":"libnvcuvid.so.1: cannot open`}},
		{"nvJPEG that fails", fake, "FAKECUDA_FAIL=nvjpegCreateEx:1+:6", nil, []string{"are free\n  no nvJPEG: libnvjpeg.so.12 answers execution failed (6)\n"}},
		{"no nvJPEG", driverAlone(t, fake), "", nil, []string{"are free\n  no nvJPEG: none of libnvjpeg.so.12, libnvjpeg.so.11 is installed; later ones are not for the driver, which is for CUDA 12.2\n"}},
		{"no nvJPEG, JSON", driverAlone(t, fake), "", []string{"--json"}, []string{`"usable":true,"no_nvjpeg":"no nvJPEG: none of`}},
		{"JSON", fake, "FAKECUDA_DEVICES=2", []string{"--json"}, []string{`"usable":true,"driver":"12.2","devices":`, `"index":1,"name":"tfrec's fake GPU 1","uuid":"GPU-10111213-`, `"memory_free":1073741824`, `"nvjpeg":{"library":"libnvjpeg.so.12","version":"12.2.2","backends":["hardware","GPU","hybrid"]}`}},
		{"no driver", t.TempDir(), "", nil, []string{"No GPU is used: no NVIDIA driver (libcuda.so.1: "}},
		{"an old driver", filepath.Join(fake, "old"), "", nil, []string{"No GPU is used: the NVIDIA driver is too old: it has no "}},
		{"no GPU", fake, "FAKECUDA_DEVICES=0", nil, []string{"No GPU is used: the NVIDIA driver finds no GPU\n"}},
		{"no GPU, JSON", fake, "FAKECUDA_DEVICES=0", []string{"--json"}, []string{`"usable":false,"reason":"the NVIDIA driver finds no GPU","driver":"","devices":[]`}},
		{"an old GPU", fake, "FAKECUDA_CAPABILITY=61", nil, []string{"GPU 0: tfrec's fake GPU 0, compute capability 6.1, ", "; not used: GPU 0 (tfrec's fake GPU 0) has compute capability 6.1; 7.0 (Volta) or later is needed\n"}},
		{"a full GPU", fake, "FAKECUDA_FAIL=cuDevicePrimaryCtxRetain:1:2", []string{"--json"}, []string{`"usable":false,"reason":"GPU 0 (tfrec's fake GPU 0) has no memory left to be opened`, `"memory_free":0`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := tfrec(t, c.driver, strings.Fields(c.variable), append([]string{"gpu"}, c.args...)...)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// TestVersion checks that the command starts without a driver.
func TestVersion(t *testing.T) {
	if out := tfrec(t, t.TempDir(), nil, "version"); !strings.HasPrefix(out, "tfrec ") {
		t.Error(out)
	}
}
