//go:build dist

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/build"
)

// host is the platform that the tests run on.
func host(t *testing.T) platform {
	t.Helper()
	for _, p := range platforms {
		if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
			return p
		}
	}
	t.Skipf("nothing is handed out for %s/%s", runtime.GOOS, runtime.GOARCH)
	return platform{}
}

func TestBinariesAndWheelsRepeat(t *testing.T) {
	p := host(t)
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := run(dir, p.os+"/"+p.arch, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{p.binary("tfrec"), p.wheelName(), "SHA256SUMS"} {
		a, err1 := os.ReadFile(filepath.Join(first, name))
		b, err2 := os.ReadFile(filepath.Join(second, name))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two builds differ (%v, %v)", name, err1, err2)
		}
	}
	got, err := exec.Command(filepath.Join(first, p.binary("tfrec")), "version").Output()
	if err != nil || !strings.HasPrefix(string(got), "tfrec "+build.Version) {
		t.Errorf("version: %q, %v", got, err)
	}
	if p.os == "linux" {
		if data, _ := os.ReadFile(filepath.Join(first, p.binary("tfrec"))); bytes.Contains(data, []byte("/lib64/ld-linux")) {
			t.Error("the binary asks for a dynamic linker")
		}
	}
	sums := exec.Command("sha256sum", "-c", "SHA256SUMS")
	sums.Dir = first
	if _, err := exec.LookPath("sha256sum"); err == nil {
		if out, err := sums.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	t.Run("pip", func(t *testing.T) { installs(t, filepath.Join(first, p.wheelName())) })
}

// installs has pip put a wheel into a fresh environment, and tfrec on its PATH.
func installs(t *testing.T, wheel string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	env := filepath.Join(t.TempDir(), "env")
	if out, err := exec.Command(python, "-m", "venv", env).CombinedOutput(); err != nil {
		t.Skipf("no venv: %v\n%s", err, out)
	}
	bin := filepath.Join(env, "bin")
	if out, err := exec.Command(filepath.Join(bin, "pip"), "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel).CombinedOutput(); err != nil {
		t.Fatalf("pip: %v\n%s", err, out)
	}
	got, err := exec.Command(filepath.Join(bin, "tfrec"), "version").Output()
	if err != nil || !strings.HasPrefix(string(got), "tfrec "+build.Version) {
		t.Errorf("version: %q, %v", got, err)
	}
	want, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	licenses, err := filepath.Glob(filepath.Join(env, "lib", "python*", "site-packages", "tfrec-*.dist-info", "LICENSE"))
	if err != nil || len(licenses) != 1 {
		t.Fatalf("licenses %q, %v", licenses, err)
	}
	if data, err := os.ReadFile(licenses[0]); err != nil || !bytes.Equal(data, want) {
		t.Errorf("the license that pip installed is another one: %v", err)
	}
	if out, err := exec.Command(filepath.Join(bin, "pip"), "uninstall", "-y", "tfrec").CombinedOutput(); err != nil {
		t.Fatalf("pip uninstall: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(bin, "tfrec")); err == nil {
		t.Error("pip left the command behind")
	}
}

func TestUnknownPlatform(t *testing.T) {
	if err := run(t.TempDir(), "plan9/mips", false); err == nil || !strings.Contains(err.Error(), "plan9/mips") {
		t.Error(err)
	}
}
