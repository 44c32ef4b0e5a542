// Affected lists the packages whose tests a change may reach: those that contain a changed file, those
// that depend on them, and those whose tests name a changed file outside any package.
//
//	go run ./internal/dev/affected [BASE]
//
// A change is the difference of the working tree, untracked files included, from the commit BASE.
// The default of BASE is HEAD or, in a clean tree, the commit before it. `make quick` tests these
// packages.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	base := ""
	if len(os.Args) > 1 {
		base = os.Args[1]
	}
	packages, err := affected(base)
	if err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
	for _, p := range packages {
		fmt.Println(p)
	}
}

// affected returns the import paths of the packages that the change since base reaches.
func affected(base string) ([]string, error) {
	files, err := changed(base)
	if err != nil {
		return nil, err
	}
	out, err := run("go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Deps,ForTest", "-test", "./...")
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	m, err := parse(bytes.NewReader(out), root)
	if err != nil {
		return nil, err
	}
	for dir, p := range m.byDir {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				return nil, err
			}
			m.tests[p.ImportPath] += string(text)
		}
	}
	return m.reached(files), nil
}

// changed returns the files that differ from base, as paths with slashes below the root.
func changed(base string) ([]string, error) {
	from := base
	if from == "" {
		from = "HEAD"
	}
	differ, err := run("git", "diff", "--name-only", "--relative", from, "--")
	if err != nil {
		return nil, err
	}
	untracked, err := run("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	files := strings.Fields(string(differ) + string(untracked))
	if len(files) == 0 && base == "" {
		return changed("HEAD^")
	}
	return files, nil
}

func run(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", c, err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, ForTest        string
	TestGoFiles, XTestGoFiles, Deps []string
}

// module is the packages of a module and what their tests depend on.
type module struct {
	byDir map[string]*listed  // by directory below the root, with slashes
	deps  map[string][]string // of a package and its tests, by import path
	tests map[string]string   // the text of a package's tests, by import path
}

// parse reads the output of go list -test -json for the module in the directory root.
func parse(list io.Reader, root string) (*module, error) {
	m := &module{byDir: map[string]*listed{}, deps: map[string][]string{}, tests: map[string]string{}}
	for d := json.NewDecoder(list); ; {
		p := new(listed)
		switch err := d.Decode(p); {
		case errors.Is(err, io.EOF):
			return m, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		name, isTest := strings.CutSuffix(p.ImportPath, ".test")
		for _, dep := range p.Deps {
			dep, _, _ = strings.Cut(dep, " ") // "path [path.test]": path, built for the tests of path
			m.deps[name] = append(m.deps[name], dep)
		}
		if isTest || p.ForTest != "" {
			continue
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		m.byDir[filepath.ToSlash(dir)] = p
	}
}

// reached returns the sorted import paths of the packages that changes to files reach.
func (m *module) reached(files []string) []string {
	direct := map[string]bool{} // packages with changed files
	var outside []string        // changed files and directories that tests may name
	for _, file := range files {
		if file == "go.mod" || file == "go.sum" {
			return m.all()
		}
		dir := path.Dir(file)
		for m.byDir[dir] == nil && dir != "." {
			dir = path.Dir(dir)
		}
		if p := m.byDir[dir]; p != nil && dir != "." {
			direct[p.ImportPath] = true
			continue
		}
		outside = append(outside, named(file))
	}
	var reached []string
	for _, p := range m.byDir {
		uses := func(q *listed) bool {
			return p == q || slices.Contains(m.deps[p.ImportPath], q.ImportPath)
		}
		hit := slices.ContainsFunc(outside, func(name string) bool { return strings.Contains(m.tests[p.ImportPath], name) })
		for dir, q := range m.byDir {
			switch {
			case hit:
			case direct[q.ImportPath]:
				hit = uses(q)
			case strings.HasPrefix(dir, "cmd/") && strings.Contains(m.tests[p.ImportPath], dir):
				// Its tests build this command, and so reach its dependencies.
				hit = slices.ContainsFunc(m.deps[q.ImportPath], func(dep string) bool { return direct[dep] })
			}
		}
		if hit {
			reached = append(reached, p.ImportPath)
		}
	}
	slices.Sort(reached)
	return reached
}

// all returns the import paths of all packages.
func (m *module) all() []string {
	var all []string
	for _, p := range m.byDir {
		all = append(all, p.ImportPath)
	}
	slices.Sort(all)
	return all
}

// named returns the part of a path that a test which reads the file contains: the file's name at the
// root of the repository, or its first two directories.
func named(file string) string {
	parts := strings.SplitN(file, "/", 3)
	if len(parts) < 3 {
		return parts[0]
	}
	return path.Join(parts[0], parts[1])
}
