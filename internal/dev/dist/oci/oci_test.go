package main

import (
	"archive/tar"
	"crypto/x509"
	"debug/elf"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/tfrec/tfrec/internal/build"
)

// TestImages builds the images for this machine, and converts photographs in them.
func TestImages(t *testing.T) {
	p := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	out, again := t.TempDir(), t.TempDir()
	for _, dir := range []string{out, again, out} { // the last one replaces its layouts
		if err := run(dir, p.String(), commands); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			image, digest := only(t, filepath.Join(out, c.name))
			if _, other := only(t, filepath.Join(again, c.name)); digest != other {
				t.Errorf("two builds differ: %s and %s", digest, other)
			}
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if config.OS != p.OS || config.Architecture != p.Architecture || config.Config.User != nobody ||
				strings.Join(config.Config.Entrypoint, " ") != "/"+c.name || config.Config.Labels["org.opencontainers.image.version"] != build.Version {
				t.Errorf("%+v", config)
			}
			root := unpack(t, image)
			roots, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
			if err != nil || !x509.NewCertPool().AppendCertsFromPEM(roots) || strings.Count(string(roots), "BEGIN CERTIFICATE") < 100 {
				t.Errorf("%d bytes of roots, %v", len(roots), err)
			}
			checkStatic(t, filepath.Join(root, c.name))
			if c.name == "tfrec" {
				sameAsDockerfile(t, root, config)
			}
			convertInside(t, root, config)
		})
	}
}

// convertInside converts photographs in an image that is unpacked.
func convertInside(t *testing.T, root string, config *v1.ConfigFile) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("not root: the command was not run in its own root")
	}
	data := filepath.Join(root, "data")
	if err := os.CopyFS(filepath.Join(data, "photos"), os.DirFS("../../../../testdata/demo/photos")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o777); err != nil { // a volume that the user may write to
		t.Fatal(err)
	}
	// Runtimes of containers bring this file; prism's workers look for localhost.
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := inside(t, root, config, "version"); !strings.HasPrefix(got, "tfrec "+build.Version) {
		t.Errorf("version: %q", got)
	}
	inside(t, root, config, "convert", "images", "data/photos", "data/out", "--resize", "64", "--quiet")
	if got := inside(t, root, config, "verify", "data/out", "--deep"); !strings.Contains(got, "ok") {
		t.Errorf("verify: %q", got)
	}
}

// checkStatic checks that a program needs no loader and no libraries.
func checkStatic(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is not static: it has %v", path, p.Type)
		}
	}
}

// sameAsDockerfile compares an image with what the Dockerfile makes: the files that it copies and its
// settings.
func sameAsDockerfile(t *testing.T, root string, config *v1.ConfigFile) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "rootfs")
	if err := writeRoot(copied, commands[0]); err != nil {
		t.Fatal(err)
	}
	got, want := list(t, copied), list(t, root)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs from that which the Dockerfile copies, or is not copied", name)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("the Dockerfile copies more: %q", slices.Sorted(maps.Keys(got)))
	}
	text, err := os.ReadFile("../../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(text), "FROM scratch\n")
	words := func(of []string) string { return `["` + strings.Join(of, `", "`) + `"]` }
	c := config.Config
	settings := "COPY --from=build /rootfs/ /\nUSER " + c.User + "\nWORKDIR " + c.WorkingDir + "\nENV " + strings.Join(c.Env, " ") +
		"\nENTRYPOINT " + words(c.Entrypoint) + "\nCMD " + words(c.Cmd) + "\n"
	if last != settings {
		t.Errorf("the Dockerfile has\n%swant\n%s", last, settings)
	}
}

// list returns the modes and the contents of all files below a directory, by path.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[strings.TrimPrefix(path, dir)] = info.Mode().String() + " " + string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inside runs the command of an image in its own root, with its user and environment.
func inside(t *testing.T, root string, config *v1.ConfigFile, args ...string) string {
	t.Helper()
	cmd := exec.Command("chroot", append([]string{"--userspec=" + config.Config.User, root, config.Config.Entrypoint[0]}, args...)...)
	cmd.Env = config.Config.Env
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, got)
	}
	return string(got)
}

// only returns the one image of a layout, which it checks, and the digest of its index.
func only(t *testing.T, dir string) (v1.Image, v1.Hash) {
	t.Helper()
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	named, err := top.IndexManifest()
	if err != nil || len(named.Manifests) != 1 {
		t.Fatalf("%+v, %v", named, err)
	}
	index, err := top.ImageIndex(named.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%+v, %v", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image, named.Manifests[0].Digest
}

// unpack puts the layers of an image into a directory.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	layers := mutate.Extract(image)
	defer layers.Close()
	for r := tar.NewReader(layers); ; {
		h, err := r.Next()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		to, mode := filepath.Join(root, h.Name), h.FileInfo().Mode()
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else {
			err = writeFrom(to, r)
		}
		if err == nil {
			err = os.Chmod(to, mode.Perm()|mode&fs.ModeSticky)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func writeFrom(to string, r io.Reader) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, r)
	return err
}

// TestOtherFiles are not removed, and unknown platforms are refused.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := clear(dir); err == nil || !strings.Contains(err.Error(), "choose another -out") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "letter.txt")); err != nil {
		t.Error(err)
	}
	if err := run(dir, "plan9/mips", commands); err == nil || !strings.Contains(err.Error(), "linux/arm64") {
		t.Error(err)
	}
}
