package main

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/build"
)

// TestWheelVersion holds everything in a wheel that has the version to it: pip
// refuses a wheel whose name and metadata differ.
func TestWheelVersion(t *testing.T) {
	// Other versions read differently in Go, in Python and in file names.
	if !regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$`).MatchString(build.Version) {
		t.Fatalf("version %q: want three numbers", build.Version)
	}
	for _, p := range platforms {
		name := p.wheelName()
		if parts := strings.Split(strings.TrimSuffix(name, ".whl"), "-"); len(parts) != 5 || parts[0] != "tfrec" || parts[1] != build.Version {
			t.Errorf("%s: want a wheel of tfrec %s", name, build.Version)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := p.writeWheel(path, []byte("the command"), []byte("the license")); err != nil {
			t.Fatal(err)
		}
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		info, versions := "tfrec-"+build.Version+".dist-info/", regexp.MustCompile(`(?m)^(?:Version:|Generator: tfrec) (.*)$`)
		stated := 0
		for _, f := range z.File {
			if dir, _, _ := strings.Cut(f.Name, "/"); strings.HasPrefix(dir, "tfrec-") && dir+"/" != info && dir != "tfrec-"+build.Version+".data" {
				t.Errorf("%s has %s", name, f.Name)
			}
			if f.Name != info+"METADATA" && f.Name != info+"WHEEL" {
				continue
			}
			for _, match := range versions.FindAllStringSubmatch(contents(t, f), -1) {
				stated++
				if match[1] != build.Version {
					t.Errorf("%s: %s says %q", name, f.Name, match[0])
				}
			}
		}
		if stated != 2 {
			t.Errorf("%s states the version %d times, want 2", name, stated)
		}
	}
}

func contents(t *testing.T, f *zip.File) string {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUnknownPlatform(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	err := run(out, "plan9/mips", false)
	if err == nil || !strings.Contains(err.Error(), "plan9/mips") || !strings.Contains(err.Error(), "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64") {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused run made its directory")
	}
}
