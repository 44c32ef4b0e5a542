package convert

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// decoding is a backend that decodes like the codec, and records that it did. It refuses gray
// images, and strands every strands-th.
type decoding struct {
	batches
	name    string
	strands int64 // 0: none
	coded   atomic.Int64
}

func (d *decoding) Decoder() string { return d.name }

func (d *decoding) Render(tasks []*augment.Task) error {
	if err := d.batches.Render(tasks); err != nil {
		return err
	}
	for _, t := range tasks {
		if t.JPEGInfo.Format == "" {
			continue
		}
		n := d.coded.Add(1)
		if t.FellBack = d.strands > 0 && n%d.strands == 0; !t.FellBack && t.JPEGInfo.Channels == 3 {
			t.Decoder = "fake part"
		}
	}
	return nil
}

// mixed is demo with images of many kinds.
func mixed(t *testing.T) string {
	t.Helper()
	src := demo(t)
	for _, name := range []string{"made-gray.jpg", "go-video-001.cmyk.jpeg", "made-ok-progressive.jpg", "imageorient-orientation_6.jpg", "go-video-001.q50.410.jpeg", "made-rgba.png"} {
		data, err := os.ReadFile(filepath.Join("../testdata/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, src, "c/"+name, data)
	}
	return src
}

// decoders returns the decoder of each image of a set, by path.
func decoders(t *testing.T, dir string) map[string]string {
	t.Helper()
	by := map[string]string{}
	for _, m := range examples(t, dir, "train") {
		if m[imagekey.Decoder] == nil {
			t.Fatalf("no %s in a record", imagekey.Decoder)
		}
		by[string(m[imagekey.Filename].([][]byte)[0])] = string(m[imagekey.Decoder].([][]byte)[0])
	}
	return by
}

// TestBackendDecodes makes sets with images decoded by the backend: the pixels are the same, and
// each record names its decoder.
func TestBackendDecodes(t *testing.T) {
	t.Parallel()
	src := mixed(t)
	cases := []struct {
		name string
		o    ImageOptions
	}{
		{"jpeg", ImageOptions{Resize: augment.ResizeSpec{Width: 400, Height: 300, NoAntialias: true}}},
		{"raw", ImageOptions{Resize: augment.ResizeSpec{Square: 48}, Encode: EncodeSpec{Format: Raw}, ExactPixels: true}},
		{"png", ImageOptions{Encode: EncodeSpec{Format: PNG}}},
		{"float32", ImageOptions{Encode: EncodeSpec{Format: Float32}, Resize: augment.ResizeSpec{Square: 40, NoAntialias: true}, ExactPixels: true}},
		{"gray", ImageOptions{Encode: EncodeSpec{Format: Raw, Channels: 1}}},
		{"variants", ImageOptions{Encode: EncodeSpec{Format: Raw}, Augment: AugmentSpec{Policy: policy(t, "random_resized_crop:240|hflip|color_jitter:0.4,0.4,0.4,0.1"), Copies: 2, KeepOriginal: true}}},
	}
	for _, c := range cases[:race.Few(len(cases), 2)] {
		t.Run(c.name, func(t *testing.T) {
			o := c.o
			o.Name, o.Shards, o.MaxErrors = "pets", 2, Tolerance{Count: 100}
			plain := t.TempDir()
			mustImages(t, src, plain, o)
			o.BackendDecodes = true
			var first map[string]string
			for _, workers := range []int{1, 3} {
				b := &decoding{name: "fake 1"}
				o.Backend, o.Workers = b, workers
				out := t.TempDir()
				s := mustImages(t, src, out, o)
				if first == nil {
					first = contents(t, out)
				}
				sameSet(t, contents(t, out), first)
				codec := strings.TrimPrefix(s.Decoder, "fake 1; ")
				if codec == s.Decoder || s.Decoded["fake part"] < 10 || s.Decoded[codec] < 3 || s.Decoded["png"] < 1 || len(s.Decoded) != 3 {
					t.Errorf("decoder %q, %v", s.Decoder, s.Decoded)
				}
				if s := mustImages(t, src, out, o); s.Status != UpToDate || s.Decoded != nil {
					t.Errorf("again: %+v", s)
				}
				by := decoders(t, out)
				for name, want := range map[string]string{
					"c/made-gray.jpg": codec, "c/go-video-001.cmyk.jpeg": codec, "c/go-video-001.q50.410.jpeg": codec, "c/made-rgba.png": "png",
					"c/made-ok-progressive.jpg": "fake part", "c/imageorient-orientation_6.jpg": "fake part",
				} {
					if by[name] != want {
						t.Errorf("%s was decoded by %q; want %q", name, by[name], want)
					}
				}
				if got, want := contents(t, out)["errors.jsonl"], contents(t, plain)["errors.jsonl"]; got != want {
					t.Errorf("the ledger is\n%s\nwithout a backend\n%s", got, want)
				}
				without := examples(t, plain, "train")
				for i, m := range examples(t, out, "train") {
					delete(m, imagekey.Decoder)
					if !maps.EqualFunc(m, without[i], sameFeature) {
						t.Errorf("record %d (%s) differs beyond its decoder", i, m[imagekey.Filename])
					}
				}
			}
		})
	}
}

func sameFeature(a, b any) bool {
	switch a := a.(type) {
	case [][]byte:
		b, ok := b.([][]byte)
		return ok && slices.EqualFunc(a, b, slices.Equal)
	case []int64:
		b, ok := b.([]int64)
		return ok && slices.Equal(a, b)
	case []float32:
		b, ok := b.([]float32)
		return ok && slices.Equal(a, b)
	}
	return a == nil && b == nil
}

// TestFellBackImages: they are reported, and their shards are made again once the backend works:
// then the set is that of an undisturbed run.
func TestFellBackImages(t *testing.T) {
	t.Parallel()
	src := mixed(t)
	o := ImageOptions{
		Options: Options{Name: "pets", Shards: 8, MaxErrors: Tolerance{Count: 100}, Workers: 1},
		Encode:  EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Square: 16, NoAntialias: true}, BackendDecodes: true,
	}
	o.Backend = &decoding{name: "fake 1"}
	want := t.TempDir()
	mustImages(t, src, want, o)

	out := t.TempDir()
	o.Backend = &decoding{name: "fake 1", strands: 12}
	s := mustImages(t, src, out, o)
	stranded := 0
	undisturbed := decoders(t, want)
	for name, by := range decoders(t, out) {
		if by != undisturbed[name] {
			stranded++
		}
	}
	if stranded == 0 || stranded > 2 || s.Status != Written {
		t.Fatalf("%d are stranded: %+v", stranded, s)
	}
	o.Backend = &decoding{name: "fake 1"}
	if s := mustImages(t, src, out, o); s.Status != Updated || s.ShardsWritten == 0 || s.ShardsWritten > 2 {
		t.Errorf("made anew: %+v", s)
	}
	sameSet(t, contents(t, out), contents(t, want))
	if s := mustImages(t, src, out, o); s.Status != UpToDate {
		t.Errorf("again: %+v", s)
	}
}

// TestOtherDecoders: a run with another decoder neither finishes a set nor considers it up to date.
func TestOtherDecoders(t *testing.T) {
	t.Parallel()
	src := directories(t, 4)
	o := ImageOptions{Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Square: 8, NoAntialias: true}}
	with := func(name string) ImageOptions {
		o := o
		if name != "" {
			o.Backend, o.BackendDecodes = &decoding{name: name}, true
		}
		return o
	}
	for _, c := range []struct{ was, now, says string }{
		{"", "fake 1", "(without ImageOptions.BackendDecodes it is the former)"},
		{"fake 1", "", "(ImageOptions.Backend with ImageOptions.BackendDecodes selects the former, on a machine with such a GPU and nvJPEG)"},
		{"fake 1", "fake 2", "(it is another nvJPEG, another kind of GPU, or another CodecOptions.Decoder)"},
	} {
		out := t.TempDir()
		mustImages(t, src, out, with(c.was))
		if _, err := Images(context.Background(), src, out, with(c.now)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, then %q: %v; want %s", c.was, c.now, err, c.says)
		}
		over := with(c.now)
		over.Overwrite = true
		if s := mustImages(t, src, out, over); s.Status != Written && s.Status != Updated {
			t.Errorf("%+v", s)
		}
	}
}

func TestOptionsAboutDecoding(t *testing.T) {
	t.Parallel()
	src := directories(t, 3)
	small := augment.ResizeSpec{Square: 8, NoAntialias: true}
	for _, o := range []ImageOptions{
		{BackendDecodes: true, Resize: small},
		{BackendDecodes: true, Resize: small, Backend: augment.CPU{}},
		{BackendDecodes: true, Resize: small, Backend: &decoding{}},
		{BackendDecodes: true, Backend: &decoding{name: "fake 1"}},
	} {
		if _, err := Images(context.Background(), src, t.TempDir(), o); !ofOption(err) {
			t.Errorf("%+v: %v, want a wrong option", o, err)
		}
	}
}
