// Package cluster holds jobs of clusters to begin with. Its tests decode them into the types of
// their platforms, and run their commands against stores on this machine.
package cluster

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/freeport"
	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// program finds what `make cluster-test` builds: a path in a variable of the environment. Without
// it, the test is skipped.
func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set: `make cluster-test` builds the programs and sets it", variable)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func tfrec(t *testing.T) string { return program(t, "TFREC") }

// serve runs a server of bin/servers until the test ends, and returns its address.
func serve(t *testing.T, name string, args func(port string) []string) string {
	t.Helper()
	path := filepath.Join(program(t, "TFREC_SERVERS"), name)
	port := freePort(t)
	host := net.JoinHostPort("127.0.0.1", port)
	await(t, host, launch(t, name, exec.Command(path, args(port)...)))
	return "http://" + host
}

// launch runs a command until the test ends, and shows the end of its output if the test fails.
func launch(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{log: filepath.Join(t.TempDir(), "log")}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	p.Process = testwait.Start(t, cmd)
	t.Cleanup(func() {
		p.kill()
		out.Close()
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			t.Logf("the end of the output of %s:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// process is a command that runs.
type process struct {
	*testwait.Process
	log string // the path of its output
}

// kill kills the process, and waits for its end.
func (p *process) kill() {
	p.Cmd.Process.Kill()
	p.Wait()
}

// freePort returns a port of this machine that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	return strconv.Itoa(freeport.Next(t))
}

// await waits until a process listens on an address.
func await(t *testing.T, host string, p *process) {
	t.Helper()
	testwait.Until(func() bool {
		conn, err := net.Dial("tcp", host)
		if err == nil {
			conn.Close()
		}
		return err == nil || p.Ended()
	})
	if p.Ended() {
		t.Fatalf("nothing listens on %s: %v", host, p.Wait())
	}
}

// read returns the contents of a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// filesBelow returns the contents of all files below dir, by their paths with slashes.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)] = string(read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// capture runs a script with a command in the PATH that writes down its arguments, and answers
// id-SECOND, where SECOND is its second argument. It returns the arguments of each call.
func capture(t *testing.T, command, script string, args ...string) [][]string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	fake := fmt.Sprintf("#!/bin/bash\nprintf '%%s\\0' \"$@\" >>'%[1]s'; printf '\\n\\0' >>'%[1]s'\necho \"id-$2\"\n", calls)
	if err := os.WriteFile(filepath.Join(dir, command), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	var all [][]string
	for call := range strings.SplitSeq(strings.TrimSuffix(string(read(t, calls)), "\n\x00"), "\n\x00") {
		all = append(all, strings.Split(strings.TrimSuffix(call, "\x00"), "\x00"))
	}
	return all
}
