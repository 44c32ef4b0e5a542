package preview

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// hostile are texts that would do something if they were not taken as text.
var hostile = []string{
	`<script>window.injected = 1</script>`,
	`"><img src=x onerror="window.injected = 1">`,
	`' autofocus onfocus='window.injected = 1`,
	`</script><script>window.injected = 1</script>`,
	`</style></title></textarea><svg onload="window.injected = 1">`,
	`<!--`, `]]>`, `{{.CSS}}`, "`${window.injected = 1}`", `javascript:window.injected=1`,
	"a\u2028window.injected = 1\u2029", "\u202egpj.exe\u2066", "nul\x00byte", "\xff\xfe\x80", "\U000e0001\u200b\ufeff",
	strings.Repeat("long", 100_000), "", " ", "&lt;b&gt;", "%3Cscript%3E",
}

// hostileSet writes a set in which all texts are hostile, and what is wrong with
// records is as well.
func hostileSet(t testing.TB) string {
	dir := t.TempDir()
	img := previewtest.EncodePNG(t, previewtest.Noise(1, 40, 30, 3))
	var records [][]byte
	for i, s := range hostile {
		records = append(records, previewtest.Example(img, s, s, func(b *tfrecord.Builder) {
			b.String("feature "+s[:min(len(s), 3000)], s, s)
			b.Int64(imagekey.Copy, int64(i%2))
			b.String(imagekey.Ops, fmt.Sprintf(`[{"op":%q,"angle":%q}]`, s, s))
		}))
	}
	records = append(records,
		nil,                                 // no features
		[]byte("not an Example at all\x00"), // nor a protocol buffer
		previewtest.Example([]byte("\xff\xd8\xff\xe0 no JPEG"), "damaged.jpg", "x", nil),
		previewtest.Example(img[:len(img)/2], "cut.png", "x", nil),
		previewtest.Example(nil, "empty.png", "x", nil),
		previewtest.Example(nil, "huge vector", "x", func(b *tfrecord.Builder) { b.Float("v", make([]float32, 300_000)...) }),
	)
	var sequence tfrecord.SequenceBuilder
	sequence.Context.String(imagekey.Filename, "sequence")
	sequence.Bytes("frames", img)
	records = append(records, sequence.Append(nil))
	previewtest.WriteFile(t, filepath.Join(dir, `<i>&"'.tfrecord`), tfrecord.CompressionNone, records...)
	return dir
}

func TestHostileTextsAreText(t *testing.T) {
	o := options(t)
	o.Command = hostile[0]
	page, report := writePage(t, hostileSet(t), o)
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d <script in the page, want its own alone", n)
	}
	for _, bad := range []string{"<img src=x", "<svg onload", "\x00", "\u2028", "\u202e", " onerror=\"", " onfocus='"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if !utf8.ValidString(page) {
		t.Error("the page is no UTF-8")
	}
	if want := len(hostile) + 7; report.Shown != want {
		t.Errorf("%d records shown, want %d", report.Shown, want)
	}
	for _, want := range []string{"cannot be decoded", "damaged.jpg", "no image:", "&lt;script&gt;window.injected", `\u202egpj.exe`, `nul\u0000byte`, `\xff\xfe\x80`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if report.Images != len(hostile) || report.Unreadable < 4 {
		t.Errorf("%d images, %d that could not be shown", report.Images, report.Unreadable)
	}
}

// TestPolicyFitsThePage hashes what the page has between the tags.
func TestPolicyFitsThePage(t *testing.T) {
	dir := t.TempDir()
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, previewtest.Numbered(3)...)
	page, _ := writePage(t, dir, options(t))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("no policy")
	}
	for _, tag := range []string{"style", "script"} {
		text := regexp.MustCompile(`(?s)<` + tag + `>(.*)</` + tag + `>`).FindStringSubmatch(page)
		sum := sha256.Sum256([]byte(text[1]))
		hash := strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;")
		if !strings.Contains(policy[1], tag+"-src &#39;sha256-"+hash+"&#39;") {
			t.Errorf("the policy %s does not let the %s run", policy[1], tag)
		}
	}
	for _, bad := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy[1], bad) {
			t.Errorf("the policy lets %s", bad)
		}
	}
	if found := regexp.MustCompile(`(?i)\s(style|on[a-z]+)=|https?://|@import|url\(`).FindString(page); found != "" {
		t.Errorf("the page has %q, which the policy would stop", found)
	}
}

// TestPagesStaySmall gives as many as may be shown of what takes most.
func TestPagesStaySmall(t *testing.T) {
	race.Skip(t)
	o := options(t)
	jpeg, err := o.Codec.AppendJPEG(nil, previewtest.Noise(2, 300, 200, 3), 95, "444")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(`"&'<>`, 500)
	many := func(b *tfrecord.Builder) {
		for i := range 60 {
			b.String(fmt.Sprintf("%s %d", long[:2000], i), long)
		}
	}
	for _, c := range []struct {
		name   string
		n      int
		record func(i int) []byte
	}{
		{"noise", 80, func(i int) []byte {
			return previewtest.Example(jpeg, fmt.Sprint(long, i), fmt.Sprint(long[:200], i), nil)
		}},
		{"texts", MaxSamples, func(i int) []byte {
			return previewtest.Example(nil, fmt.Sprint(long, i), fmt.Sprint(long[:100], i), nil)
		}},
		{"features", 40, func(i int) []byte { return previewtest.Example(jpeg, fmt.Sprint(long, i), long[:100], many) }},
		{"rows", 100, func(i int) []byte {
			var b tfrecord.Builder
			many(&b)
			return b.Append(nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var records [][]byte
			for i := range c.n {
				records = append(records, c.record(i))
			}
			previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
			o := o
			o.Samples = c.n
			if _, report := writePage(t, dir, o); report.Shown != c.n { // writePage looks at the size
				t.Errorf("%d shown, want %d", report.Shown, c.n)
			}
		})
	}
}

// TestLabels counts many labels and shows some.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 20_000 {
		var b tfrecord.Builder
		b.Int64("label", int64(i%15_000))
		records = append(records, b.Append(nil))
	}
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	page, _ := writePage(t, dir, options(t))
	if n := strings.Count(page, `<td class="number quiet">`); n != maxLabels {
		t.Errorf("%d labels shown, want %d", n, maxLabels)
	}
	if !strings.Contains(page, "are of other labels") {
		t.Error("the page does not say that there are more")
	}
}

// TestFailuresLeaveNothing lets a page fail at different times.
func TestFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	previewtest.WriteFile(t, in, tfrecord.CompressionNone, previewtest.Numbered(3)...)
	empty := filepath.Join(dir, "empty.tfrecord")
	previewtest.WriteFile(t, empty, tfrecord.CompressionNone)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	taken := filepath.Join(dir, "taken.html")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t)
	wrong := o
	wrong.Label = "nonsense"
	replace := o
	replace.Overwrite = true
	for _, c := range []struct {
		name    string
		ctx     context.Context
		in, out string
		o       Options
		want    error
	}{
		{"stopped", stopped, in, "new.html", o, context.Canceled},
		{"taken", t.Context(), in, "taken.html", o, nil},
		{"a folder", t.Context(), in, ".", replace, nil},
		{"no folder", t.Context(), in, "no/new.html", o, os.ErrNotExist},
		{"nothing to read", t.Context(), filepath.Join(dir, "none"), "new.html", o, os.ErrNotExist},
		{"no record", t.Context(), empty, "new.html", o, shard.ErrNoRecords},
		{"no such feature", t.Context(), in, "new.html", wrong, nil},
		{"over the input", t.Context(), in, "a.tfrecord", replace, nil},
	} {
		_, err := Write(c.ctx, []string{c.in}, filepath.Join(dir, c.out), c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if b, _ := os.ReadFile(taken); string(b) != "mine" {
		t.Error("a file that was there is another")
	}
}

// TestColoursContrast holds text to WCAG's 4.5 to 1, light and dark.
func TestColoursContrast(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(pageCSS, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d schemes, want light and dark", len(schemes))
	}
	for i, scheme := range schemes {
		luminance := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(scheme[1], -1) {
			var c [3]int
			fmt.Sscanf(m[2], "%02x%02x%02x", &c[0], &c[1], &c[2])
			for j, weight := range []float64{0.2126, 0.7152, 0.0722} {
				v := float64(c[j]) / 255
				if v <= 0.04045 {
					v /= 12.92
				} else {
					v = math.Pow((v+0.055)/1.055, 2.4)
				}
				luminance[m[1]] += weight * v
			}
		}
		for _, pair := range [][2]string{
			{"text", "ground"}, {"text", "surface"}, {"text", "hover"}, {"quiet", "ground"}, {"quiet", "surface"}, {"quiet", "hover"},
			{"accent", "ground"}, {"good", "good-ground"}, {"bad", "bad-ground"}, {"good", "ground"}, {"bad", "ground"},
		} {
			a, b := luminance[pair[0]], luminance[pair[1]]
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("scheme %d: %s on %s has a contrast of %.2f", i, pair[0], pair[1], ratio)
			}
		}
	}
}
