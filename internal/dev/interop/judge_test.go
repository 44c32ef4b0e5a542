//go:build interop

package interop

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	python = flag.String("python", "../../../.venv/bin/python", "Python with TensorFlow, TFDS and the tfrecord package")
	binary = flag.String("tfrec", "../../../bin/tfrec", "the built command")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	judge.stop()
	os.Exit(code)
}

// feature is one feature in the written form of judge.py: its kind, then its
// values: bytes in hexadecimal, floats as the digits of their bits.
type feature = []string

// sequence is a SequenceExample in that form.
type sequence struct {
	Context map[string]feature   `json:"context"`
	Lists   map[string][]feature `json:"lists"`
}

// written returns the written form of a value of tfrecord.Example.Map.
func written(v any) feature {
	switch v := v.(type) {
	case nil:
		return feature{"none"}
	case []int64:
		f := feature{"int64"}
		for _, x := range v {
			f = append(f, strconv.FormatInt(x, 10))
		}
		return f
	case []float32:
		f := feature{"float"}
		for _, x := range v {
			f = append(f, fmt.Sprintf("%08x", math.Float32bits(x)))
		}
		return f
	case [][]byte:
		f := feature{"bytes"}
		for _, x := range v {
			f = append(f, hex.EncodeToString(x))
		}
		return f
	default:
		panic(fmt.Sprintf("a feature of type %T", v))
	}
}

// judgeProcess is judge.py, started when first asked.
type judgeProcess struct {
	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

var judge judgeProcess

func (j *judgeProcess) start() error {
	j.cmd = exec.Command(*python, "judge.py")
	j.cmd.Stderr = os.Stderr
	var err error
	if j.in, err = j.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := j.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	j.answers = bufio.NewReader(out)
	return j.cmd.Start()
}

// stop ends the process by ending its input.
func (j *judgeProcess) stop() {
	if j.cmd != nil && j.cmd.Process != nil {
		j.in.Close()
		j.cmd.Wait()
	}
}

// ask sends a request and decodes the answer into answer.
func ask(t *testing.T, answer any, do string, request map[string]any) {
	t.Helper()
	judge.mu.Lock()
	defer judge.mu.Unlock()
	if judge.cmd == nil {
		if err := judge.start(); err != nil {
			t.Fatalf("starting %s judge.py: %v (make venv makes its environment)", *python, err)
		}
	}
	request["do"] = do
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judge.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("judge.py: %v", err)
	}
	line, err = judge.answers.ReadBytes('\n')
	if err != nil {
		t.Fatalf("judge.py gave no answer to %s: %v", do, err)
	}
	var reply struct {
		Answer json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		t.Fatalf("judge.py: %v in %.200s", err, line)
	}
	if reply.Error != "" {
		t.Fatalf("%s: %s", do, reply.Error)
	}
	if err := json.Unmarshal(reply.Answer, answer); err != nil {
		t.Fatalf("%s: %v in %.200s", do, err, reply.Answer)
	}
}

// tensorFlowName of a compression.
func tensorFlowName(compression string) string {
	if compression == "none" {
		return ""
	}
	return strings.ToUpper(compression)
}
