package gputest_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// converted is a conversion: its directory, what it said, and its exit code.
type converted struct {
	out, stderr string
	code        int
}

// convertPhotos converts photographs with the command.
func convertPhotos(t *testing.T, driver, variable string, args ...string) (c converted) {
	t.Helper()
	if *binary == "" {
		t.Skip("no -tfrec given: make gpu-test")
	}
	return convertTo(t, t.TempDir(), driver, variable, args...)
}

// convertTo is convertPhotos to a directory where there may be something.
func convertTo(t *testing.T, out, driver, variable string, args ...string) (c converted) {
	t.Helper()
	c.out = out
	args = append([]string{"convert", "images", "../../../testdata/demo/photos", c.out, "--quiet=false", "--json", "--shards", "4", "--name", "photos"}, args...)
	command := exec.Command(*binary, args...)
	command.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver, variable)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	c.stderr, c.code = stderr.String(), command.ProcessState.ExitCode()
	return c
}

// files are those of a set, without this machine's state.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".tfrec" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(want) < 8 || len(got) != len(want) {
		t.Errorf("%d files; want %d", len(got), len(want))
	}
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s has other bytes, or isn't there", name)
		}
	}
}

// TestConvert makes sets with and without a GPU, and with one that fails: the bytes are
// the same, and what happened is said once.
func TestConvert(t *testing.T) {
	fake := fakeDriver(t)
	for _, set := range []struct {
		name string
		args []string
		most string // what is said of a GPU that does all it can
	}{
		{"jpeg", []string{"--resize", "64"}, "40 images on tfrec's fake GPU 0\n"},
		{"raw", []string{"--resize", "48x32", "--fit", "pad", "--filter", "lanczos3", "--encode", "raw"}, "40 images on tfrec's fake GPU 0\n"},
		{"float32", []string{"--resize", "32", "--encode", "float32", "--mean", "0.4,0.5,0.6", "--std", "0.2,0.3,0.4"}, "40 images on tfrec's fake GPU 0\n"},
		{"variants", []string{"--augment", "random_resized_crop:40|hflip|rotate:15|color_jitter:0.4,0.4,0.4,0.1|one_of:p=0.3(jpeg:50..90)", "--copies", "2"}, "on the CPU (jpeg "},
	} {
		t.Run(set.name, func(t *testing.T) {
			cpu := convertPhotos(t, fake, "", set.args...)
			if cpu.code != 0 || strings.Contains(cpu.stderr, "GPU") {
				t.Fatalf("exit %d: %s", cpu.code, cpu.stderr)
			}
			want := files(t, cpu.out)
			for _, c := range []struct {
				name, driver, variable, mode string
				says                         string
			}{
				{"on", fake, "", "on", set.most},
				{"auto", fake, "", "auto", set.most},
				{"no driver", t.TempDir(), "", "auto", "note: no NVIDIA driver"},
				{"no GPU", fake, "FAKECUDA_DEVICES=0", "auto", "note: the NVIDIA driver finds no GPU: continuing on the CPU\n"},
				{"an old driver", fake, "FAKECUDA_DRIVER=11020", "auto", "does not take the kernels of this program"},
				{"a kernel fails", fake, "FAKECUDA_FAIL=kernel:3:719", "auto", "this process cannot use it any more: continuing on the CPU\n"},
				{"no memory", fake, "FAKECUDA_MEMORY=20000", "on", "for lack of memory"},
				{"little memory", fake, "FAKECUDA_MEMORY=9000000", "on", ""},
			} {
				t.Run(c.name, func(t *testing.T) {
					got := convertPhotos(t, c.driver, c.variable, append(set.args, "--gpu", c.mode)...)
					if got.code != 0 || !strings.Contains(got.stderr, c.says) || strings.Count(got.stderr, "continuing on the CPU") > 1 {
						t.Errorf("exit %d: %s\nwant %q", got.code, got.stderr, c.says)
					}
					sameFiles(t, files(t, got.out), want)
				})
			}
		})
	}
}

// TestConvertWithoutTheGPUThatMustBe fails with one sentence, and another run continues from what
// is finished.
func TestConvertWithoutTheGPUThatMustBe(t *testing.T) {
	fake := fakeDriver(t)
	want := files(t, convertPhotos(t, fake, "", "--resize", "64").out)
	for _, c := range []struct{ name, driver, variable, says string }{
		{"no driver", t.TempDir(), "", "--gpu on: no NVIDIA driver"},
		{"no GPU", fake, "FAKECUDA_DEVICES=0", "--gpu on: the NVIDIA driver finds no GPU\n"},
		{"a kernel fails", fake, "FAKECUDA_FAIL=kernel:3:719", "GPU 0 (tfrec's fake GPU 0) failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := convertPhotos(t, c.driver, c.variable, "--resize", "64", "--gpu", "on")
			if got.code != 1 || !strings.Contains(got.stderr, c.says) || strings.Contains(got.stderr, "continuing") {
				t.Errorf("exit %d: %s\nwant %q", got.code, got.stderr, c.says)
			}
			if _, err := os.Stat(filepath.Join(got.out, "manifest.json")); err == nil {
				t.Error("there is a manifest")
			}
			again := convertTo(t, got.out, fake, "", "--resize", "64")
			if again.code != 0 {
				t.Errorf("without a GPU: exit %d: %s", again.code, again.stderr)
			}
			sameFiles(t, files(t, again.out), want)
		})
	}
}
