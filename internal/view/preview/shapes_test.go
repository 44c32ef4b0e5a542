package preview

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestRecordsWithoutFeatures has pages of records that say nothing.
func TestRecordsWithoutFeatures(t *testing.T) {
	dir := t.TempDir()
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, nil, nil)
	page, report := writePage(t, dir, options(t))
	if report.Shown != 2 || report.Unreadable != 0 {
		t.Errorf("%+v", report)
	}
	if n := strings.Count(page, `<tr class="item"`); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

// TestTitles has pages of files without a manifest be named after them.
func TestTitles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "birds")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for i, c := range []struct{ path, title string }{
		{"a.tfrecord", "a.tfrecord"}, {dir, "a.tfrecord"}, {".", "birds"}, {"*.tfrecord", "birds"},
	} {
		if i == 2 {
			previewtest.WriteFile(t, "b.tfrecord", tfrecord.CompressionNone, previewtest.Numbered(1)...)
		} else {
			previewtest.WriteFile(t, "a.tfrecord", tfrecord.CompressionNone, previewtest.Numbered(1)...)
		}
		page, _ := writePage(t, c.path, options(t))
		if want := "<h1><bdi>" + c.title + "</bdi></h1>"; !strings.Contains(page, want) {
			t.Errorf("%s: no %s", c.path, want)
		}
	}
}

// TestManySplits has the legend of the balance in the colours of its bars, and
// the splits that are not named counted.
func TestManySplits(t *testing.T) {
	s := &measurement{Set: &contents.Set{Label: imagekey.Text}, stats: new(stats.Report)}
	counts := stats.LabelCounts{Key: imagekey.Text}
	for i := range 10 {
		split := fmt.Sprint("part", i)
		s.Files = append(s.Files, contents.File{Split: split, Records: 1, Set: &manifest.Shard{Records: 1, Labels: map[string]int64{"x": 1}}})
	}
	counts.Counts = []stats.Label{{Name: "x", Records: 10}}
	s.stats.Labels = []stats.LabelCounts{counts}
	s.stats.Records = 10
	b := s.balanceOf()
	if len(b.Splits) != 10 || len(b.Rows[0].Segments) != 10 {
		t.Fatalf("%d splits and %d segments, want 10", len(b.Splits), len(b.Rows[0].Segments))
	}
	known := regexp.MustCompile(`^s[0-5]$`) // what page.css has
	for i, entry := range b.Splits {
		if segment := b.Rows[0].Segments[i]; entry.Class != segment.Class || !known.MatchString(entry.Class) {
			t.Errorf("split %d has class %s in the legend and %s in the bar", i, entry.Class, segment.Class)
		}
	}
	for _, f := range s.facts() {
		if f.Name == "Splits" && !strings.HasSuffix(f.Value, "part7 1 and 2 more") {
			t.Errorf("splits are %q", f.Value)
		}
	}
}

// TestBytesAsLabels checks that the records and the balance show labels that are not text in the
// same way.
func TestBytesAsLabels(t *testing.T) {
	dir := t.TempDir()
	img := previewtest.EncodePNG(t, previewtest.Noise(1, 8, 8, 3))
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, previewtest.Example(img, "a", "\xff\xfe", nil), previewtest.Example(img, "b", "x", nil))
	page, _ := writePage(t, dir, options(t))
	for _, want := range []string{`(1)</option>`, `>\xff\xfe (1)<`, `<th scope="row"><bdi>\xff\xfe</bdi></th>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "PNG 100 %") || strings.Contains(page, `\x89PNG`) {
		t.Error("an image is among the frequent values")
	}
}

// TestCardsOfTexts has the plot of texts that all differ say that it is of their
// lengths.
func TestCardsOfTexts(t *testing.T) {
	dir := t.TempDir()
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, previewtest.Numbered(120)...)
	page, _ := writePage(t, dir, options(t))
	if want := "text · 120 distinct values; lengths in bytes:</span>"; !strings.Contains(page, want) {
		t.Errorf("no %s", want)
	}
}
