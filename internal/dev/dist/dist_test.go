//go:build dist

package main

import (
	"bytes"
	"errors"
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

// must runs a command and returns what it printed.
func must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestArchivesAndWheelsRepeat(t *testing.T) {
	p := host(t)
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := run(dir, p.String(), false); err != nil {
			t.Fatal(err)
		}
	}
	archive := p.archiveName("tfrec")
	for _, name := range []string{archive, p.wheelName(), "SHA256SUMS"} {
		a, err1 := os.ReadFile(filepath.Join(first, name))
		b, err2 := os.ReadFile(filepath.Join(second, name))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two builds differ (%v, %v)", name, err1, err2)
		}
	}
	if _, err := exec.LookPath("sha256sum"); err == nil {
		sums := exec.Command("sha256sum", "-c", "SHA256SUMS")
		sums.Dir = first
		if out, err := sums.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	t.Run("archive", func(t *testing.T) {
		dir := t.TempDir()
		must(t, "tar", "-xf", filepath.Join(first, archive), "-C", dir)
		command := filepath.Join(dir, p.executable("tfrec"))
		got := must(t, command, "version")
		if !strings.HasPrefix(got, "tfrec "+build.Version) {
			t.Errorf("version: %q", got)
		}
		// A static build must not send anyone to install what it would not load.
		if !strings.Contains(got, "loads no libraries") || strings.Contains(got, "apt install") {
			t.Errorf("version: %q", got)
		}
		if data, _ := os.ReadFile(command); p.os == "linux" && bytes.Contains(data, []byte("/lib64/ld-linux")) {
			t.Error("the command asks for a dynamic linker")
		}
	})
	t.Run("pip", func(t *testing.T) { installs(t, filepath.Join(first, p.wheelName())) })
}

// pythonEnv makes a fresh virtual environment, and returns its directory of
// commands.
func pythonEnv(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	env := filepath.Join(t.TempDir(), "env")
	if out, err := exec.Command(python, "-m", "venv", env).CombinedOutput(); err != nil {
		t.Skipf("python3 -m venv does not work here: %v\n%s", err, out)
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(env, "Scripts")
	}
	return filepath.Join(env, "bin")
}

// installs has pip put a wheel into a fresh environment, and tfrec on its PATH.
func installs(t *testing.T, wheel string) {
	bin := pythonEnv(t)
	pip, python := filepath.Join(bin, "pip"), filepath.Join(bin, "python")
	must(t, pip, "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)

	version := must(t, filepath.Join(bin, "tfrec"), "version")
	if !strings.HasPrefix(version, "tfrec "+build.Version+",") && !strings.HasPrefix(version, "tfrec "+build.Version+" (") {
		t.Errorf("version: %q", version)
	}
	// pip has checked the name of the file against the metadata.
	if got := must(t, python, "-c", "from importlib import metadata; print(metadata.version('tfrec'))"); strings.TrimSpace(got) != build.Version {
		t.Errorf("the metadata say %q", got)
	}
	if got := must(t, python, "-m", "tfrec", "version"); got != version {
		t.Errorf("python -m tfrec version: %q, want %q", got, version)
	}
	var exit *exec.ExitError
	if err := exec.Command(python, "-m", "tfrec", "version", "--no-such-flag", "a b").Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("python -m tfrec with an unknown flag: %v, want exit status 2", err)
	}

	want, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	licenses, err := filepath.Glob(filepath.Join(bin, "..", "lib", "python*", "site-packages", "tfrec-*.dist-info", "LICENSE"))
	if err != nil || len(licenses) != 1 {
		t.Fatalf("licenses %q, %v", licenses, err)
	}
	if data, err := os.ReadFile(licenses[0]); err != nil || !bytes.Equal(data, want) {
		t.Errorf("the license that pip installed is another one: %v", err)
	}
	must(t, pip, "uninstall", "-y", "tfrec")
	if _, err := os.Stat(filepath.Join(bin, "tfrec")); err == nil {
		t.Error("pip left the command behind")
	}

	// In a directory of its own the command is not where the metadata say.
	target := t.TempDir()
	must(t, pip, "install", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", target, wheel)
	cmd := exec.Command(python, "-m", "tfrec", "version")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PYTHONPATH="+target)
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != version {
		t.Errorf("python -m tfrec version after --target: %q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(target, "bin", "tfrec")); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(python, "-m", "tfrec", "version")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PYTHONPATH="+target)
	if got, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(got), "--force-reinstall") || strings.Contains(string(got), "Traceback") {
		t.Errorf("python -m tfrec without the command: %q, %v", got, err)
	}
}
