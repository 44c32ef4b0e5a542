package augment

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const hostileDir = "../testdata/hostile"

// hostileImages are the files of testdata/hostile.
func hostileImages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(hostileDir, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".md" && ext != ".tsv" {
			images = append(images, file)
		}
	}
	if len(images) < 16 {
		t.Fatalf("%d hostile images", len(images))
	}
	return images
}

// verdict is what is said of an image: "ok" and its size, or the reason in the ledger.
func verdict(info Info, err error) string {
	if err != nil {
		return err.Error()
	}
	w, h := info.Oriented()
	return fmt.Sprintf("ok %dx%d", w, h)
}

// cost runs f, and returns how many bytes it allocated and how much CPU the process used.
func cost(f func()) (bytes uint64, cpu time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cpuTime()
	f()
	cpu = cpuTime() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, cpu
}

// TestHostile: every decoder has the verdict of VERDICTS.tsv on hostile images, from decoding, from
// checking and from decoding with trust, each within bounds.
func TestHostile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(hostileDir, "VERDICTS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		want[name] = v
	}
	for _, decoder := range []string{"auto", "go", "turbo"} {
		c, err := NewCodec(CodecOptions{Decoder: decoder})
		if err != nil {
			t.Logf("%s: %v", decoder, err)
			continue
		}
		for _, file := range hostileImages(t) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			for way, decode := range map[string]func() (Info, error){
				"decoded":             func() (Info, error) { return c.Decode(new(Image), data, DecodeOptions{}) },
				"decoded with trust":  func() (Info, error) { return c.Decode(new(Image), data, DecodeOptions{Trusted: true}) },
				"reduced":             func() (Info, error) { return c.Decode(new(Image), data, DecodeOptions{MinWidth: 1, MinHeight: 1}) },
				"checked":             func() (Info, error) { return c.Check(data) },
				"read for a backend":  func() (Info, error) { return readCoded(c, data) },
				"decoded on a colour": func() (Info, error) { return withBackground(t, decoder).Decode(new(Image), data, DecodeOptions{}) },
			} {
				var got string
				bytes, cpu := cost(func() { got = verdict(decode()) })
				if got != want[name] && !(way == "read for a backend" && !strings.HasSuffix(name, ".jpg")) {
					t.Errorf("%s: %s, %s: %q, want %q", decoder, name, way, got, want[name])
				}
				if bytes > 600e6 || cpu > 2*time.Second {
					t.Errorf("%s: %s, %s: %d bytes and %v", decoder, name, way, bytes, cpu)
				}
			}
		}
	}
}

// readCoded reads an image as for a backend that decodes.
func readCoded(c *Codec, data []byte) (Info, error) {
	var coded Coded
	err := coded.Read(c, data)
	return coded.Info(), err
}

func withBackground(t *testing.T, decoder string) *Codec {
	return newCodec(t, CodecOptions{Decoder: decoder, Background: &[3]uint8{1, 2, 3}})
}

// TestHostileArithmetic: where arithmetic coding is allowed, what asks for work out of proportion
// is still refused, on every build, and at once. What was cut out of an image nobody can see.
func TestHostileArithmetic(t *testing.T) {
	for _, decoder := range []string{"auto", "go", "turbo"} {
		c, err := NewCodec(CodecOptions{Decoder: decoder, AllowArithmetic: true})
		if err != nil {
			continue
		}
		reads := decoder == "turbo" || decoder == "auto" && turboInstalled() && os.Getenv("TFREC_NO_TURBO") != "1"
		for name, says := range map[string]string{
			"arith-prog-4-dc-14.jpg": "too few", "arith-prog-gray-ac-101.jpg": "too few", "arith-seq-4.jpg": "too few",
			"ari-cut-10.jpg": "ok 227x149", "../pictures/ljt-testimgari.jpg": "ok 227x149",
		} {
			data, err := os.ReadFile(filepath.Join(hostileDir, name))
			if err != nil {
				t.Fatal(err)
			}
			var got string
			bytes, cpu := cost(func() { got = verdict(c.Decode(new(Image), data, DecodeOptions{})) })
			if !reads {
				says = "none of tfrec 1 reads it"
			}
			if !strings.Contains(got, says) || bytes > 600e6 || cpu > 2*time.Second {
				t.Errorf("%s: %s: %q, %d bytes, %v; want it to say %q", decoder, name, got, bytes, cpu, says)
			}
		}
	}
}
