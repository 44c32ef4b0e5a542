package main

import (
	"archive/tar"
	"crypto/x509"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/tfrec/tfrec/internal/build"
)

// TestImage builds the image of tfrec for this machine, and converts photographs in it.
func TestImage(t *testing.T) {
	p := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	out, again := t.TempDir(), t.TempDir()
	for _, dir := range []string{out, again, out} { // the last one replaces its layout
		if err := run(dir, p.String(), commands[:1]); err != nil {
			t.Fatal(err)
		}
	}
	image, digest := only(t, filepath.Join(out, "tfrec"))
	if _, other := only(t, filepath.Join(again, "tfrec")); digest != other {
		t.Errorf("two builds differ: %s and %s", digest, other)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != p.OS || config.Architecture != p.Architecture || config.Config.User != nobody ||
		strings.Join(config.Config.Entrypoint, " ") != "/tfrec" || config.Config.Labels["org.opencontainers.image.version"] != build.Version {
		t.Errorf("%+v", config)
	}
	root := unpack(t, image)
	roots, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(roots) || strings.Count(string(roots), "BEGIN CERTIFICATE") < 100 {
		t.Errorf("%d bytes of roots, %v", len(roots), err)
	}
	if os.Getuid() != 0 {
		t.Skip("not root: the command was not run in its own root")
	}
	data := filepath.Join(root, "data")
	if err := os.CopyFS(filepath.Join(data, "photos"), os.DirFS("../../../testdata/demo/photos")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o777); err != nil { // a volume that the user may write to
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
