package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDeepFindsEachFault damages an intact set in one way at a time and requires exactly the
// resulting findings, with a manifest and without.
func TestDeepFindsEachFault(t *testing.T) {
	const label, text, encoded = "image/class/label", "image/class/text", "image/encoded"
	tests := []struct {
		name string
		harm func(r []*sampleRecord)
		want string // with a manifest
		bare string // without one; = for the same
	}{
		{"nothing", func([]*sampleRecord) {}, "", "="},
		{"cut picture", func(r []*sampleRecord) {
			p := &r[5].texts[encoded][0]
			*p = (*p)[:len(*p)/2]
		}, "f picture train 5 image/encoded", "="},
		{"a bit of a picture", func(r []*sampleRecord) { r[7].texts[encoded][0][60] ^= 4 }, "f picture train 7 image/encoded", "="},
		{"no picture", func(r []*sampleRecord) { r[14].texts[encoded][0] = []byte("<html>") }, "f not_picture test 2 image/encoded", "="},
		{"empty picture", func(r []*sampleRecord) { r[14].texts[encoded][0] = nil }, "f not_picture test 2 image/encoded", "="},
		{"bomb", func(r []*sampleRecord) {
			p := bytes.Clone(r[3].texts[encoded][0])
			p[16], p[20] = 1, 1 // 16 million pixels per side
			r[3].texts[encoded][0] = p
		}, "f picture train 3 image/encoded", "="}, // the header's CRC is wrong, too
		{"height", func(r []*sampleRecord) { r[2].ints["image/height"][0]++ }, "f height train 2 image/height", "="},
		{"width", func(r []*sampleRecord) { r[2].ints["image/width"][0] = -5 }, "f width train 2 image/width", "="},
		{"channels", func(r []*sampleRecord) { r[2].ints["image/channels"][0] = 1 }, "f channels train 2 image/channels", "="},
		{"format", func(r []*sampleRecord) { r[23].texts["image/format"][0] = []byte("JPEG") }, "f format test 11 image/format", "="},
		{"label too large", func(r []*sampleRecord) { r[1].ints[label][0] = 3; r[1].texts[text][0] = []byte("dog") },
			"f label train 1 image/class/label", ""},
		{"label far too small", func(r []*sampleRecord) { r[1].ints[label][0] = math.MinInt64 },
			"f label train 1 image/class/label", ""},
		{"unlabelled", func(r []*sampleRecord) { r[1].ints[label][0] = -1 }, "", "="},
		{"text of another label", func(r []*sampleRecord) { r[1].texts[text][0] = []byte("cat") },
			"f label_text train 1 image/class/label", "="},
		{"one text too many", func(r []*sampleRecord) { r[4].texts[text] = append(r[4].texts[text], []byte("x")) },
			"f label_text train 4 image/class/label|f schema train 4 image/class/text", "f label_text train 4 image/class/label|w schema train 4 image/class/text"},
		{"labels as a list", func(r []*sampleRecord) {
			r[4].ints[label] = []int64{1, 9}
			r[4].texts[text] = [][]byte{[]byte("bee"), []byte("x")}
		}, "f label train 4 image/class/label|f schema train 4 image/class/label|f schema train 4 image/class/text",
			"w schema train 4 image/class/label|w schema train 4 image/class/text"},
		{"label as text", func(r []*sampleRecord) { r[6].drop(label); r[6].texts[label] = [][]byte{[]byte("zebra")} },
			"f label train 6 image/class/label|f schema train 6 image/class/label", "f schema train 6 image/class/label"},
		{"label as a known text", func(r []*sampleRecord) { r[6].drop(label); r[6].texts[label] = [][]byte{[]byte("ant")} },
			"f schema train 6 image/class/label", "="},
		{"label not a number", func(r []*sampleRecord) {
			r[6].drop(label)
			r[6].floats = map[string][]float32{label: {float32(math.NaN())}}
		}, "f label train 6 image/class/label|f schema train 6 image/class/label", "="},
		{"label a fraction", func(r []*sampleRecord) { r[6].drop(label); r[6].floats = map[string][]float32{label: {1.5}} },
			"f label train 6 image/class/label|f schema train 6 image/class/label", "f schema train 6 image/class/label"},
		{"another kind", func(r []*sampleRecord) {
			for _, r := range r[8:10] {
				r.drop("image/height")
				r.texts["image/height"] = [][]byte{[]byte("12")}
			}
		}, "f schema train 8 image/height x2", "="},
		{"another length", func(r []*sampleRecord) { r[20].ints["image/channels"] = []int64{3, 3} },
			"f schema test 8 image/channels", "w schema test 8 image/channels"},
		{"missing", func(r []*sampleRecord) { r[13].drop("image/format"); r[15].drop("image/format") },
			"f missing test 1 image/format x2", "w missing test 1 image/format x2"},
		{"surplus", func(r []*sampleRecord) { r[13].ints["more"] = []int64{1} },
			"f schema test 1 more", "w missing test 0 more x23"},
		{"same again", func(r []*sampleRecord) {
			r[11].texts[encoded], r[11].ints["image/width"] = r[8].texts[encoded], r[8].ints["image/width"]
		},
			"w duplicate train 11 train 8 cat/08.png", "="},
		{"same again with another label", func(r []*sampleRecord) {
			r[10].texts[encoded], r[10].ints["image/width"] = r[8].texts[encoded], r[8].ints["image/width"]
		}, "w conflict train 10 train 8 cat/08.png", "="},
		{"leak", func(r []*sampleRecord) { r[21].texts[encoded] = r[9].texts[encoded] },
			"f leak train 9 test 9 ant/21.png", "="}, // test's shard comes before train's
		{"no Example", func(r []*sampleRecord) { r[16].raw = []byte("\xff\xffno message") },
			"f message test 4", "="},
	}
	for _, test := range tests {
		if test.bare == "=" {
			test.bare = test.want
		}
		dir := deepSet(t, test.harm)
		for _, described := range []bool{true, false} {
			want := test.want
			if !described {
				want = test.bare
				undescribe(t, dir)
			}
			report := verifyDeep(t, Options{}, dir)
			if got := strings.Join(brief(report), "|"); got != want {
				t.Errorf("%s, manifest %v: %q, want %q", test.name, described, got, want)
			}
			if report.OK != (len(report.Faults) == 0 && !strings.HasPrefix(want, "f ") && !strings.Contains(want, "|f ")) {
				t.Errorf("%s: OK is %v with %q and %v", test.name, report.OK, want, report.Faults)
			}
			if test.name != "no Example" && len(report.Faults) != 0 {
				t.Errorf("%s: faults %v", test.name, report.Faults)
			}
			for _, file := range report.Files {
				named := slices.ContainsFunc(report.Deep.Findings, func(f Finding) bool { return f.Severity == SeverityFault && f.Path == file.Path })
				if file.OK == named && test.name != "no Example" {
					t.Errorf("%s: %s is OK: %v", test.name, file.Path, file.OK)
				}
			}
			for _, f := range report.Deep.Findings {
				if f.Message == "" || f.Advice == "" || f.Offset < 0 || f.Records < 1 || filepath.Dir(f.Path) == "." {
					t.Errorf("%s: %+v", test.name, f)
				}
				if f.Key == "" && test.name != "no Example" {
					t.Errorf("%s: no key in %+v", test.name, f)
				}
			}
		}
	}
}

func TestDeepSaysWhatItDid(t *testing.T) {
	report := verifyDeep(t, Options{}, deepSet(t, func([]*sampleRecord) {}))
	d := report.Deep
	want := &DeepReport{
		Records: 24, Messages: map[string]int64{"tf.train.Example": 24}, Images: 24, Decoded: 24,
		Labels:   []DeepLabels{{Feature: "image/class/label", Path: filepath.Dir(report.Files[0].Path), Names: 3, From: manifest.File}},
		Findings: []Finding{}, Counts: map[FindingKind]int64{}, NotChecked: []string{},
	}
	if diff := cmp.Diff(want, d, cmp.AllowUnexported(DeepReport{})); diff != "" || !report.OK {
		t.Error(diff)
	}
	report = verifyDeep(t, Options{Deep: &DeepOptions{}}, deepSet(t, func(r []*sampleRecord) { r[2].texts["image/encoded"][0][60]++ }))
	if !report.OK || report.Deep.Decoded != 0 || !strings.Contains(fmt.Sprint(report.Deep.NotChecked), "not decoded") {
		t.Errorf("without a decoder: %+v", report.Deep)
	}
}

// TestDeepIsTheSameForAnyWorkers also makes hashes go to a temporary file.
func TestDeepIsTheSameForAnyWorkers(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for i, r := range r {
			r.texts["image/encoded"][0] = r.texts["image/encoded"][0][:100+i%5]
			r.ints["image/class/label"][0] = int64(i % 2)
		}
	})
	undescribe(t, dir)
	var want *Report
	for _, workers := range []int{1, 2, 7} {
		for _, memory := range []int64{0, 1} {
			got := verifyDeep(t, Options{Workers: workers, Deep: &DeepOptions{Decode: decodePNG, Near: true, Memory: memory, TempDir: t.TempDir()}}, dir)
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(DeepReport{})); diff != "" {
				t.Errorf("%d workers: %s", workers, diff)
			}
		}
	}
	if len(want.Deep.Findings) < 24 {
		t.Errorf("%d findings", len(want.Deep.Findings))
	}
}

// TestDeepBoundsWhatItLists damages all records.
func TestDeepBoundsWhatItLists(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for _, h := range r {
			h.ints["image/height"][0] = 7
			h.texts["image/encoded"][0] = r[0].texts["image/encoded"][0]
			h.ints["image/width"][0] = 9
		}
	})
	report := verifyDeep(t, Options{MaxFaults: 5, Deep: &DeepOptions{Decode: decodePNG, MaxFindings: 3}}, dir)
	d := report.Deep
	kinds := map[FindingKind]int{}
	for _, f := range d.Findings {
		kinds[f.Kind]++
	}
	if diff := cmp.Diff(map[FindingKind]int{FindingHeight: 10, FindingConflict: 3, FindingLeak: 3}, kinds); diff != "" {
		t.Error(diff)
	}
	if d.Counts[FindingHeight] != 24 || d.Duplicates.Records != 23 || d.Duplicates.Leaks != 12 || d.Duplicates.Groups != 1 || d.Omitted != 14+9+8 {
		t.Errorf("%v %+v, %d omitted", d.Counts, d.Duplicates, d.Omitted)
	}
}

// TestDeepFindsVariantsInOtherSplits assigns augmented copies to splits one by one.
func TestDeepFindsVariantsInOtherSplits(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for i, r := range r {
			r.ints["augment/copy"] = []int64{int64(i % 2)}
		}
		for i, of := range map[int]int{3: 2, 14: 2, 21: 5} {
			r[i].texts["image/filename"] = r[of].texts["image/filename"]
		}
	})
	undescribe(t, dir)
	for _, memory := range []int64{0, 1} {
		report := verifyDeep(t, Options{Deep: &DeepOptions{Decode: decodePNG, Memory: memory}}, dir)
		const want = "f variant_leak train 2 test 2 cat/02.png|f variant_leak train 3 test 2 cat/02.png|f variant_leak train 5 test 9 cat/05.png"
		if got := strings.Join(brief(report), "|"); got != want || report.OK || report.Deep.Duplicates != (DuplicateCounts{}) {
			t.Errorf("%s, %+v", got, report.Deep.Duplicates)
		}
	}
	report := verifyDeep(t, Options{Deep: &DeepOptions{Decode: decodePNG, MaxFindings: 1}}, dir)
	if len(report.Deep.Findings) != 1 || report.Deep.Omitted != 2 || report.Deep.Counts[FindingVariantLeak] != 3 {
		t.Errorf("%v", report.Deep)
	}
}

// TestDeepImagesNextToEachOther has an image and a mask per record, with a single declared size.
func TestDeepImagesNextToEachOther(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for i, r := range r {
			r.texts["image/mask"] = [][]byte{noisePNG(t, uint64(100+i), 5, 5)}
		}
		r[3].ints["image/height"][0] = 5 // of the mask
		r[4].ints["image/height"][0] = 6
		mask := &r[5].texts["image/mask"][0]
		*mask = (*mask)[:40]
		r[5].ints["image/height"][0] = 6 // which may be that of the mask
	})
	undescribe(t, dir)
	if got := strings.Join(brief(verifyDeep(t, Options{}, dir)), "|"); got != "f height train 4 image/height|f picture train 5 image/mask" {
		t.Error(got)
	}
}

func TestDeepRecognisesVariantsOfAnImage(t *testing.T) {
	dir := deepSet(t, func(r []*sampleRecord) {
		for i, r := range r {
			r.ints["augment/copy"] = []int64{int64(i % 2)}
		}
		r[1].texts, r[1].ints = r[0].texts, r[0].ints              // of the same image
		r[13].texts["image/encoded"] = r[5].texts["image/encoded"] // still a leak
		r[13].ints["image/width"] = r[5].ints["image/width"]
	})
	undescribe(t, dir)
	report := verifyDeep(t, Options{}, dir)
	if got := strings.Join(brief(report), "|"); got != "f leak train 5 test 1 bee/13.png" || report.Deep.Duplicates.Variants != 1 {
		t.Errorf("%s, %+v", got, report.Deep.Duplicates)
	}
}

// TestDeepLargeVocabulary has a million labels, and compares ids and texts with the file that TFDS
// writes.
func TestDeepLargeVocabulary(t *testing.T) {
	const classes = 1_000_000
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 4, func(i int, b *tfrecord.Builder) {
		b.Int64("a/label", int64(classes-2+i))
		b.String("a/text", fmt.Sprint("n", classes-2+i))
	})
	var names strings.Builder
	for i := range classes {
		fmt.Fprintf(&names, "n%d\n", i)
	}
	settest.PutFile(t, filepath.Join(filepath.Dir(path), "a.label.labels.txt"), []byte(names.String()))
	report := verifyDeep(t, Options{}, path)
	if got := strings.Join(brief(report), "|"); got != "f label  2 a/label|f label  3 a/label" || report.Deep.Labels[0].Names != classes {
		t.Errorf("%s, %+v", got, report.Deep.Labels)
	}
}

// TestDeepSequences finds faults in the steps of SequenceExamples.
func TestDeepSequences(t *testing.T) {
	var data []byte
	for i := range 6 {
		var b tfrecord.SequenceBuilder
		b.Context.Int64("label", int64(i))
		for step := range 3 {
			image := noisePNG(t, uint64(10*i+step), 8, 8)
			if i == 4 && step == 1 {
				image = image[:70]
			}
			b.Bytes("frames", image)
			if i == 5 {
				b.Float("speed", 1)
			} else {
				b.Int64("speed", 1)
			}
		}
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(t.TempDir(), "clips-train.tfrecord")
	settest.PutFile(t, path, data)
	report := verifyDeep(t, Options{}, path)
	if got := strings.Join(brief(report), "|"); got != "f picture train 4 frames|f schema train 5 speed x3" || report.Deep.Images != 18 {
		t.Errorf("%s, %d pictures", got, report.Deep.Images)
	}
}

// TestDeepRawPixels compares the size of raw pixels with the declared one.
func TestDeepRawPixels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	heights := []int64{2, 3, -1, math.MaxInt64}
	settest.ExampleFile(t, path, len(heights), func(i int, b *tfrecord.Builder) {
		b.Bytes("image/encoded", []byte{byte(i), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		b.String("image/format", "raw")
		b.Int64("image/height", heights[i])
		b.Int64("image/width", 2)
		b.Int64("image/channels", 3)
	})
	report := verifyDeep(t, Options{}, path)
	if got := strings.Join(brief(report), "|"); got != "f size  1 image/encoded|f size  2 image/encoded|f size  3 image/encoded" {
		t.Error(got)
	}
}

// TestDeepNeedsItsTemporaryFile fails if there is no room for one.
func TestDeepNeedsItsTemporaryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 40_000, settest.Numbers)
	_, err := Files(context.Background(), []string{path}, Options{Deep: &DeepOptions{Memory: 1, TempDir: filepath.Join(t.TempDir(), "gone")}})
	if !storage.Missing(err) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Files(ctx, []string{path}, Options{Deep: &DeepOptions{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// FuzzDeep checks a record of arbitrary bytes together with a valid one.
func FuzzDeep(f *testing.F) {
	var b tfrecord.Builder
	b.Int64("image/class/label", 1)
	b.String("image/class/text", "bee")
	b.Bytes("image/encoded", noisePNG(f, 1, 8, 8))
	b.String("image/format", "raw")
	b.Int64("image/height", -1)
	f.Add(b.Append(nil))
	var s tfrecord.SequenceBuilder
	s.Context.Float("label", float32(math.NaN()))
	s.Bytes("frames", noisePNG(f, 2, 8, 8))
	f.Add(s.Append(nil))
	f.Add([]byte{0xff})
	good := b.Append(nil)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, record []byte) {
		d := newDeepRun(t.Context(), &DeepOptions{Decode: decodePNG, Near: true, TempDir: dir}, []shard.Source{{Path: filepath.Join(dir, "x.tfrecord")}}, 1, 10)
		defer d.close()
		batch := new(deepBatch)
		for i, r := range [][]byte{good, record, record} {
			batch.add(r, int64(i), int64(i))
		}
		l := <-d.scanners
		settest.Check(t, l.lookAt(context.Background(), 0, batch))
		d.scanners <- l
		report, err := d.report(context.Background(), []deepFindings{{list: batch.findings}})
		settest.Check(t, err)
		if report.Duplicates.Records < 1 {
			t.Errorf("%+v", report.Duplicates)
		}
	})
}
