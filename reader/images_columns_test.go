package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// detectionSchema are the features of detectionSet beside image and label.
var detectionSchema = columns.Schema{
	{Key: "boxes", Kind: tfrecord.KindFloat, Ragged: true},
	{Key: "tags", Kind: tfrecord.KindInt64, Ragged: true},
	{Key: "target", Kind: tfrecord.KindFloat, Shape: []int{2}},
	{Key: "name", Kind: tfrecord.KindBytes, Default: "none"},
}

// detectionSet writes n images with boxes, tags, a target and, for some, a name. Images whose
// number is in damaged are, and the target of those in misfits has one value too many.
func detectionSet(t *testing.T, o Options, n int, damaged, misfits []int) *Set {
	t.Helper()
	im := &augment.Image{}
	im.Reset(9, 7, 3)
	return writeRecords(t, o, 1, func(int) (records [][]byte) {
		for i := range n {
			im.Pix[0] = uint8(i)
			data, err := augment.AppendPNG(nil, im)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(damaged, i) {
				data = data[:len(data)/2]
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, data)
				b.Int64(DefaultLabelKey, int64(i))
				b.Float("boxes", slices.Repeat([]float32{float32(i), 0, 1, 2}, i%3)...)
				b.Int64("tags", slices.Repeat([]int64{int64(i)}, i%4)...)
				b.Float("target", slices.Repeat([]float32{float32(i)}, 2+min(1, 1+slices.Index(misfits, i)))...)
				if i%2 == 0 {
					b.String("name", fmt.Sprint("image ", i))
				}
			}))
		}
		return records
	})
}

// checkDetections compares row r of a batch with image i of detectionSet.
func checkDetections(t *testing.T, b *ImageBatch, r, i int) {
	t.Helper()
	c := &b.Columns
	values := func(key string) (ints []int64, floats []float32) {
		col := c.Get(key)
		from, to := col.Row(r)
		if col.Kind == tfrecord.KindInt64 {
			return col.Int64s[from:to], nil
		}
		return nil, col.Floats[from:to]
	}
	if b.Labels[r] != int64(i) || int(b.Bytes[r*9*7*3]) != i {
		t.Errorf("row %d has label %d and image %d; want %d", r, b.Labels[r], b.Bytes[r*9*7*3], i)
	}
	if _, boxes := values("boxes"); !slices.Equal(boxes, slices.Repeat([]float32{float32(i), 0, 1, 2}, i%3)) {
		t.Errorf("boxes of image %d: %v", i, boxes)
	}
	if tags, _ := values("tags"); !slices.Equal(tags, slices.Repeat([]int64{int64(i)}, i%4)) {
		t.Errorf("tags of image %d: %v", i, tags)
	}
	if _, target := values("target"); !slices.Equal(target, []float32{float32(i), float32(i)}) {
		t.Errorf("target of image %d: %v", i, target)
	}
	want := "none"
	if i%2 == 0 {
		want = fmt.Sprint("image ", i)
	}
	if name := string(c.Get("name").Value(r)); name != want {
		t.Errorf("name of image %d: %q", i, name)
	}
}

// Images and columns stay together, whichever of the two is bad.
func TestImagesWithColumns(t *testing.T) {
	const n = 40
	spec := ImageSpec{Resize: augment.ResizeSpec{Width: 9, Height: 7, NoAntialias: true}, Batch: 6, Columns: detectionSchema}
	for name, bad := range map[string]struct{ damaged, misfits []int }{
		"all good":       {},
		"damaged images": {damaged: []int{0, 7, 8, 39}},
		"misfits":        {misfits: []int{5, 6, 7, 38}},
		"both":           {damaged: []int{1, 12, 13, 14, 20}, misfits: []int{0, 15, 16, 17, 20, 21}},
	} {
		t.Run(name, func(t *testing.T) {
			left := []int{}
			for i := range n {
				if !slices.Contains(bad.damaged, i) && !slices.Contains(bad.misfits, i) {
					left = append(left, i)
				}
			}
			skipped := 0
			o := Options{SkipBad: SkipBad{Count: n}, OnSkip: func(Skipped) { skipped++ }}
			set := detectionSet(t, o, n, bad.damaged, bad.misfits)
			got := 0
			for b, err := range Images(set.Records(), spec).All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Columns.Rows != b.Shape[0] || len(b.Labels) != b.Shape[0] {
					t.Fatalf("%d rows of columns, shape %v, %d labels", b.Columns.Rows, b.Shape, len(b.Labels))
				}
				for r := range b.Columns.Rows {
					checkDetections(t, b, r, left[got])
					got++
				}
			}
			if got != len(left) || skipped != n-got {
				t.Errorf("%d images, %d skipped; want %d of %d", got, skipped, len(left), n)
			}
			checkResume(t, Images(set.Records().Repeat(2), spec), func(b *ImageBatch) string {
				return fmt.Sprintf("%v %x %v", b.Labels, b.Bytes, b.Columns)
			})
		})
	}
}

// The first bad record is the one that is named, whichever part of it is bad.
func TestImagesSayWhichColumnIsBad(t *testing.T) {
	spec := ImageSpec{Size: 4, Batch: 8, Columns: detectionSchema}
	for _, c := range []struct {
		damaged, misfits []int
		record           int64
		says             string
	}{
		{[]int{4}, []int{2}, 2, `feature "target": 3 values`},
		{[]int{2}, []int{4}, 2, `feature "image/encoded"`},
		{[]int{2}, []int{2}, 2, `feature "image/encoded"`},
	} {
		var err error
		for _, err = range Images(detectionSet(t, Options{}, 10, c.damaged, c.misfits).Records(), spec).All(context.Background()) {
		}
		var located *tfrecord.Error
		if !errors.As(err, &located) || located.Record != c.record || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v; want record %d, %s", err, c.record, c.says)
		}
	}
	spec.Columns = columns.Schema{}
	if _, err := Images(imageSet(t, 1, nil).Records(), spec).Start(context.Background(), From{}); err == nil {
		t.Error("a schema without fields")
	}
}

// Boxes as steps of four numbers are padded to the most boxes of an image in the batch, without the
// rows of bad images.
func TestImagesWithPaddedBoxes(t *testing.T) {
	set := detectionSet(t, Options{SkipBad: SkipBad{Count: 2}}, 12, []int{2, 8}, nil)
	spec := ImageSpec{Resize: augment.ResizeSpec{Width: 9, Height: 7, NoAntialias: true}, Batch: 4, Columns: columns.Schema{{
		Key: "boxes", Kind: tfrecord.KindFloat, Shape: []int{4}, Steps: columns.FlatSteps, Length: columns.Longest, AllowMissing: true, Default: float32(-1),
	}}}
	images := 0
	for b, err := range Images(set.Records(), spec).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		c := b.Columns.Get("boxes")
		var want []float32
		var lengths []int64
		most := 0
		for _, label := range b.Labels {
			most = max(most, int(label)%3)
		}
		for _, label := range b.Labels {
			n := int(label) % 3
			lengths = append(lengths, int64(n))
			want = append(want, slices.Repeat([]float32{float32(label), 0, 1, 2}, n)...)
			want = append(want, slices.Repeat([]float32{-1}, 4*(most-n))...)
		}
		if shape := []int{len(b.Labels), most, 4}; !slices.Equal(c.Shape, shape) || !slices.Equal(c.Floats, want) {
			t.Errorf("images %v: boxes of shape %v, %v; want %v, %v", b.Labels, c.Shape, c.Floats, shape, want)
		}
		if got := c.Lengths(nil); !slices.Equal(got, lengths) {
			t.Errorf("images %v: %v boxes, want %v", b.Labels, got, lengths)
		}
		images += len(b.Labels)
	}
	if images != 10 {
		t.Errorf("%d images of the 10 good ones", images)
	}
}

// TestImagesWithListsOfLabels: they are an error that says what to do, and columns without labels.
func TestImagesWithListsOfLabels(t *testing.T) {
	set := detectionSet(t, Options{}, 8, nil, nil)
	spec := ImageSpec{Size: 4, Batch: 4, LabelKey: "tags"}
	var err error
	for _, err = range Images(set.Records(), spec).All(t.Context()) {
	}
	if err == nil || !strings.Contains(err.Error(), "set NoLabels, and read lists of labels with Columns of the ImageSpec") {
		t.Error(err)
	}
	spec = ImageSpec{Size: 4, Batch: 8, NoLabels: true, Columns: detectionSchema}
	for b, err := range Images(set.Records(), spec).All(t.Context()) {
		if err != nil || len(b.Columns.Get("tags").Int64s) == 0 {
			t.Error(b, err)
		}
	}
}
