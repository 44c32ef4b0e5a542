// Command dist builds what is handed out: tfrec for each platform, Python wheels
// that carry it, and their checksums. It is `make dist`.
//
//	go run ./internal/dist -out dist
//
// The binaries are static (tag static): they need no library, so they run on any
// Linux, musl's and images from scratch included. The same sources and the same
// Go give the same bytes.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/build"
)

// platform is one that tfrec is built for.
type platform struct {
	os, arch string
	// wheel is what Python's packaging calls it: the oldest system on which a
	// static binary of this Go runs.
	wheel string
}

var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
}

func main() {
	out := flag.String("out", "dist", "`folder` to write to")
	only := flag.String("only", "", "build for this `platform` alone, such as linux/amd64")
	cloud := flag.Bool("cloud", false, "build the command with object storage, too")
	flag.Parse()
	if err := run(*out, *only, *cloud); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out, only string, cloud bool) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	out, err := filepath.Abs(out) // go builds the other module in its folder
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return err
	}
	var files []string
	for _, p := range platforms {
		if only != "" && only != p.os+"/"+p.arch {
			continue
		}
		binary := filepath.Join(out, p.binary("tfrec"))
		if err := p.build(binary, root); err != nil {
			return err
		}
		wheel := filepath.Join(out, p.wheelName())
		if err := p.writeWheel(wheel, binary, license); err != nil {
			return err
		}
		files = append(files, binary, wheel)
		if cloud {
			binary := filepath.Join(out, p.binary("tfrec-cloud"))
			if err := p.build(binary, filepath.Join(root, "cloud")); err != nil {
				return err
			}
			files = append(files, binary)
		}
	}
	if files == nil {
		return fmt.Errorf("-only %q is none of the platforms", only)
	}
	sums, err := checksums(files)
	if err != nil {
		return err
	}
	fmt.Print(sums)
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums), 0o644)
}

// moduleRoot is the folder of this module.
func moduleRoot() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the root of the module: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}

// binary names the file of a platform.
func (p platform) binary(command string) string {
	name := fmt.Sprintf("%s_%s_%s_%s", command, build.Version, p.os, p.arch)
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

// build compiles the command of the module in a folder.
func (p platform) build(to, module string) error {
	cmd := exec.Command("go", "build", "-C", module, "-trimpath", "-buildvcs=auto", "-tags", "static", "-ldflags", "-s -w", "-o", to, "./cmd/tfrec")
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s/%s: %w\n%s", p.os, p.arch, err, text)
	}
	return nil
}

// checksums are what sha256sum -c reads.
func checksums(files []string) (string, error) {
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(file))
	}
	return b.String(), nil
}
