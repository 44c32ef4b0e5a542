//go:build dist

package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/build"
)

// install runs a line of the README and returns the path of the command that it
// installed, or "" when the line installs none.
type install func(t *testing.T, c *checkout, line string) (command string)

// ways are the lines of the README's section Install. The lines that begin with
// "docker" are run where Docker has a daemon; TestDockerfile stands for them
// elsewhere.
var ways = map[string]install{
	"go install github.com/tfrec/tfrec/cmd/tfrec@latest": goInstall,
	`make install PREFIX="$HOME/.local"`:                 makeInstall,
	"make dist ONLY=linux/amd64":                         makeDist,
	"pip install --no-index --find-links dist tfrec":     pipInstall,
	`mkdir -p "$HOME/.local/bin" && tar -xzf dist/tfrec_*_linux_amd64.tar.gz -C "$HOME/.local/bin" tfrec`: unpack,
	"docker build -t tfrec .": docker,
	`docker run --rm -u "$(id -u)" -v "$PWD:/data" -w /data tfrec version`: docker,
}

// TestReadmeInstalls runs the lines of the README's section Install, in order, in
// a fresh clone of this checkout, with an empty home directory and nothing of
// tfrec on the PATH. Only Go's build cache is shared.
func TestReadmeInstalls(t *testing.T) {
	if got := runtime.GOOS + "/" + runtime.GOARCH; got != "linux/amd64" {
		t.Skipf("the README's lines are for linux/amd64, this is %s", got)
	}
	lines := readmeLines(t)
	known := slices.Collect(maps.Keys(ways))
	if got, want := slices.Sorted(slices.Values(lines)), slices.Sorted(slices.Values(known)); !slices.Equal(got, want) {
		t.Fatalf("the README installs by\n%s\nand this test knows\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c := newCheckout(t)
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			home, err := os.MkdirTemp(filepath.Dir(c.dir), "home-")
			if err != nil {
				t.Fatal(err)
			}
			c.env["HOME"] = home
			command := ways[line](t, c, line)
			if command == "" {
				return
			}
			if got := c.sh(t, command+" version"); !strings.HasPrefix(got, "tfrec "+build.Version) {
				t.Errorf("%s version: %q", command, got)
			}
		})
	}
}

// readmeLines returns the commands of the README's section Install.
func readmeLines(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Install\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// checkout is a clone of this checkout, and the environment of its commands.
type checkout struct {
	dir    string // the clone
	origin string // the repository that it was cloned from
	env    map[string]string
}

// newCheckout clones the files that git tracks or would track, in their current state, tagged with
// the version.
func newCheckout(t *testing.T) *checkout {
	t.Helper()
	for _, tool := range []string{"git", "make", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	c := &checkout{dir: root, origin: filepath.Join(temp, "origin.git"), env: map[string]string{
		"PATH": os.Getenv("PATH"),
		"HOME": filepath.Join(temp, "home"),
		// What the README's lines leave out: object storage takes minutes to compile.
		"DIST_FLAGS": "",
	}}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOTOOLCHAIN"} {
		c.env[name] = strings.TrimSpace(must(t, "go", "env", name))
	}
	for _, name := range []string{"TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"} {
		if value := os.Getenv(name); value != "" {
			c.env[name] = value
		}
	}
	git := "git --git-dir=" + c.origin + " --work-tree=. -c user.name=tfrec -c user.email=tfrec@localhost "
	c.sh(t, "git init --quiet --bare "+c.origin)
	c.sh(t, git+"add --all")
	c.sh(t, git+"commit --quiet --message=checkout")
	c.sh(t, git+"tag v"+build.Version)
	clone := filepath.Join(temp, "tfrec")
	c.sh(t, "git clone --quiet "+c.origin+" "+clone)
	c.dir = clone
	return c
}

// sh runs a line in the clone and returns what it printed.
func (c *checkout) sh(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = c.dir, []string{}
	for name, value := range c.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// with returns a checkout whose environment has more variables.
func (c *checkout) with(env map[string]string) *checkout {
	clone := *c
	clone.env = maps.Clone(c.env)
	maps.Copy(clone.env, env)
	return &clone
}

// published returns a checkout for whose commands the clone's origin is the repository on GitHub.
// The go command does everything else as it would there: it finds the newest tag and packs the
// module. Its module cache is fresh, and filled from the local one, whose modules were verified by
// go.sum.
func published(c *checkout) *checkout {
	return c.with(map[string]string{
		"GOPRIVATE":          "github.com/tfrec/tfrec",
		"GONOPROXY":          "",
		"GOPROXY":            "file://" + c.env["GOMODCACHE"] + "/cache/download," + c.env["GOPROXY"],
		"GOSUMDB":            "off",
		"GOMODCACHE":         filepath.Join(c.env["HOME"], "go", "pkg", "mod"),
		"GOFLAGS":            "-modcacherw -trimpath", // to be removed; to share the build cache
		"GIT_CONFIG_COUNT":   "1",
		"GIT_CONFIG_KEY_0":   "url.file://" + c.origin + ".insteadOf",
		"GIT_CONFIG_VALUE_0": "https://github.com/tfrec/tfrec",
	})
}

func goInstall(t *testing.T, c *checkout, line string) string {
	home := c.env["HOME"]
	c = published(c)
	c.dir = home // not in the module
	c.sh(t, line)
	command := filepath.Join(home, "go", "bin", "tfrec")
	if got := c.sh(t, "go version -m "+command); !regexp.MustCompile(`\tmod\tgithub.com/tfrec/tfrec\tv` + regexp.QuoteMeta(build.Version) + `\s`).MatchString(got) {
		t.Errorf("want tfrec v%s:\n%s", build.Version, got)
	}
	return command
}

func makeInstall(t *testing.T, c *checkout, line string) string {
	c.sh(t, line)
	local := filepath.Join(c.env["HOME"], ".local")
	for _, name := range []string{"bash-completion/completions/tfrec", "zsh/site-functions/_tfrec", "fish/vendor_completions.d/tfrec.fish"} {
		if data, err := os.ReadFile(filepath.Join(local, "share", name)); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	return filepath.Join(local, "bin", "tfrec")
}

// makeDist fills dist, where pipInstall and unpack look.
func makeDist(t *testing.T, c *checkout, line string) string {
	if out := c.sh(t, line); !regexp.MustCompile(`linux/amd64 took \d+ s`).MatchString(out) {
		t.Errorf("%s does not say how long it took:\n%s", line, out)
	}
	return ""
}

func pipInstall(t *testing.T, c *checkout, line string) string {
	bin := pythonEnv(t)
	c = c.with(map[string]string{"PATH": bin + string(os.PathListSeparator) + c.env["PATH"]})
	c.sh(t, line)
	if a, b := c.sh(t, "tfrec version"), c.sh(t, "python -m tfrec version"); a != b {
		t.Errorf("tfrec version: %q\npython -m tfrec version: %q", a, b)
	}
	return filepath.Join(bin, "tfrec")
}

func unpack(t *testing.T, c *checkout, line string) string {
	c.sh(t, line)
	return filepath.Join(c.env["HOME"], ".local", "bin", "tfrec")
}

func docker(t *testing.T, c *checkout, line string) string {
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("Docker does not run here, only the steps of the Dockerfile were tested: %v\n%s", err, out)
	}
	if out := c.sh(t, line); strings.HasPrefix(line, "docker run") && !strings.HasPrefix(out, "tfrec "+build.Version) {
		t.Errorf("%s: %q", line, out)
	}
	return ""
}
