package reader

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// testBackend is the CPU with calls of several tasks.
type testBackend struct {
	size   int
	render func(call int, tasks []*augment.Task) error // called first; nil: nothing is

	mu    sync.Mutex
	calls int
}

func (b *testBackend) Batch() int { return b.size }

func (b *testBackend) Render(tasks []*augment.Task) error {
	b.mu.Lock()
	b.calls++
	call := b.calls
	b.mu.Unlock()
	if b.render != nil {
		if err := b.render(call, tasks); err != nil {
			return err
		}
	}
	return augment.CPU{}.Render(tasks)
}

// hostBackend is a testBackend with memory, which it overwrites when it is freed.
type hostBackend struct {
	testBackend
	given, freed int
	none         bool // there is none left
}

func (b *hostBackend) AllocHost(n int) ([]byte, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.none {
		return nil, nil
	}
	b.given++
	memory := make([]byte, n)
	return memory, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.freed++
		pipeline.Fill(memory, pipeline.PoisonByte)
	}
}

// drawBackend sets no backend, a plain one, or one with memory. The function it returns checks that
// this was freed.
func drawBackend(r *rand.Rand, s *ImageSpec) (check func(*testing.T)) {
	host := &hostBackend{testBackend: testBackend{size: 1 + r.IntN(12)}}
	switch r.IntN(3) {
	case 0:
	case 1:
		s.Backend = &host.testBackend
	default:
		if s.Backend = host; s.Frames != columns.Longest {
			return host.checkFreed
		}
	}
	return func(*testing.T) {}
}

// checkFreed fails the test if memory was not given out, or not freed.
func (b *hostBackend) checkFreed(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given == 0 || b.given != b.freed {
		t.Errorf("%d pieces of memory given out, %d freed", b.given, b.freed)
	}
}

// decodingBackend is a testBackend that says that it decodes.
type decodingBackend struct{ testBackend }

func (b *decodingBackend) Decoder() string { return "test" }

// All memory of a backend is freed when a flow is closed, however far it was read and whatever
// follows, and none of it is read afterwards.
func TestImagesFreeMemory(t *testing.T) {
	set := imageSet(t, 9, func(i int, data []byte) []byte {
		if i == 5 {
			return data[:len(data)/2]
		}
		return data
	})
	set.files.Opts.SkipBad.Count = 100
	p := set.Records().Repeat(4)
	sum := func(b *ImageBatch) (n int, err error) {
		for _, x := range b.Halves {
			n += int(x)
		}
		return n, nil
	}
	for _, read := range []int{0, 1, 2, 5, 100} {
		b := &hostBackend{testBackend: testBackend{size: 3}}
		images := Images(p, ImageSpec{Size: 8, Batch: 4, DType: BFloat16, Backend: b})
		readAndClose(t, images, read)
		readAndClose(t, images.Prefetch(3), read)
		readAndClose(t, Map(images, sum, MapOptions{Workers: 2}), read)
		readAndClose(t, Batch(images, 2, BatchOptions{}), read)
		readAndClose(t, images.Filter(func(b *ImageBatch) (bool, error) { return b.Labels[0]%2 == 0, nil }), read)
		b.checkFreed(t)
	}
}

// readAndClose reads some elements of a flow in each of two epochs, and closes it.
func readAndClose[T any](t *testing.T, f Flow[T], n int) {
	t.Helper()
	s, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		for range n {
			if _, err := s.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.NextEpoch(); err != nil {
			t.Fatal(err)
		}
	}
}

// A Clone is valid after Close, and a batch has nothing of what was freed.
func TestImagesAfterClose(t *testing.T) {
	for _, none := range []bool{false, true} {
		b := &hostBackend{testBackend: testBackend{size: 3}, none: none}
		s, err := Images(imageSet(t, 9, nil).Records(), ImageSpec{Size: 8, Batch: 4, Backend: b}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		clone, want := batch.Clone(), slices.Clone(batch.Bytes)
		s.Close()
		if !slices.Equal(clone.Bytes, want) || !none && batch.Bytes != nil {
			t.Errorf("without memory %v: the clone has %d of %d bytes; the batch %d", none, len(clone.Bytes), len(want), len(batch.Bytes))
		}
	}
}

// While a batch is used, others are made, and calls of the backend overlap, even on one processor.
func TestImagesOverlap(t *testing.T) {
	second := make(chan struct{})
	b := &testBackend{size: 4, render: func(call int, _ []*augment.Task) error {
		switch call {
		case 1:
			<-second
		case 2:
			close(second)
		}
		return nil
	}}
	set := imageSet(t, 9, nil)
	set.files.Opts.Parallelism = 1
	rows := 0
	for batch, err := range Images(set.Records(), ImageSpec{Size: 8, Batch: 4, Backend: b}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Shape[0]
	}
	if rows != 18 {
		t.Errorf("%d rows", rows)
	}
}

// A backend that does not work ends the flow, also where damage may be skipped.
func TestImagesBackendFails(t *testing.T) {
	broken := errors.New("the device is lost")
	set := imageSet(t, 9, nil)
	set.files.Opts.SkipBad.Share = 1
	b := &hostBackend{testBackend: testBackend{size: 3, render: func(call int, _ []*augment.Task) error {
		if call > 3 {
			return broken
		}
		return nil
	}}}
	var err error
	for _, err = range Images(set.Records(), ImageSpec{Size: 8, Batch: 3, Backend: b}).All(t.Context()) {
	}
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "the backend of the images failed") {
		t.Error(err)
	}
	b.checkFreed(t)
}

// Images that wait for the backend share Options.Memory, and are handed over if there is no more.
func TestImagesOfBackendShareMemory(t *testing.T) {
	im := &augment.Image{}
	im.Reset(100, 100, 1)
	data, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := codec.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	images := make([][]byte, 60)
	for i := range images {
		images[i] = data
	}
	largest := 0
	b := &testBackend{size: 16}
	b.render = func(_ int, tasks []*augment.Task) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		largest = max(largest, len(tasks))
		return nil
	}
	rows := 0
	set := setOf(t, Options{Memory: 5 * info.Memory(), Parallelism: 3}, images...)
	for batch, err := range Images(set.Records(), ImageSpec{Size: 8, Batch: 20, Backend: b}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Shape[0]
	}
	if rows != len(images) || largest < 1 || largest > 5 {
		t.Errorf("%d images, up to %d at a time", rows, largest)
	}
}

// A backend that decodes gets JPEGs undamaged, and the batch names what decoded them.
func TestImagesOfDecodingBackend(t *testing.T) {
	files := trialImages(t)[:5]
	im := randomImage(rand.New(rand.NewPCG(4, 4)), 40, 30, 3)
	other, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	damaged := files[0][:len(files[0])*2/3]
	set := setOf(t, Options{SkipBad: SkipBad{Count: 1}}, append(files, damaged, other)...)
	spec := ImageSpec{Size: 20, Batch: 10, ExactPixels: true, DType: Float32}
	read := func() (batches []*ImageBatch) {
		for b, err := range Images(set.Records(), spec).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			batches = append(batches, b.Clone())
		}
		return batches
	}
	want := read()
	b := &decodingBackend{testBackend{size: 4}}
	undecoded := 0
	b.render = func(_ int, tasks []*augment.Task) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, task := range tasks {
			if task.Image == nil && task.Planes == nil {
				undecoded++
			}
		}
		return nil
	}
	spec.Backend = b
	got := read()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want[0].Decoders = append(slices.Repeat([]string{codec.Decoder()}, len(files)), "")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ImageBatch{}, columns.Column{}), cmpopts.EquateEmpty()); diff != "" || undecoded != len(files) {
		t.Errorf("%d JPEGs for the backend: (-want +got)\n%.2000s", undecoded, diff)
	}
}
