//go:build unix

package preview

import (
	"fmt"
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// photoSet writes a set of images of two labels in two splits, one record with
// variants and one whose image is damaged.
func photoSet(t *testing.T) string {
	dir := t.TempDir()
	var train, val [][]byte
	for i := range 12 {
		img := previewtest.EncodePNG(t, previewtest.Noise(uint64(i), 90, 60, 3))
		train = append(train, previewtest.Variant(img, fmt.Sprintf("cats/%d.png", i), "cats", 0, "[]"))
		val = append(val, previewtest.Variant(img, fmt.Sprintf("dogs/%d.png", i), "dogs", 0, "[]"))
	}
	small := previewtest.EncodePNG(t, previewtest.Noise(99, 30, 30, 1))
	train = append(train,
		previewtest.Variant(small, "cats/0.png", "cats", 1, `[{"op":"hflip"}]`),
		previewtest.Variant(small, "cats/0.png", "cats", 2, `[{"op":"rotate","angle":12.25}]`),
		previewtest.Variant([]byte("no picture"), "cats/bad.png", "cats", 0, "[]"))
	previewtest.WriteFile(t, filepath.Join(dir, "v-train.tfrecord-00000-of-00001"), tfrecord.CompressionNone, train...)
	previewtest.WriteFile(t, filepath.Join(dir, "v-val.tfrecord-00000-of-00001"), tfrecord.CompressionGzip, val...)
	return dir
}

// pageFile makes a page of a set and returns its path.
func pageFile(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	if _, err := Write(t.Context(), []string{dir}, out, options(t)); err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	jsImages   = `[...document.querySelectorAll('.open img')].map((i) => i.complete && i.naturalWidth > 0)`
	jsSideways = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
)

// TestInChromium opens pages, unchanged and from the disk, in a real browser.
func TestInChromium(t *testing.T) {
	race.Skip(t)
	c := startChromium(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c *chromium)
	}{{"use", usePage}, {"names", readNames}, {"hostile", touchHostilePage}, {"policy", breakPolicy}, {"objects", seeObjects}, {"classes", chooseClasses}} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c.begin(t)) })
		c.begin(t)
	}
}

// usePage does what a user does with a page.
func usePage(t *testing.T, c *chromium) {
	photos, table := pageFile(t, photoSet(t)), t.TempDir()
	previewtest.WriteFile(t, filepath.Join(table, "a.tfrecord"), tfrecord.CompressionNone, previewtest.Numbered(40)...)
	rows := pageFile(t, table)

	c.open(photos, 1280, 800, "light")
	if n := c.number(jsImages + `.filter(Boolean).length`); n != 26 {
		t.Errorf("%v images are shown, want 26", n)
	}
	if n := c.number(`document.querySelectorAll('.missing').length`); n != 1 {
		t.Errorf("%v placeholders, want 1", n)
	}
	if s := c.text(`[...document.querySelectorAll('.family .copy, .family .variant')].map((e) => e.textContent).join('|')`); s != "original|variant 1|hflip|variant 2|rotate 12.2" {
		t.Errorf("the family is %s", s)
	}
	light := c.text(`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('svg .s0')).fill`)

	// Filters. Items are the family, 22 other images and the placeholder.
	visible := `[...document.querySelectorAll('.item')].filter((i) => i.offsetParent !== null).length`
	set := func(name, value string) {
		c.eval(fmt.Sprintf(`{const f = document.querySelector('.filter').elements.%s; f.value = %q; f.dispatchEvent(new Event('input', {bubbles: true}))}`, name, value), nil)
	}
	for _, f := range []struct {
		label, split, key string
		items, samples    int
	}{
		{"", "", "", 25, 27}, {"0", "", "", 13, 15}, {"1", "", "", 12, 12}, {"1", "0", "", 0, 0}, {"", "1", "", 12, 12},
		{"", "", "CATS/1", 3, 3}, {"", "", "no such", 0, 0}, {"0", "0", "bad", 1, 1}, {"", "", "", 25, 27},
	} {
		set("label", f.label)
		set("split", f.split)
		set("key", f.key)
		if n := c.number(visible); int(n) != f.items {
			t.Errorf("filter %+v leaves %v items", f, n)
		}
		if s := c.text(`document.querySelector('.filter output').value`); s != fmt.Sprintf("%d of 27", f.samples) {
			t.Errorf("filter %+v says %s", f, s)
		}
		if none := c.number(`Number(!document.querySelector('.none').hidden)`) == 1; none != (f.items == 0) {
			t.Errorf("filter %+v: that nothing fits is said: %v", f, none)
		}
	}

	// The large image, by mouse and keys, among those that the filter leaves.
	set("key", "dogs/1")
	var at struct{ X, Y float64 }
	c.eval(`{const r = [...document.querySelectorAll('.open')].find((b) => b.offsetParent !== null).getBoundingClientRect(); ({x: r.x + r.width / 2, y: r.y + r.height / 2})}`, &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		c.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
	state := func() string {
		return c.text(`(async () => {const d = document.querySelector('dialog'), i = d.querySelector('img'); if (d.open) await i.decode(); return [d.open, i.naturalWidth > 0 && i.width > 100, d.querySelector('.side .key').textContent, d.querySelector('.place').textContent, d.querySelectorAll('dd').length > 3].join(' ');})()`)
	}
	first := state()
	if !strings.HasPrefix(first, "true true dogs/1") || !strings.HasSuffix(first, "1 of 3 true") {
		t.Errorf("after a click the dialog is %s", first)
	}
	if s := c.text(`document.activeElement.tagName`); s != "DIALOG" {
		t.Errorf("the dialog is open and the focus on %s", s)
	}
	c.press("ArrowRight")
	if s := state(); s == first || !strings.HasSuffix(s, "2 of 3 true") {
		t.Errorf("after an arrow the dialog is %s", s)
	}
	c.press("ArrowRight")
	c.press("ArrowRight") // there is no fourth
	if s := state(); !strings.HasSuffix(s, "3 of 3 true") {
		t.Errorf("at the end the dialog is %s", s)
	}
	c.press("Escape")
	if s := c.text(`document.querySelector('dialog').open + ' ' + document.activeElement.className`); s != "false open" {
		t.Errorf("after Escape: %s", s)
	}

	c.open(photos, 1280, 800, "dark")
	if dark := c.text(`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('svg .s0')).fill`); dark == light {
		t.Errorf("light and dark are %s", dark)
	}
	for _, page := range []string{photos, rows} {
		c.open(page, 360, 740, "light")
		if n := c.number(jsSideways); n != 0 {
			t.Errorf("%s is %v pixels wider than a phone", filepath.Base(page), n)
		}
	}
	if n := c.number(`document.querySelectorAll('tbody tr.item').length`); n != 40 {
		t.Errorf("%v rows, want 40", n)
	}
	if n := c.number(`[...document.querySelectorAll('svg rect, svg path')].filter((e) => e.getBoundingClientRect().height > 0).length`); n < 20 {
		t.Errorf("%v bars are drawn", n)
	}
	for _, s := range c.complaints() {
		t.Errorf("the browser complains: %s", s)
	}
}

// seeObjects compares where boxes are drawn with where images are, small and large, and turns boxes
// and masks off and on.
func seeObjects(t *testing.T, c *chromium) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 6 {
		records = append(records, previewtest.DrawnRecord(t, 200, 100, image.Rect(50, 25, 150, 75), 1+i))
	}
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	c.open(pageFile(t, dir), 1280, 800, "light")
	// Shares of the square in which the image is, of the first box: the image is fitted into it.
	const placed = `{const f = (root) => {const i = root.querySelector('img').getBoundingClientRect(), p = root.querySelector('.drawn path').getBoundingClientRect();
		const s = Math.min(i.width / 200, i.height / 100);
		return [(p.x - i.x - (i.width - 200 * s) / 2) / s, (p.y - i.y - (i.height - 100 * s) / 2) / s, p.width / s, p.height / s].map((v) => Math.abs(v)); };
		const want = [50, 25, 100, 50]; Math.max(...f(document.querySelector(%q)).map((v, k) => Math.abs(v - want[k])))}`
	if off := c.number(fmt.Sprintf(placed, ".open")); off > 3 { // of 200 pixels
		t.Errorf("the box is %v pixels off", off)
	}
	c.eval(`document.querySelector('.open').click()`, nil)
	if off := c.number(fmt.Sprintf(placed, "dialog .view")); off > 1 {
		t.Errorf("the box is %v pixels off in the dialog", off)
	}
	const texts = `[...document.querySelectorAll('.drawn text')].filter((e) => e.getBoundingClientRect().width > 0).length`
	if n := c.number(texts); n != 1 {
		t.Errorf("%v names are shown, want that in the dialog", n)
	}
	c.press("ArrowRight")
	if n := c.number(`document.querySelectorAll('dialog .drawn').length`); n != 1 {
		t.Errorf("%v drawings in the dialog after a step", n)
	}
	c.press("Escape")
	const seen = `[...document.querySelectorAll('.open .drawn g')].filter((e) => e.getBoundingClientRect().width > 0).length + 100 * [...document.querySelectorAll('.open .drawn image')].filter((e) => e.getBoundingClientRect().width > 0).length`
	for _, step := range []struct {
		click string
		want  float64
	}{{"", 606}, {"boxes", 600}, {"masks", 0}, {"boxes", 6}, {"masks", 606}} {
		if step.click != "" {
			c.eval(fmt.Sprintf(`document.querySelector('.filter').elements.%s.click()`, step.click), nil)
		}
		if n := c.number(seen); n != step.want {
			t.Errorf("after %q: %v, want %v", step.click, n, step.want)
		}
	}
	if s := c.text(`window.violations.join()`); s != "" {
		t.Errorf("the policy had to stop %s", s)
	}
	for _, s := range c.complaints() {
		t.Errorf("the browser complains: %s", s)
	}
}

// chooseClasses chooses classes of objects with the keyboard, together with other filters.
func chooseClasses(t *testing.T, c *chromium) {
	dir := t.TempDir()
	record := func(key string, copy int64, classes ...string) []byte {
		return previewtest.Example(previewtest.EncodePNG(t, previewtest.Noise(3, 40, 30, 3)), key, "", func(b *tfrecord.Builder) {
			b.Int64(imagekey.Copy, copy)
			for i, side := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
				sides := make([]float32, len(classes))
				for k := range sides {
					sides[k] = []float32{0.1, 0.1, 0.8, 0.9}[i]
				}
				b.Float(side, sides...)
			}
			b.String(objects.KeyText, classes...)
		})
	}
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone,
		record("1.png", 0, "cat", "dog", "cat"), record("1.png", 1, "dog"), record("2.png", 0, "dog"), record("3.png", 0), record("4.png", 0, "<b>owl"),
		record("5.png", 0, "cat"), previewtest.Example(previewtest.EncodePNG(t, previewtest.Noise(3, 40, 30, 3)), "6.png", "", func(b *tfrecord.Builder) { b.Float(objects.KeyXMin, 1) }))
	c.open(pageFile(t, dir), 360, 740, "light")
	const options = `[...document.querySelector('.filter [name=object]').options].map((o) => o.textContent).join('|')`
	if s := c.text(options); s != "all|<b>owl (1)|cat (2)|dog (3)|without objects (1)" {
		t.Errorf("the classes are %s", s)
	}
	const visible = `[...document.querySelectorAll('.item')].filter((i) => i.offsetParent !== null).map((i) => i.querySelector('.key').textContent).sort().join(' ')
		+ ', ' + document.querySelector('.filter output').value`
	if s := c.text(`document.querySelector('.filter [name=object]').labels[0].textContent.trim().split(' ')[0]`); s != "Object" {
		t.Errorf("the filter is labelled %q", s)
	}
	c.eval(`document.querySelector('.filter [name=object]').focus()`, nil)
	for _, want := range []string{"4.png, 1 of 7", "1.png 5.png, 3 of 7", "1.png 2.png, 3 of 7", "3.png, 1 of 7"} {
		c.press("ArrowDown")
		if s := c.text(visible); s != want {
			t.Errorf("%s is shown, want %s", s, want)
		}
	}
	c.eval(`{const f = document.querySelector('.filter').elements; f.object.value = '1'; f.key.value = '5'; f.key.dispatchEvent(new Event('input', {bubbles: true}))}`, nil)
	if s := c.text(visible); s != "5.png, 1 of 7" {
		t.Errorf("with a key, %s is shown", s)
	}
	if n := c.number(jsSideways); n != 0 {
		t.Errorf("the page is %v pixels wider than a phone", n)
	}
	for _, s := range c.complaints() {
		t.Errorf("the browser complains: %s", s)
	}
}

// readNames opens pages of values and labels with a common prefix, and checks that each bar's name
// is shown in full.
func readNames(t *testing.T, c *chromium) {
	values, labels := t.TempDir(), t.TempDir()
	var records, images [][]byte
	for i := range 40 {
		name := fmt.Sprintf("measurement_of_station_%d", i%4)
		var b tfrecord.Builder
		b.String("station", name)
		records = append(records, b.Append(nil))
		images = append(images, previewtest.Variant(previewtest.EncodePNG(t, previewtest.Noise(uint64(i), 20, 20, 3)), fmt.Sprintf("%d.png", i), name, 0, "[]"))
	}
	previewtest.WriteFile(t, filepath.Join(values, "a.tfrecord"), tfrecord.CompressionNone, records...)
	previewtest.WriteFile(t, filepath.Join(labels, "a.tfrecord"), tfrecord.CompressionNone, images...)
	for _, page := range []string{pageFile(t, values), pageFile(t, labels)} {
		for _, width := range []int{360, 800, 1280} {
			c.open(page, width, 740, "light")
			names := c.text(`[...document.querySelectorAll('.top th, .balance tbody th')].map((e) => e.textContent + (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight ? ' is cut' : '')).join()`)
			if !strings.Contains(names, "measurement_of_station_3") || strings.Contains(names, "is cut") {
				t.Errorf("%d pixels wide: %s", width, names)
			}
			if n := c.number(jsSideways); n != 0 {
				t.Errorf("%d pixels wide: %v more than the window", width, n)
			}
		}
	}
}

// touchHostilePage opens a page of hostile texts and touches all of it.
func touchHostilePage(t *testing.T, c *chromium) {
	c.open(pageFile(t, hostileSet(t)), 360, 740, "light")
	c.eval(`for (const b of document.querySelectorAll('.open')) { b.click(); b.focus(); document.querySelector('dialog').close(); }`, nil)
	c.eval(`for (const f of document.querySelectorAll('.filter select')) for (const o of f.options) { f.value = o.value; f.dispatchEvent(new Event('input', {bubbles: true})); }`, nil)
	c.eval(`new Promise((done) => setTimeout(done, 100))`, nil)
	if s := c.text(`String(window.injected) + document.title`); !strings.HasPrefix(s, "undefined") {
		t.Errorf("something ran: %s", s)
	}
	if s := c.text(`window.violations.join()`); s != "" {
		t.Errorf("the policy had to stop %s", s)
	}
	if n := c.number(`document.querySelectorAll('script, style').length`); n != 2 {
		t.Errorf("%v scripts and styles, want one of each", n)
	}
	if n := c.number(`[...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on/.test(a.name))).length`); n != 0 {
		t.Errorf("%v elements with handlers", n)
	}
	if n := c.number(jsSideways); n != 0 {
		t.Errorf("the page is %v pixels wider than a phone", n)
	}
	if n := c.number(jsImages + `.filter(Boolean).length`); int(n) != len(hostile) {
		t.Errorf("%v images are shown, want %d", n, len(hostile))
	}
	for _, s := range c.complaints() {
		t.Errorf("the browser complains: %s", s)
	}
}

// breakPolicy proves that the policy works at all: what a page should not have
// neither runs nor loads.
func breakPolicy(t *testing.T, c *chromium) {
	c.open(pageFile(t, photoSet(t)), 800, 600, "light")
	c.eval(`{const s = document.createElement('script'); s.textContent = 'window.injected = 1'; document.body.append(s);
		const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i);
		document.body.insertAdjacentHTML('beforeend', '<p onclick="window.injected = 1">'); document.body.lastElementChild.click();}`, nil)
	c.eval(`new Promise((done) => { const look = (n) => window.violations.length < 3 && n > 0 ? setTimeout(look, 50, n - 1) : done(); look(200); })`, nil)
	if s := c.text(`String(window.injected)`); s != "undefined" {
		t.Error("a foreign script ran")
	}
	if n := c.number(`window.violations.length`); n < 3 {
		t.Errorf("the policy stopped %v of 3: %s", n, c.text(`window.violations.join()`))
	}
}
