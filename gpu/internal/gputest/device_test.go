package gputest_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// report is what device.sh writes to report.json.
type report struct {
	Photographs int
	CPU         string
	GPU         struct {
		Usable  bool
		Devices []struct{ Name string }
	}
	Steps []struct {
		Step, Reason, Log string
		OK                bool
		Exit              int
	}
	Figures []struct {
		Step, Name, Unit string
		Value            float64
	}
}

// runDevice runs device.sh with binaries of a directory, and returns what it said, its exit status
// and its report, as JSON and as Markdown.
func runDevice(t *testing.T, binaries, variable string, args ...string) (said string, code int, r report, markdown string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report")
	c := exec.Command("../../device.sh", append([]string{"-b", binaries, "-o", out, "-s", t.TempDir(), "-p", "../../../testdata/demo/photos",
		"-n", "43", "-t", "1x", "-c", "2", "-q", "-r", "^(TestDevice|TestSince|TestReopen)$"}, args...)...)
	c.Env = append(os.Environ(), variable)
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	tables, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if _, err := os.Stat(filepath.Join(out, s.Log)); err != nil {
			t.Error(err)
		}
		t.Cleanup(func() {
			if log, err := os.ReadFile(filepath.Join(out, s.Log)); !s.OK && t.Failed() {
				t.Logf("%s: %s\n%s%v", s.Step, s.Reason, log, err)
			}
		})
	}
	return string(text), c.ProcessState.ExitCode(), r, string(tables)
}

// TestDeviceScript runs device.sh to its end: each step passes, and has figures.
func TestDeviceScript(t *testing.T) {
	fakeDriver(t)
	if *binary == "" {
		t.Skip("no -tfrec given: make gpu-test")
	}
	said, code, r, markdown := runDevice(t, filepath.Dir(*binary), "")
	if code != 0 || strings.Contains(said, "failed") {
		t.Errorf("exit %d: %s", code, said)
	}
	if !r.GPU.Usable || len(r.GPU.Devices) != 1 || r.GPU.Devices[0].Name != "tfrec's fake GPU 0" || r.Photographs != 43 || r.CPU == "" {
		t.Errorf("%+v", r.GPU)
	}
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, s.Step)
		if !s.OK || s.Exit != 0 || s.Reason != "" {
			t.Errorf("%+v", s)
		}
	}
	all := []string{"system", "conformance", "tolerance", "reopen", "decode", "kernels", "streams", "convert", "profile"}
	if !slices.Equal(steps, all) {
		t.Errorf("steps %q; want %q", steps, all)
	}
	figures := map[string]float64{}
	for _, f := range r.Figures {
		figures[f.Step+": "+f.Name+": "+f.Unit] = f.Value
	}
	for figure, want := range map[string]float64{ // 0: any above that
		"system: this machine: cores":                            0,
		"conformance: gpu-cuda.test: pass":                       1,
		"conformance: gpu-nvjpeg.test: pass":                     1,
		"conformance: gpu.test: pass":                            1,
		"reopen: gpu.test: pass":                                 1,
		"decode: Decode/nvjpeg-2: images/s":                      0,
		"kernels: Kernels/heavy-2: images/s":                     0,
		"kernels: Render/resize/cpu-2: images/s":                 0,
		"streams: Streams/decode=true/streams=4-2: images/s":     0,
		"streams: Images/heavy/gpu-decode-2: images/s":           0,
		"convert: light policy, --gpu off: times --gpu off":      1,
		"convert: light policy, --gpu on: CPU ms/image":          0,
		"convert: heavy policy, --gpu on --gpu-decode: images/s": 0,
		"convert: heavy policy, --gpu on: MiB at most":           0,
		"profile: Phases/heavy-2: turn-ns/image":                 0,
		"profile: Phases/resize-2: decode-ns/image":              0,
	} {
		got, ok := figures[figure]
		if !ok || want == 0 && got <= 0 || want != 0 && got != want {
			t.Errorf("%s: %v, %v; want %v", figure, got, ok, want)
		}
	}
	for _, figure := range []string{"tolerance: planes, hardware: levels at most", "tolerance: resized, planes true: levels on average, of the worst image"} {
		if got, ok := figures[figure]; !ok || got != 0 {
			t.Errorf("%s: %v, %v; the fake nvJPEG has the CPU's samples", figure, got, ok)
		}
	}
	for _, row := range []string{"\n| convert | passed | ", "\n\nconvert:\n\n| | s | images/s | times --gpu off | CPU ms/image | MiB at most |\n|---|---|---|---|---|---|\n| light policy, --gpu off | "} {
		if !strings.Contains(markdown, row) {
			t.Errorf("no %q in\n%s", row, markdown)
		}
	}
}

// TestDeviceScriptFails has steps of device.sh fail: the others run, and the report and the exit
// status say so.
func TestDeviceScriptFails(t *testing.T) {
	fakeDriver(t)
	if *binary == "" {
		t.Skip("no -tfrec given: make gpu-test")
	}
	some := t.TempDir() // without gpu-nvjpeg.test
	for _, name := range []string{"tfrec-cuda", "gpu.test", "gpu-cuda.test"} {
		if err := os.Symlink(filepath.Join(filepath.Dir(*binary), name), filepath.Join(some, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		variable string
		steps    []string
		reasons  []string // "": the step passes
	}{
		{"FAKECUDA_TINT=30", []string{"conformance", "tolerance", "reopen"}, []string{"gpu-nvjpeg.test", "--- FAIL: Test", ""}},
		{"FAKECUDA_DEVICES=0", []string{"system", "decode"}, []string{"there is no GPU that nvJPEG decodes on", "--- FAIL: BenchmarkDecode"}},
		{"FAKECUDA_FAIL=kernel:1:719", []string{"convert", "system"}, []string{"failed: light policy, --gpu on", ""}},
	} {
		said, code, r, markdown := runDevice(t, some, c.variable, c.steps...)
		if code != 1 || len(r.Steps) != len(c.steps) {
			t.Errorf("%s: exit %d, %+v: %s", c.variable, code, r.Steps, said)
			continue
		}
		for i, s := range r.Steps {
			if s.Step != c.steps[i] || s.OK != (c.reasons[i] == "") || s.OK != (s.Exit == 0) || !strings.Contains(s.Reason, c.reasons[i]) {
				t.Errorf("%s: %+v; want reason %q", c.variable, s, c.reasons[i])
			}
			if failed := strings.Contains(markdown, "| "+s.Step+" | **failed**: "); failed == s.OK {
				t.Errorf("%s: %s: the table says that it failed: %v", c.variable, s.Step, failed)
			}
			if !s.OK && !strings.Contains(said, s.Step+" ...\n  failed: "+s.Reason) {
				t.Errorf("%s: %s: it says\n%s", c.variable, s.Step, said)
			}
		}
	}
	if out, err := exec.Command("../../device.sh", "-b", some, "warp").CombinedOutput(); err == nil || !strings.Contains(string(out), "STEP...") {
		t.Errorf("a step that there is not: %v\n%s", err, out)
	}
}
