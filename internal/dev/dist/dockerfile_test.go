//go:build dist

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/build"
)

// TestDockerfile carries out the Dockerfile without Docker: the steps of its
// first stage in a directory that has what COPY brings, and its command in the root
// that it makes. It does not see whether the images that FROM names exist.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	c := newCheckout(t)
	context := *c
	context.sh(t, "grep '^/' .dockerignore | sed 's|^|./|' | xargs rm -rf")
	c.dir = t.TempDir()
	out := filepath.Join(t.TempDir(), "rootfs") // of the second stage

	stage, ran := 0, []string{}
	for line := range strings.Lines(string(text)) {
		instruction, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		ran = append(ran, instruction)
		switch instruction {
		case "FROM":
			stage++
			if image := strings.Fields(args)[0]; stage == 1 {
				if want := "golang:" + goVersion(t); image != want {
					t.Errorf("FROM %s: go.mod wants %s", image, want)
				}
			} else if image != "scratch" {
				t.Errorf("FROM %s: want scratch", image)
			}
		case "COPY":
			if stage == 1 {
				sources := strings.Fields(args)
				context.sh(t, "cp -R "+strings.Join(sources[:len(sources)-1], " ")+" "+c.dir)
			} else if args != "--from=build /rootfs/ /" {
				t.Errorf("COPY %s: want the files of the image alone", args)
			}
		case "RUN":
			c.sh(t, strings.ReplaceAll(args, "-rootfs /rootfs", "-rootfs "+out))
		case "ENTRYPOINT":
			if args != `["/tfrec"]` {
				t.Errorf("ENTRYPOINT %s", args)
			}
		case "", "#", "WORKDIR", "USER", "ENV", "CMD":
		default:
			t.Errorf("%s: this test does not know it", instruction)
		}
	}
	if !slices.Contains(ran, "ENTRYPOINT") || stage != 2 {
		t.Fatalf("stages: %d, instructions: %s", stage, ran)
	}
	if os.Getuid() != 0 {
		t.Skip("not root: the command was built, but not run in its root")
	}
	cmd := exec.Command("chroot", "--userspec=65532:65532", out, "/tfrec", "version")
	cmd.Env = []string{}
	if got, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(got), "tfrec "+build.Version) {
		t.Errorf("the command in its root: %q, %v", got, err)
	}
}

// goVersion is the release of Go that go.mod asks for, such as 1.26.
func goVersion(t *testing.T) string {
	t.Helper()
	parts := strings.Split(strings.TrimSpace(must(t, "go", "list", "-m", "-f", "{{.GoVersion}}")), ".")
	return strings.Join(parts[:2], ".")
}
