package gpu_test

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

// What nvJPEG decodes on a GPU is held here to what the CPU makes of it, within a tolerance; on the
// fake, whose nvJPEG rounds as the CPU does, there is none.

// How far pixels may be from the CPU's, after colours were converted and images resized: planes
// that are 3 levels apart make colours that are up to 3 * (1 + 1.772) apart, and a resize rounds
// once more.
const (
	maxPixelsApart  = 10
	meanPixelsApart = 1.0
)

//go:embed testdata/progressive.jpg
var progressive []byte

// openDecoding opens the first GPU with nvJPEG, and a codec to hold it to.
func openDecoding(t testing.TB) (*gpu.Backend, *augment.Codec) {
	t.Helper()
	b := open(t, gpu.Options{Required: true, Decode: true})
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	return b, codec
}

// samples are JPEGs of all kinds that nvJPEG is asked to decode.
func samples(t testing.TB, codec *augment.Codec) (names []string, files [][]byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	add := func(name string, data []byte) { names, files = append(names, name), append(files, data) }
	for _, size := range [][2]int{{500, 375}, {375, 500}, {17, 33}, {1, 1}, {1001, 7}} {
		for _, subsampling := range []string{"420", "422", "440", "444", "gray"} {
			add(fmt.Sprintf("%dx%d %s", size[0], size[1], subsampling), encoded(t, codec, rng, size[0], size[1], subsampling))
		}
	}
	for orientation := 2; orientation <= 8; orientation++ {
		add(fmt.Sprint("turned ", orientation), backendtest.Turned(encoded(t, codec, rng, 90, 61, "420"), orientation))
	}
	add("large", encoded(t, codec, rng, 1280, 720, "420"))
	add("progressive", progressive)
	return names, files
}

// TestDecodedImages does tasks with JPEGs and compares with the CPU's results.
func TestDecodedImages(t *testing.T) {
	b, codec := openDecoding(t)
	names, files := samples(t, codec)
	exact := strings.HasPrefix(b.Device().Name, "tfrec's fake")
	for _, c := range []struct {
		name string
		task augment.Task
	}{
		{"as they are", augment.Task{}},
		{"resized", augment.Task{Resize: &augment.ResizeSpec{Width: 224, Height: 224}}},
		{"cropped and flipped", augment.Task{Draw: augment.Draw{Steps: []augment.Step{augment.CropBox{X: 3, Y: -2, W: 40, H: 30}, augment.HFlip{}}}}},
	} {
		for _, planar := range []bool{false, true} {
			var tasks []*augment.Task
			var of []string
			for i, data := range files {
				one := c.task
				if err := one.ReadJPEG(codec, data); err != nil {
					t.Fatal(names[i], err)
				}
				if one.JPEGPlanes = planar; planar && !codec.TakesPlanes(one.JPEGInfo) {
					continue
				}
				tasks, of = append(tasks, &one), append(of, names[i])
			}
			if err := b.Render(tasks); err != nil {
				t.Fatal(err)
			}
			var worst int
			var mean float64
			for i, task := range tasks {
				apart, average := besideCPU(t, task)
				worst, mean = max(worst, apart), max(mean, average)
				if !strings.HasPrefix(task.Decoder, "nvjpeg ") {
					t.Errorf("%s: decoded by %q", of[i], task.Decoder)
				}
				if apart > maxPixelsApart || average > meanPixelsApart || exact && apart > 0 {
					t.Errorf("%s, %s, planes %v, %s: %d levels apart, %.2f on average; %d and %g are borne", of[i], c.name, planar, task.Decoder, apart, average, maxPixelsApart, meanPixelsApart)
				}
			}
			t.Logf("%s, planes %v: %d levels apart at most, %.3f on average in the worst image", c.name, planar, worst, mean)
		}
	}
	t.Logf("%s: %v", b.Decoder(), b.Stats().Decoded)
}

// besideCPU is how far a task's pixels are from those that the CPU makes of it, at most and on
// average.
func besideCPU(t *testing.T, task *augment.Task) (worst int, mean float64) {
	t.Helper()
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	want := *task
	want.Image, want.Planes, want.Pixels = nil, nil, augment.Image{}
	if err := (augment.CPU{}).Render([]*augment.Task{&want}); err != nil || want.Err != nil {
		t.Fatal(err, want.Err)
	}
	if len(want.Pixels.Pix) != len(task.Pixels.Pix) || want.Pixels.Width != task.Pixels.Width {
		t.Fatalf("%d bytes; want %d", len(task.Pixels.Pix), len(want.Pixels.Pix))
	}
	sum := 0
	for i, v := range want.Pixels.Pix {
		d := int(task.Pixels.Pix[i]) - int(v)
		d = max(d, -d)
		worst, sum = max(worst, d), sum+d
	}
	return worst, float64(sum) / float64(len(want.Pixels.Pix))
}

// TestPixelsDoNotDependOnTheBatch: a set must not hang on which images a worker has at hand.
func TestPixelsDoNotDependOnTheBatch(t *testing.T) {
	b, codec := openDecoding(t)
	names, files := samples(t, codec)
	render := func(which ...int) []*augment.Task {
		var tasks []*augment.Task
		for _, i := range which {
			task := new(augment.Task)
			if err := task.ReadJPEG(codec, files[i]); err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, task)
		}
		if err := b.Render(tasks); err != nil {
			t.Fatal(err)
		}
		return tasks
	}
	var all, reversed []int
	for i := range files {
		all, reversed = append(all, i), append(reversed, len(files)-1-i)
	}
	together, backwards := render(all...), render(reversed...)
	for i := range files {
		alone := render(i)[0]
		for _, other := range []*augment.Task{together[i], backwards[len(files)-1-i]} {
			if other.Decoder != alone.Decoder || !bytes.Equal(other.Pixels.Pix, alone.Pixels.Pix) {
				t.Errorf("%s comes out otherwise in a batch: by %q and %q", names[i], other.Decoder, alone.Decoder)
			}
		}
	}
}

// TestReopen opens a GPU with nvJPEG, renders and closes it, three times in a process, as a training
// job does that evaluates after each epoch: the pixels are the same each time.
func TestReopen(t *testing.T) {
	var first []byte
	for turn := range 3 {
		t.Run(fmt.Sprint(turn), func(t *testing.T) {
			b, codec := openDecoding(t)
			task := &augment.Task{Resize: &augment.ResizeSpec{Width: 224, Height: 224}}
			data := encoded(t, codec, rand.New(rand.NewPCG(11, 12)), 500, 375, "420")
			if err := task.ReadJPEG(codec, data); err != nil {
				t.Fatal(err)
			}
			if err := b.Render([]*augment.Task{task}); err != nil || task.Err != nil {
				t.Fatal(err, task.Err)
			}
			if turn == 0 {
				first = bytes.Clone(task.Pixels.Pix)
			} else if !bytes.Equal(task.Pixels.Pix, first) {
				t.Error("other pixels than at first")
			}
		})
	}
}

var (
	images     = flag.String("write-pictures", "", "write JPEGs of 500x375 pixels into this directory, to convert them")
	imageCount = flag.Int("write-count", 2000, "how many -write-pictures writes")
)

// TestWritePictures makes what the command is timed with.
func TestWritePictures(t *testing.T) {
	if *images == "" {
		t.Skip("only with -write-pictures")
	}
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range *imageCount {
		dir := filepath.Join(*images, fmt.Sprint("class", i%10))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.jpg", i)), encoded(t, codec, rng, 500, 375, "420"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
