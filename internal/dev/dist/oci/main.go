// Command oci builds images of tfrec for containers, without a daemon: directories with the layout of
// the Open Container Initiative, which skopeo, crane, podman and containerd read. It is `make oci`.
//
//	go run . -out ../../../../dist/oci -only linux/amd64
//	go run . -rootfs DIR                                # the files of tfrec's image, for the Dockerfile
//
// An image has a static command, the roots of certificates that clouds' addresses need, and a /tmp:
// no shell, no libraries, no root. The same sources and the same Go give the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// command is one that gets an image of its own.
type command struct {
	name   string
	module string // below the root of the repository
	source string // its package, in the module
	title  string
}

var commands = []command{
	{"tfrec", "cloud", "./cmd/tfrec", "tfrec with object storage"},
	{"tfrec-beam", "beam", "./cmd/tfrec-beam", "tfrec whose conversions run on Apache Beam"},
}

var platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

func main() {
	out := flag.String("out", "dist/oci", "`directory` that gets one layout for each command")
	only := flag.String("only", "", "build for this `platform` alone, such as linux/amd64; default: all")
	rootfs := flag.String("rootfs", "", "write only the files of tfrec's image, for this machine's architecture, to a new `directory`")
	flag.Parse()
	var err error
	if *rootfs != "" {
		err = writeRoot(*rootfs, commands[0])
	} else {
		err = run(*out, *only, commands)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oci:", err)
		os.Exit(1)
	}
}

// run writes a layout for each command, with an image for each platform, and prints the digests.
func run(out, only string, commands []command) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	root, err := repository()
	if err != nil {
		return err
	}
	for _, c := range commands {
		index := mutate.IndexMediaType(empty.Index, "application/vnd.oci.image.index.v1+json")
		for _, p := range chosen {
			fmt.Fprintf(os.Stderr, "oci: building %s for %s; the first time takes some minutes\n", c.name, p)
			binary, err := c.build(root, p)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", c.name, p, err)
			}
			image, err := c.image(binary, p)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", c.name, p, err)
			}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &p}})
		}
		digest, err := write(filepath.Join(out, c.name), index)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %s\n", digest, filepath.Join(out, c.name))
	}
	return nil
}

// writeRoot writes the files of a command's image to a new directory.
func writeRoot(dir string, c command) error {
	root, err := repository()
	if err != nil {
		return err
	}
	binary, err := c.build(root, v1.Platform{OS: "linux", Architecture: runtime.GOARCH})
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, entries := range c.layers(binary) {
		for _, e := range entries {
			to, mode := filepath.Join(dir, e.name), fs.FileMode(e.mode).Perm()
			if e.data == nil {
				err = os.Mkdir(to, mode)
			} else {
				err = os.WriteFile(to, e.data, mode)
			}
			if e.mode&0o1000 != 0 {
				mode |= fs.ModeSticky
			}
			if err == nil {
				err = os.Chmod(to, mode) // whatever the umask is
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// write replaces a layout with one that holds an index of images, and returns its digest.
func write(dir string, index v1.ImageIndex) (v1.Hash, error) {
	if err := clear(dir); err != nil {
		return v1.Hash{}, err
	}
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "latest"})); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// clear removes an earlier layout. Other directories are left alone.
func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return fmt.Errorf("%s holds other files: choose another -out", dir)
	}
	return os.RemoveAll(dir)
}

// choose returns the platform of that name, or all for none.
func choose(only string) ([]v1.Platform, error) {
	if only == "" {
		return platforms, nil
	}
	for _, p := range platforms {
		if p.String() == only {
			return []v1.Platform{p}, nil
		}
	}
	return nil, fmt.Errorf("-only %q: want linux/amd64 or linux/arm64", only)
}

// repository is the root of the checkout.
func repository() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tfrec/tfrec").Output()
	if err != nil {
		return "", fmt.Errorf("find the root of the repository (run this in its own directory): %w", err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// build compiles the command as a static binary.
func (c command) build(root string, p v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tfrec-oci-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, c.name)
	cmd := exec.Command("go", "build", "-C", filepath.Join(root, c.module), "-trimpath", "-buildvcs=auto", "-tags", "static", "-ldflags", "-s -w", "-o", to, c.source)
	cmd.Env = append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Architecture, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(to)
}
