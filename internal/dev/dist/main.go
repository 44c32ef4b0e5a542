// Command dist builds the distributions: for each platform an archive with tfrec, a Python wheel
// that carries it, and checksums. It is `make dist`.
//
//	go run ./internal/dev/dist -out dist -only linux/amd64
//
// The commands are static (tag static): they need no library, so they run on any
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
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/build"
)

// platform is one that tfrec is built for.
type platform struct {
	os, arch string
	// wheel is the platform in Python's packaging: the oldest system on which a static binary of
	// this Go runs.
	wheel string
}

var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

func main() {
	out := flag.String("out", "dist", "`directory` to write to")
	only := flag.String("only", "", "build for this `platform` alone, such as linux/amd64; default: all")
	cloud := flag.Bool("cloud", false, "build the command with object storage, too")
	flag.Parse()
	if err := run(*out, *only, *cloud); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run builds everything for the platforms chosen, and writes SHA256SUMS of it.
func run(out, only string, cloud bool) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "dist: building for %s; the first time takes about two minutes each on 2 cores\n", strings.Trim(fmt.Sprint(chosen), "[]"))
	if len(chosen) > 1 {
		fmt.Fprintln(os.Stderr, "dist: -only PLATFORM (make dist ONLY=linux/amd64) builds for one")
	}
	begun := time.Now()
	var files []string
	for _, p := range chosen {
		begun := time.Now()
		made, err := p.dist(out, root, cloud)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		files = append(files, made...)
		fmt.Fprintf(os.Stderr, "dist: %s took %.0f s\n", p, time.Since(begun).Seconds())
	}
	sums, err := checksums(files)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		return err
	}
	fmt.Print(sums)
	fmt.Fprintf(os.Stderr, "dist: %d files in %s, %.0f s\n", len(files)+1, out, time.Since(begun).Seconds())
	return nil
}

// choose returns the platform of that name, or all for none.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == only })
	if i < 0 {
		return nil, fmt.Errorf("-only %q: want one of %s", only, strings.Trim(fmt.Sprint(platforms), "[]"))
	}
	return platforms[i : i+1], nil
}

// moduleRoot is the directory of this module.
func moduleRoot() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the root of the module: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}

// dist writes the files of a platform into a directory, and returns their paths.
func (p platform) dist(out, root string, cloud bool) ([]string, error) {
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	commands := []struct{ name, module string }{{"tfrec", root}}
	if cloud {
		commands = append(commands, struct{ name, module string }{"tfrec-cloud", filepath.Join(root, "cloud")})
	}
	var made []string
	for _, c := range commands {
		command, err := p.build(c.module)
		if err != nil {
			return nil, err
		}
		archive := filepath.Join(out, p.archiveName(c.name))
		if err := writeArchive(archive, []file{
			{p.executable(c.name), command, 0o755},
			{"LICENSE", license, 0o644},
			{"README.md", readme, 0o644},
		}); err != nil {
			return nil, err
		}
		made = append(made, archive)
		if c.name == "tfrec" {
			wheel := filepath.Join(out, p.wheelName())
			if err := p.writeWheel(wheel, command, license); err != nil {
				return nil, err
			}
			made = append(made, wheel)
		}
	}
	return made, nil
}

// archiveName names the archive of a command.
func (p platform) archiveName(command string) string {
	ending := ".tar.gz"
	if p.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", command, build.Version, p.os, p.arch, ending)
}

// executable names the file of a command.
func (p platform) executable(command string) string {
	if p.os == "windows" {
		return command + ".exe"
	}
	return command
}

// build compiles the command of the module in a directory.
func (p platform) build(module string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tfrec-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, "tfrec")
	cmd := exec.Command("go", "build", "-C", module, "-trimpath", "-buildvcs=auto", "-tags", "static", "-ldflags", "-s -w", "-o", to, "./cmd/tfrec")
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(to)
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
