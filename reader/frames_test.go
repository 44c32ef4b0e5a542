package reader

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeClip builds a record of frames, each with an action, and a label.
func writeClip(b *tfrecord.SequenceBuilder, steps columns.Steps, label int64, frames [][]byte, actions []float32) {
	b.Context.Int64(DefaultLabelKey, label)
	if steps == columns.FlatSteps {
		b.Context.Bytes(DefaultImageKey, frames...)
		b.Context.Float("action", actions...)
		return
	}
	b.List(DefaultImageKey)
	b.List("action")
	for k, frame := range frames {
		b.Bytes(DefaultImageKey, frame)
		b.Float("action", actions[k])
	}
}

// clipSet writes one file of records with so many frames each.
func clipSet(t testing.TB, o Options, steps columns.Steps, lengths []int, frame func(record, frame int) []byte) *Set {
	return writeRecords(t, o, 1, func(int) (records [][]byte) {
		for i, n := range lengths {
			var frames [][]byte
			var actions []float32
			for k := range n {
				frames, actions = append(frames, frame(i, k)), append(actions, float32(100*i+k))
			}
			var b tfrecord.SequenceBuilder
			writeClip(&b, steps, int64(i), frames, actions)
			records = append(records, b.Append(nil))
		}
		return records
	})
}

// plainPNG returns an image of one color.
func plainPNG(t testing.TB, w, h, channels int, sample uint8) []byte {
	im := &augment.Image{}
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = sample
	}
	data, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Episodes become batches of clips of T frames with the actions of the same steps: windows of T
// steps, shuffled, of episodes with fewer steps too.
func TestFramesOfWindows(t *testing.T) {
	const clip, batch, side = 3, 2, 4
	lengths := []int{0, 2, 4, 6, 8}
	for _, c := range []struct {
		stored, read columns.Steps
		partial      bool
	}{
		{columns.FlatSteps, columns.FlatSteps, false},
		{columns.ListSteps, columns.ListSteps, true},
		{columns.ListSteps, columns.FlatSteps, false}, // by WindowSpec.Flat
	} {
		rnd := rand.New(rand.NewPCG(5, 2))
		pixels := map[float32][]byte{} // by action
		set := clipSet(t, Options{Seed: 1}, c.stored, lengths, func(i, k int) []byte {
			im := randomImage(rnd, side, side, 3)
			pixels[float32(100*i+k)] = im.Pix
			data, err := augment.AppendPNG(nil, im)
			if err != nil {
				t.Fatal(err)
			}
			return data
		})
		windows := columns.WindowSpec{Length: clip, Stride: 1, DropRemainder: !c.partial, Flat: c.stored != c.read, Schema: columns.Schema{
			{Key: DefaultImageKey, Kind: tfrecord.KindBytes, Steps: c.stored},
			{Key: "action", Kind: tfrecord.KindFloat, Steps: c.stored},
			{Key: DefaultLabelKey, Kind: tfrecord.KindInt64},
		}}
		f := Images(Windows(set.Interleave(2, 1), windows).Shuffle(8), ImageSpec{
			Size: side, Batch: batch, Steps: c.read, Frames: clip,
			Columns: columns.Schema{{Key: "action", Kind: tfrecord.KindFloat, Steps: c.read, Length: clip, Default: -1.0}},
		})
		var firsts []float32
		for b, err := range f.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n := len(b.Labels)
			if !cmp.Equal(b.Shape, []int{n, clip, side, side, 3}) {
				t.Fatalf("shape %v", b.Shape)
			}
			actions, err := b.Columns.Floats("action")
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range actions {
				want, size := make([]byte, side*side*3), side*side*3
				if length := int(b.Lengths[i/clip]); i%clip < length {
					want = pixels[a]
				} else if a != -1 {
					t.Errorf("the action of frame %d of %d is %v", i%clip, length, a)
				}
				if !bytes.Equal(b.Bytes[i*size:(i+1)*size], want) {
					t.Errorf("frame %d of a batch, of action %v, has other pixels", i, a)
				}
				if i%clip == 0 {
					firsts = append(firsts, a)
				} else if a != -1 && a != actions[i-1]+1 {
					t.Errorf("the actions of a clip are %v", actions)
				}
			}
		}
		want := 0
		for _, n := range lengths {
			if want += max(n-clip+1, 0); c.partial {
				want += min(n, clip-1)
			}
		}
		inOrder := slices.IsSorted(firsts)
		slices.Sort(firsts)
		if n := len(slices.Compact(firsts)); n != len(firsts) || n != want || inOrder {
			t.Errorf("%d clips, %d of them different, in order: %v; want %d", len(firsts), n, inOrder, want)
		}
		checkResume(t, f, func(b *ImageBatch) string { return fmt.Sprint(b.Labels, b.Lengths, b.Bytes[:3]) })
	}
}

// The frames of a record get one draw of the policy, also if they are bright and dark.
func TestFramesGetOneDraw(t *testing.T) {
	policy, err := augment.ParsePolicy("random_crop:4|hflip")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	lengths := slices.Repeat([]int{5}, 20)
	var data []byte
	set := clipSet(t, Options{Seed: 4}, columns.ListSteps, lengths, func(_, k int) []byte {
		if k == 0 {
			var err error
			if data, err = augment.AppendPNG(nil, randomImage(rnd, 16, 16, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return data
	})
	f := Images(set.Records(), ImageSpec{Size: 4, Channels: 1, Policy: policy, Steps: columns.ListSteps, Frames: columns.Longest})
	different := map[string]bool{}
	for b, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for k := range 5 {
			if !bytes.Equal(b.Bytes[16*k:16*k+16], b.Bytes[:16]) {
				t.Errorf("frame %d of record %d was drawn differently", k, b.Labels[0])
			}
		}
		different[string(b.Bytes[:16])] = true
	}
	if len(different) != len(lengths) {
		t.Errorf("%d draws of %d records", len(different), len(lengths))
	}
}

// Stored samples, small and large frames, and a file of empty episodes.
func TestFramesOfManySizes(t *testing.T) {
	read := func(set *Set, spec ImageSpec) *ImageBatch {
		t.Helper()
		all := drain(t, Map(Images(set.Records(), spec), func(b *ImageBatch) (*ImageBatch, error) { return b.Clone(), nil }, MapOptions{}))
		if len(all) != 1 {
			t.Fatalf("%d batches", len(all))
		}
		return all[0]
	}
	rnd := rand.New(rand.NewPCG(1, 9))
	var large [2][]byte // a frame of any brightness, and a bright one
	for k := range large {
		im := randomImage(rnd, 1300, 1300, 3) // 5 MB that hardly compress
		for i := range im.Pix {
			im.Pix[i] |= uint8(128 * k)
		}
		var err error
		if large[k], err = augment.AppendPNG(nil, im); err != nil || len(large[k]) < 4<<20 {
			t.Fatalf("%d bytes, %v", len(large[k]), err)
		}
	}
	for _, steps := range []columns.Steps{columns.ListSteps, columns.FlatSteps}[:race.Few(2, 1)] {
		stored := func(format string, frames ...[]byte) *Set {
			return writeRecords(t, Options{}, 1, func(int) [][]byte {
				var b tfrecord.SequenceBuilder
				writeClip(&b, steps, 7, frames, make([]float32, len(frames)))
				b.Context.String("image/format", format)
				b.Context.Int64("image/height", 1)
				b.Context.Int64("image/width", 2)
				b.Context.Int64("image/channels", 1)
				return [][]byte{b.Append(nil)}
			})
		}
		two := ImageSpec{Resize: augment.ResizeSpec{Width: 2, Height: 1, NoAntialias: true}, Channels: 1, Steps: steps, Frames: 3}
		if b := read(stored("raw", []byte{1, 2}, []byte{3, 4}), two); !slices.Equal(b.Bytes, []byte{1, 2, 3, 4, 0, 0}) || b.Lengths[0] != 2 {
			t.Errorf("stored bytes: %v", b)
		}
		two.DType = Float16
		if b := read(stored("float32", []byte{0, 0, 128, 63, 0, 0, 0, 64}), two); !slices.Equal(b.Halves, []uint16{0x3c00, 0x4000, 0, 0, 0, 0}) || b.Labels[0] != 7 {
			t.Errorf("stored floats: %v", b)
		}

		one := clipSet(t, Options{}, steps, []int{300, 1}, func(i, k int) []byte { return plainPNG(t, 1, 1, 3, uint8(i+k)) })
		b := read(one, ImageSpec{Size: 1, Batch: 2, Steps: steps, Frames: columns.Longest, Workers: 3})
		if !cmp.Equal(b.Shape, []int{2, 300, 1, 1, 3}) || !cmp.Equal(b.Lengths, []int64{300, 1}) {
			t.Fatalf("%v %v", b.Shape, b.Lengths)
		}
		for i, x := range b.Bytes {
			want := uint8(i / 3)
			if i >= 900 {
				if want = 0; i < 903 {
					want = 1
				}
			}
			if x != want {
				t.Fatalf("sample %d is %d, not %d", i, x, want)
			}
		}

		set := clipSet(t, Options{Memory: 16 << 20}, steps, []int{0, 4}, func(_, k int) []byte { return large[k%2] })
		b = read(set, ImageSpec{Size: 2, Batch: 2, Steps: steps, Frames: 4})
		if bright := b.Bytes[48+12] > 150 && b.Bytes[48] < 150; !bright || !cmp.Equal(b.Lengths, []int64{0, 4}) || !bytes.Equal(b.Bytes[:48], make([]byte, 48)) {
			t.Errorf("large frames: %v %v", b.Lengths, b.Bytes)
		}

		empty := clipSet(t, Options{}, steps, []int{0, 0}, nil)
		for frames, want := range map[int]int{columns.Longest: 1, 3: 3} {
			b := read(empty, ImageSpec{Size: 2, Batch: 2, Steps: steps, Frames: frames, DType: Float32})
			if !cmp.Equal(b.Shape, []int{2, want, 2, 2, 3}) || !cmp.Equal(b.Lengths, []int64{0, 0}) || !cmp.Equal(b.Labels, []int64{0, 1}) ||
				!slices.Equal(b.Pixels, make([]float32, 24*want)) {
				t.Errorf("empty episodes: %v", b)
			}
		}
	}
}

// Faults of frames name the file, the record, its offset, the feature and the first bad frame,
// whichever workers are first.
func TestBadFrames(t *testing.T) {
	good := plainPNG(t, 2, 2, 3, 9)
	frames := func(n int, bad ...int) (all [][]byte) {
		for k := range n {
			if all = append(all, good); slices.Contains(bad, k) {
				all[k] = good[:30]
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		steps   columns.Steps
		frames  int
		build   func(b *tfrecord.SequenceBuilder)
		says    string
		padding bool
	}{
		"damaged": {columns.ListSteps, 40, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.ListSteps, 1, frames(40, 21, 22, 37), make([]float32, 40))
		}, `feature "image/encoded": frame 21: `, false},
		"damaged flat": {columns.FlatSteps, columns.Longest, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.FlatSteps, 1, frames(40, 39, 3), make([]float32, 40))
		}, `feature "image/encoded": frame 3: `, false},
		"no bytes": {columns.ListSteps, 4, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.ListSteps, 1, [][]byte{good, nil, good}, make([]float32, 3))
		}, `feature "image/encoded": frame 1: `, false},
		"too long": {columns.FlatSteps, 3, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.FlatSteps, 1, frames(4), make([]float32, 4))
		}, `feature "image/encoded": 4 frames: want at most 3`, false},
		"a list": {columns.FlatSteps, 3, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.ListSteps, 1, frames(2), make([]float32, 4))
		}, `feature "image/encoded": there is no feature of this name, but a feature list`, false},
		"not a list": {columns.ListSteps, 3, func(b *tfrecord.SequenceBuilder) {
			writeClip(b, columns.FlatSteps, 1, frames(2), make([]float32, 4))
		}, `feature "image/encoded": there is no feature list of this name, but a feature`, false},
		"missing": {columns.ListSteps, 3, func(b *tfrecord.SequenceBuilder) { b.List("other") }, `feature "image/encoded": missing`, false},
		"two in a step": {columns.ListSteps, 3, func(b *tfrecord.SequenceBuilder) {
			b.Bytes(DefaultImageKey, good)
			b.Bytes(DefaultImageKey, good, good)
		}, `feature "image/encoded": frame 1: want an image; it has 2 values of kind bytes`, false},
		"kind": {columns.FlatSteps, 3, func(b *tfrecord.SequenceBuilder) { b.Context.Int64(DefaultImageKey, 1, 2) },
			`feature "image/encoded": want images; it has 2 values of kind int64`, false},
		"label": {columns.ListSteps, 3, func(b *tfrecord.SequenceBuilder) { b.Bytes(DefaultImageKey, good[:9]) },
			`feature "image/class/label": want one int64 for a label`, false},
		"padding": {columns.ListSteps, columns.Longest, func(b *tfrecord.SequenceBuilder) {
			for range 20_000 {
				b.Bytes(DefaultImageKey)
			}
		}, `feature "image/encoded": padded to the 20000 frames of this record, in a batch of 2 records`, true},
	} {
		t.Run(name, func(t *testing.T) {
			var first, b tfrecord.SequenceBuilder
			writeClip(&first, c.steps, 0, frames(1), make([]float32, 1))
			c.build(&b)
			records := [][]byte{first.Append(nil), b.Append(nil), first.Append(nil)}
			set := writeRecords(t, Options{}, 1, func(int) [][]byte { return records })
			spec := ImageSpec{Size: 224, Batch: 2, Steps: c.steps, Frames: c.frames, Workers: 4}
			var err error
			for _, err = range Images(set.Records(), spec).All(t.Context()) {
				if err != nil {
					break
				}
			}
			var located *tfrecord.Error
			if !errors.As(err, &located) || located.Record != 1 || located.Offset != int64(len(records[0]))+tfrecord.Overhead ||
				!strings.HasSuffix(located.Name, "00.tfrecord") || !strings.Contains(err.Error(), c.says) || errors.Is(err, columns.ErrPadding) != c.padding {
				t.Fatalf("%v; want record 1 and %q", err, c.says)
			}
			skipping := writeRecords(t, Options{SkipBad: SkipBad{Count: 1}}, 1, func(int) [][]byte { return records })
			n := 0
			for b, again := range Images(skipping.Records(), spec).All(t.Context()) {
				if err = again; err == nil {
					n += len(b.Lengths)
				}
			}
			if c.padding != errors.Is(err, columns.ErrPadding) || !c.padding && (err != nil || n != 2) {
				t.Errorf("skipping it: %d clips, %v", n, err)
			}
		})
	}
}

func TestFramesRefuse(t *testing.T) {
	set := clipSet(t, Options{}, columns.ListSteps, []int{1}, func(int, int) []byte { return nil })
	for says, spec := range map[string]ImageSpec{
		"Frames without Steps":        {Frames: 3},
		"Steps without Frames":        {Steps: columns.FlatSteps},
		"Steps are 3":                 {Steps: 3, Frames: 1},
		"-2 Frames: want Longest":     {Steps: columns.FlatSteps, Frames: -2},
		"samples a batch at most":     {Steps: columns.FlatSteps, Frames: 1 << 28, Batch: 9},
		"columns: the padded columns": {Steps: columns.FlatSteps, Frames: columns.Longest, Batch: 1 << 17},
	} {
		spec.Size = 64
		if _, err := Images(set.Records(), spec).Start(t.Context(), From{}); err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "images: ") {
			t.Errorf("%v; want %q", err, says)
		}
	}
}

// The statistics count records, not frames.
func TestFramesAreCountedAsRecords(t *testing.T) {
	set := clipSet(t, Options{}, columns.ListSteps, []int{3, 0, 7, 2, 5}, func(int, int) []byte { return plainPNG(t, 1, 1, 1, 0) })
	s, err := Images(set.Records(), ImageSpec{Size: 1, Batch: 2, Steps: columns.ListSteps, Frames: 7}).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, stage := range s.Stats() {
		if stage.Name == "pictures" && stage.Elements != 5 {
			t.Errorf("%d elements", stage.Elements)
		}
	}
}
