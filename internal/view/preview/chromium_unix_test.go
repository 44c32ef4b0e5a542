//go:build unix

package preview

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// chromium is a headless Chromium that is driven over a pipe, by the DevTools
// protocol: JSON messages that a NUL ends. It sees the page as it is. (That is
// all that a library for it would do here, and no module comes in.)
type chromium struct {
	t       *testing.T
	to      io.Writer
	session string

	mu      sync.Mutex
	last    int
	answers map[int]chan reply
	events  []reply
	loaded  chan struct{}
	done    chan struct{} // is closed when it says nothing more
}

type reply struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// startChromium starts a browser with an empty page. Without one the test is
// skipped, or fails where TFREC_REQUIRE_CHROMIUM=1 says that there must be one.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const none = "no chromium: on Debian, apt-get install chromium"
		if os.Getenv("TFREC_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(none)
		}
		t.Skip(none)
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	cmd := testwait.Command(t, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.ExtraFiles = []*os.File{in, out} // its 3 and 4
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	c := &chromium{t: t, to: to, answers: map[int]chan reply{}, loaded: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.listen(from)
	}()
	t.Cleanup(func() {
		c.call("Browser.close", nil, nil)
		to.Close()
		cmd.Wait() // its error is expected: it was asked to exit
		from.Close()
		<-c.done
		if t.Failed() {
			t.Logf("chromium said: %s", stderr.String())
		}
	})
	var target struct{ TargetID, SessionID string }
	c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	c.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	// The empty page is loaded before any other: its event is of no other.
	c.eval(`new Promise((done) => document.readyState === 'complete' ? setTimeout(done) : addEventListener('load', () => setTimeout(done)))`, nil)
	// What the policy stops is an event of the document.
	c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.violations = [];
		document.addEventListener('securitypolicyviolation', (e) => window.violations.push(e.violatedDirective + ' ' + e.blockedURI));
	`}, nil)
	return c
}

// begin makes the browser's failures those of a test, and forgets what it
// complained of before.
func (c *chromium) begin(t *testing.T) *chromium {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t, c.events = t, nil
	return c
}

// listen takes what the browser says until it ends.
func (c *chromium) listen(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if m.ID != 0 {
			c.answers[m.ID] <- m
		} else {
			c.events = append(c.events, m)
			if m.Method == "Page.loadEventFired" {
				select {
				case c.loaded <- struct{}{}:
				default:
				}
			}
		}
		c.mu.Unlock()
	}
}

// call calls a method and stores its result.
func (c *chromium) call(method string, params, result any) {
	c.t.Helper()
	c.mu.Lock()
	c.last++
	id, answer := c.last, make(chan reply, 1)
	c.answers[id] = answer
	c.mu.Unlock()
	request := map[string]any{"id": id, "method": method, "params": orEmpty(params)}
	if c.session != "" {
		request["sessionId"] = c.session
	}
	b, err := json.Marshal(request)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.to.Write(append(b, 0)); err != nil {
		c.t.Errorf("chromium is gone: %v", err)
		return
	}
	var m reply
	select {
	case m = <-answer:
	case <-c.done:
		select {
		case m = <-answer: // the last that it said
		default:
			c.t.Errorf("chromium is gone, without an answer to %s", method)
			return
		}
	}
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatal(err)
		}
	}
}

func orEmpty(params any) any {
	if params == nil {
		return struct{}{}
	}
	return params
}

// open shows a file in a window of a size and scheme of colours.
func (c *chromium) open(file string, width, height int, scheme string) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
	path, err := filepath.Abs(file)
	if err != nil {
		c.t.Fatal(err)
	}
	select {
	case <-c.loaded: // of the page before
	default:
	}
	c.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	select {
	case <-c.loaded:
	case <-c.done:
		c.t.Fatalf("chromium is gone before %s has loaded", file)
	}
}

// eval evaluates JavaScript in the page and stores its value.
func (c *chromium) eval(js string, result any) {
	c.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	c.call("Runtime.evaluate", map[string]any{"expression": js, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", js, answer.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			c.t.Fatalf("%s: %v: %s", js, err, answer.Result.Value)
		}
	}
}

// number evaluates JavaScript to a number.
func (c *chromium) number(js string) float64 {
	c.t.Helper()
	var x float64
	c.eval(js, &x)
	return x
}

// text evaluates JavaScript to a text.
func (c *chromium) text(js string) string {
	c.t.Helper()
	var s string
	c.eval(js, &s)
	return s
}

// press presses a key, as a keyboard does.
func (c *chromium) press(key string) {
	c.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		c.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": keyCodes[key]}, nil)
	}
}

var keyCodes = map[string]int{"ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}

// complaints are what the browser said against the pages so far: errors,
// warnings, exceptions, and requests for anything but the pages themselves.
func (c *chromium) complaints() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, e := range c.events {
		var p struct {
			Type    string `json:"type"`
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		json.Unmarshal(e.Params, &p)
		switch e.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			list = append(list, fmt.Sprintf("%s %s", e.Method, e.Params))
		case "Network.requestWillBeSent":
			if p.Type != "Document" && !strings.HasPrefix(p.Request.URL, "data:image/") {
				list = append(list, "request "+p.Request.URL)
			}
		}
	}
	return list
}

// shoot writes an image of the window.
func (c *chromium) shoot(file string) {
	c.t.Helper()
	var shot struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}
