package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScripts checks the scripts, those that run Beam's runners, and the commands of the pages.
func TestScripts(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("no shellcheck: the scripts are not checked")
	}
	var scripts []string
	for pattern, least := range map[string]int{"*/*.sh": 3, "*.sbatch": 1, "../../beam/runners/*.sh": 2} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < least {
			t.Fatal(pattern, found, err)
		}
		scripts = append(scripts, found...)
	}
	for page, block := range commands(t) {
		name := filepath.Join(t.TempDir(), strings.ReplaceAll(page, "/", "-"))
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+block), 0o644); err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, name)
	}
	if out, err := exec.Command(shellcheck, scripts...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// commands returns the commands that the pages show, by page.
func commands(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob("*/README.md")
	if err != nil || len(pages) < 4 {
		t.Fatal(pages, err)
	}
	all := map[string]string{}
	for _, page := range append(pages, "README.md") {
		in := false
		for line := range strings.Lines(string(read(t, page))) {
			switch line = strings.TrimSpace(line); {
			case line == "```sh":
				in = true
			case line == "```":
				in = false
			case in:
				all[page] += line + "\n"
			}
		}
	}
	return all
}

// object matches what kubectl is given to find an object.
var object = regexp.MustCompile(`(?:^| )(job|deployment|service)/([\w-]+)`)

// TestPagesOfKubernetes compares the files and the objects that commands name with those that exist.
func TestPagesOfKubernetes(t *testing.T) {
	files, names := 0, 0
	for page, block := range commands(t) {
		exist := map[string]bool{}
		paths, err := filepath.Glob(filepath.Join(filepath.Dir(page), "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(block, "kubectl") {
			for _, path := range paths {
				for _, o := range decode(t, path) {
					if named, ok := o.(interface{ GetName() string }); ok {
						exist[fmt.Sprintf("%T/%s", o, named.GetName())] = true
					}
				}
			}
		}
		for line := range strings.Lines(block) {
			words := strings.Fields(line)
			for i, word := range words {
				if word == "-f" && i+1 < len(words) {
					files++
					if _, err := os.Stat(filepath.Join(filepath.Dir(page), strings.TrimRight(words[i+1], ","))); err != nil {
						t.Errorf("%s: %s: %v", page, line, err)
					}
				}
			}
			for _, found := range object.FindAllStringSubmatch(line, -1) {
				names++
				kind := map[string]string{"job": "*v1.Job", "deployment": "*v1.Deployment", "service": "*v1.Service"}[found[1]]
				if !exist[kind+"/"+found[2]] {
					t.Errorf("%s: %s: no %s %s", page, line, found[1], found[2])
				}
			}
		}
	}
	if files < 10 || names < 8 {
		t.Errorf("%d files and %d names in the commands of all pages", files, names)
	}
}
