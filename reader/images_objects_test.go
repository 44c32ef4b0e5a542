package reader

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/tfrecord"
)

// objectRecord is a record with objects.
type objectRecord struct {
	image                    []byte
	width, height            int // as stored
	orientation              int
	boxes                    [][4]float32 // xmin, ymin, xmax, ymax
	labels, crowd, difficult []int64
	masks                    []*augment.Image // none: no feature
	points                   [][3]float32     // x, y and visibility of the keypoints of all objects
	names                    []string         // of the keypoints of an object
	bad                      bool
}

func (e *objectRecord) fill(b *tfrecord.Builder, label int) {
	b.Bytes(DefaultImageKey, e.image)
	b.Int64(DefaultLabelKey, int64(label))
	for i, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
		var side []float32
		for _, box := range e.boxes {
			side = append(side, box[i])
		}
		b.Float(key, side...)
	}
	b.Int64(objects.KeyLabel, e.labels...)
	b.Int64(objects.KeyCrowd, e.crowd...)
	b.Int64(objects.KeyDifficult, e.difficult...)
	var masks [][]byte
	for _, mask := range e.masks {
		data, _ := augment.AppendPNG(nil, mask)
		masks = append(masks, data)
	}
	b.Bytes(objects.KeyMask, masks...)
	if e.points == nil {
		return
	}
	var x, y []float32
	var visibility []int64
	for _, p := range e.points {
		x, y, visibility = append(x, p[0]), append(y, p[1]), append(visibility, int64(p[2]))
	}
	b.Float(objects.KeyKeypointX, x...)
	b.Float(objects.KeyKeypointY, y...)
	b.Int64(objects.KeyKeypointVisibility, visibility...)
	b.String(objects.KeyKeypointText, slices.Repeat(e.names, len(e.boxes))...)
}

// boxedSet writes a set of images, repeated until there are n, each with as many boxes; without
// images, of a small one.
func boxedSet(t testing.TB, n, boxes int, images ...[]byte) *Set {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	if len(images) == 0 {
		data, err := augment.AppendPNG(nil, randomImage(r, 9, 7, 3))
		if err != nil {
			t.Fatal(err)
		}
		images = [][]byte{data}
	}
	return writeRecords(t, Options{}, 1, func(int) (records [][]byte) {
		for i := range n {
			e := objectRecord{image: images[i%len(images)]}
			for k := range boxes {
				x, y := r.Float32()/2, r.Float32()/2
				e.boxes, e.labels = append(e.boxes, [4]float32{x, y, x + 0.5, y + 0.5}), append(e.labels, int64(k))
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) { e.fill(b, i) }))
		}
		return records
	})
}

// orientedJPEG encodes an image with an EXIF orientation.
func orientedJPEG(t *testing.T, im *augment.Image, orientation int) []byte {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := codec.AppendJPEG(nil, im, 95, "444")
	if err != nil {
		t.Fatal(err)
	}
	exif := []byte("\xFF\xE1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[len(exif)-7] = byte(orientation)
	return slices.Concat(data[:2], exif, data[2:])
}

// objectTrial is a set with objects and a way to read it, drawn from a seed.
type objectTrial struct {
	records []objectRecord // of the only file
	repeat  int
	spec    ImageSpec
}

func drawObjectTrial(t *testing.T, seed uint64) *objectTrial {
	r := rand.New(rand.NewPCG(seed, 31))
	x := &objectTrial{repeat: 1 + r.IntN(2)}
	masks := r.IntN(2) == 0
	bad := []float64{0, 0.2}[r.IntN(2)]
	for range 1 + r.IntN(20) {
		e := objectRecord{width: 1 + r.IntN(60), height: 1 + r.IntN(60), orientation: 1}
		im := randomImage(r, e.width, e.height, 3)
		if r.IntN(2) == 0 {
			e.orientation = 1 + r.IntN(8)
			e.image = orientedJPEG(t, im, e.orientation)
		} else {
			var err error
			if e.image, err = augment.AppendPNG(nil, im); err != nil {
				t.Fatal(err)
			}
		}
		for range r.IntN(9) * r.IntN(2) {
			x0, x1, y0, y1 := r.Float32(), r.Float32(), r.Float32(), r.Float32()
			if r.IntN(4) == 0 { // the border, and past it by rounding
				x0, y1 = -1e-7, 1.0000001
			}
			if r.IntN(9) == 0 { // without area
				x1 = x0
			}
			e.boxes = append(e.boxes, [4]float32{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)})
			e.labels = append(e.labels, r.Int64N(90))
			e.crowd, e.difficult = append(e.crowd, r.Int64N(2)), append(e.difficult, r.Int64N(2))
			if masks {
				e.masks = append(e.masks, randomMask(r, e.width, e.height))
			}
		}
		if r.IntN(2) == 0 {
			e.crowd, e.difficult = nil, nil
		}
		if n := len(e.boxes); n > 0 && r.Float64() < bad {
			e.bad = true
			switch box := &e.boxes[r.IntN(n)]; r.IntN(4) {
			case 0:
				if masks {
					e.masks = e.masks[1:]
					break
				}
				e.labels = e.labels[1:]
			case 1:
				box[r.IntN(4)] = float32(math.NaN())
			case 2:
				box[r.IntN(2)], box[2], box[3] = -0.5, 1, 1
			default:
				box[0], box[2] = 0.75, 0.25
			}
		}
		x.records = append(x.records, e)
	}
	s := &x.spec
	s.Resize = augment.ResizeSpec{Width: 1 + r.IntN(30), Height: 1 + r.IntN(30), Fit: augment.Fit(r.IntN(3))}
	s.Batch, s.DropRemainder, s.Workers, s.LabelKey = 1+r.IntN(7), r.IntN(4) == 0, r.IntN(4), DefaultLabelKey
	s.Objects = &columns.ObjectSpec{
		Format: columns.BoxFormat(r.IntN(4)), Relative: r.IntN(2) == 0, MaxBoxes: r.IntN(2) * r.IntN(6),
		MinVisibility: []float64{0, 0.3, 1}[r.IntN(3)], DropCrowd: r.IntN(2) == 0, DropDifficult: r.IntN(2) == 0,
		Masks: masks,
	}
	s.Mix.MixUp = []float64{0, 1}[r.IntN(2)]
	if r.IntN(3) > 0 {
		text := []string{"hflip|brightness:0.3", "vflip|rotate:90..90", "random_resized_crop:31|vflip", "rotate:40|random_crop:20,padding=15", "affine:20,translate=0.3|resize:9", "hflip|iou_crop"}[r.IntN(6)]
		var err error
		if s.Policy, err = augment.ParsePolicy(text); err != nil {
			t.Fatal(err)
		}
	}
	x.drawKeypoints(rand.New(rand.NewPCG(seed, 33)))
	return x
}

// drawKeypoints draws three keypoints for each object, or none.
func (x *objectTrial) drawKeypoints(r *rand.Rand) {
	if r.IntN(2) == 0 {
		return
	}
	x.spec.Objects.Keypoints = 3
	var names []string
	if r.IntN(3) > 0 {
		names = []string{"right", "middle", "left"}
	} else {
		x.spec.Objects.KeypointFlip = []int{2, 1, 0}
	}
	for i := range x.records {
		e := &x.records[i]
		e.points, e.names = [][3]float32{}, names
		for range 3 * len(e.boxes) {
			e.points = append(e.points, [3]float32{r.Float32(), r.Float32(), float32(r.IntN(3))})
		}
		if len(e.points) > 0 && !e.bad && r.IntN(12) == 0 {
			e.bad = true
			switch r.IntN(3) {
			case 0:
				e.points = e.points[1:]
			case 1:
				e.points[0] = [3]float32{1.5, 0, 1}
			default:
				e.points = append(e.points, make([][3]float32, len(e.boxes))...) // four an object
			}
		}
	}
}

// keypoints returns the keypoints of object k of an image that is moved like this.
func (x *objectTrial) keypoints(e *objectRecord, k int, draw augment.Draw, g augment.Geometry) []float32 {
	values := make([]float32, 9)
	for n, p := range e.points[3*k : 3*k+3] {
		if p[2] == 0 {
			continue
		}
		w, h := float64(e.width), float64(e.height)
		px, py := upright(e.orientation, w, h, float64(p[0])*w, float64(p[1])*h)
		if e.orientation >= 5 {
			w, h = h, w
		}
		at, shown := draw.Point(augment.Point{X: px, Y: py}, int(w), int(h))
		px = at.X*float64(g.ScaledWidth)/float64(g.SourceWidth) - float64(g.CropX)
		py = at.Y*float64(g.ScaledHeight)/float64(g.SourceHeight) - float64(g.CropY)
		if !shown || px < 0 || py < 0 || px > float64(g.WindowWidth) || py > float64(g.WindowHeight) {
			continue
		}
		px, py = px+float64(g.PadX), py+float64(g.PadY)
		if x.spec.Objects.Relative {
			px, py = px/float64(g.Width), py/float64(g.Height)
		}
		if draw.Mirrors() {
			n = 2 - n
		}
		values[3*n], values[3*n+1], values[3*n+2] = float32(px), float32(py), p[2]
	}
	return values
}

// expect returns the labels of the images and the objects of each batch.
func (x *objectTrial) expect() (labels [][]int64, batches []columns.Objects) {
	total, n := len(x.records)*x.repeat, len(x.records)
	for from := 0; from < total; from += x.spec.Batch {
		to := min(from+x.spec.Batch, total)
		var good []int64
		var rows []columns.Objects
		for i := from; i < to; i++ {
			if e := &x.records[i%n]; !e.bad {
				good, rows = append(good, int64(i%n)), append(rows, x.objects(e, i%n, i/n))
			}
		}
		if len(good) == 0 || to-from < x.spec.Batch && x.spec.DropRemainder {
			continue
		}
		mix := x.spec.Mix.Draw(77, fmt.Sprintf("00.tfrecord#%d", from%n), from/n, x.spec.Resize.Width, x.spec.Resize.Height)
		labels, batches = append(labels, good), append(batches, x.join(rows, mix.Lambda))
	}
	return labels, batches
}

// upright returns where an EXIF orientation turns a point of an image of w x h pixels.
func upright(orientation int, w, h, x, y float64) (float64, float64) {
	switch orientation {
	case 2:
		return w - x, y
	case 3:
		return w - x, h - y
	case 4:
		return x, h - y
	case 5:
		return y, x
	case 6:
		return h - y, x
	case 7:
		return h - y, w - x
	case 8:
		return y, w - x
	}
	return x, y
}

// objects returns the objects of one image.
func (x *objectTrial) objects(e *objectRecord, number, epoch int) (o columns.Objects) {
	s := x.spec.Objects
	w, h := float64(e.width), float64(e.height)
	width, height := e.width, e.height
	if e.orientation >= 5 {
		width, height = height, width
	}
	var boxes []augment.Box
	for _, b := range e.boxes {
		x0, y0 := upright(e.orientation, w, h, float64(b[0])*w, float64(b[1])*h)
		x1, y1 := upright(e.orientation, w, h, float64(b[2])*w, float64(b[3])*h)
		box := augment.Box{XMin: min(x0, x1), YMin: min(y0, y1), XMax: max(x0, x1), YMax: max(y0, y1)}
		boxes = append(boxes, box.Clip(width, height)) // what is outside is rounding
	}
	var draw augment.Draw
	if x.spec.Policy != nil {
		draw = x.spec.Policy.DrawBoxes(77, fmt.Sprintf("00.tfrecord#%d", number), epoch, width, height, boxes)
	}
	drawnW, drawnH := draw.Size(width, height)
	g := x.spec.Resize.Geometry(drawnW, drawnH)
	for k, b := range e.boxes {
		if s.DropCrowd && e.crowd != nil && e.crowd[k] != 0 || s.DropDifficult && e.difficult != nil && e.difficult[k] != 0 {
			continue
		}
		box, visible := draw.Box(boxes[k], width, height)
		scaleX, scaleY := float64(g.ScaledWidth)/float64(drawnW), float64(g.ScaledHeight)/float64(drawnH)
		toX := func(v float64) float64 { return v*scaleX - float64(g.CropX) + float64(g.PadX) }
		toY := func(v float64) float64 { return v*scaleY - float64(g.CropY) + float64(g.PadY) }
		moved := augment.Box{XMin: toX(box.XMin), YMin: toY(box.YMin), XMax: toX(box.XMax), YMax: toY(box.YMax)}
		// Padding needs no clip: what is in the image is in the result.
		cut := moved.Clip(g.Width, g.Height)
		share := visible * cut.Area() / moved.Area()
		if !(share > 1e-9 && share > s.MinVisibility-1e-9) || b[0] == b[2] || b[1] == b[3] {
			o.Hidden++
			continue
		}
		v := [4]float64{cut.XMin, cut.YMin, cut.XMax, cut.YMax}
		if s.Relative {
			for i := range v {
				v[i] /= []float64{float64(g.Width), float64(g.Height)}[i%2]
			}
		}
		switch s.Format {
		case columns.YXYX:
			v[0], v[1], v[2], v[3] = v[1], v[0], v[3], v[2]
		case columns.XYWH:
			v[2], v[3] = v[2]-v[0], v[3]-v[1]
		case columns.CXCYWH:
			v[0], v[1], v[2], v[3] = (v[0]+v[2])/2, (v[1]+v[3])/2, v[2]-v[0], v[3]-v[1]
		}
		o.Boxes = append(o.Boxes, float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3]))
		o.Labels, o.Indexes = append(o.Labels, e.labels[k]), append(o.Indexes, int64(k))
		if s.Masks {
			mask := uprightMask(e.masks[k], e.orientation)
			for i, v := range mask.Pix {
				mask.Pix[i] = min(v, 1)
			}
			o.Masks = append(o.Masks, movedMask(mask, draw, g)...)
		}
		if s.Keypoints > 0 {
			o.Keypoints = append(o.Keypoints, x.keypoints(e, k, draw, g)...)
		}
	}
	return o
}

// join returns the objects of a batch of these images.
func (x *objectTrial) join(rows []columns.Objects, lambda float64) (o columns.Objects) {
	most := x.spec.Objects.MaxBoxes
	if most == 0 {
		o.Splits = []int64{0}
	}
	for i, row := range rows {
		o.Hidden += row.Hidden
		shares := slices.Repeat([]float32{1}, len(row.Labels))
		if lambda != 1 && len(rows) > 1 {
			other := rows[(i+len(rows)-1)%len(rows)]
			shares = append(slices.Repeat([]float32{float32(lambda)}, len(row.Labels)), slices.Repeat([]float32{float32(1 - lambda)}, len(other.Labels))...)
			row = columns.Objects{Keypoints: slices.Concat(row.Keypoints, other.Keypoints), Masks: slices.Concat(row.Masks, other.Masks), Boxes: slices.Concat(row.Boxes, other.Boxes), Labels: slices.Concat(row.Labels, other.Labels), Indexes: slices.Concat(row.Indexes, other.Indexes)}
		}
		n, size := len(row.Labels), 0
		if x.spec.Objects.Masks {
			size = x.spec.Resize.Width * x.spec.Resize.Height
		}
		if most > 0 {
			o.Cut += max(n-most, 0)
			n = min(n, most)
			row.Boxes = append(slices.Clone(row.Boxes[:4*n]), make([]float32, 4*(most-n))...)
			row.Labels = append(slices.Clone(row.Labels[:n]), slices.Repeat([]int64{-1}, most-n)...)
			row.Indexes = append(slices.Clone(row.Indexes[:n]), slices.Repeat([]int64{-1}, most-n)...)
			row.Masks = append(slices.Clone(row.Masks[:n*size]), make([]uint8, (most-n)*size)...)
			numbers := 3 * x.spec.Objects.Keypoints
			row.Keypoints = append(slices.Clone(row.Keypoints[:n*numbers]), make([]float32, (most-n)*numbers)...)
			shares = append(shares[:n], make([]float32, most-n)...)
		}
		o.Boxes, o.Labels, o.Indexes = append(o.Boxes, row.Boxes...), append(o.Labels, row.Labels...), append(o.Indexes, row.Indexes...)
		o.Masks = append(o.Masks, row.Masks...)
		o.Keypoints = append(o.Keypoints, row.Keypoints...)
		if o.Counts = append(o.Counts, int64(n)); most == 0 {
			o.Splits = append(o.Splits, int64(len(o.Labels)))
		}
		if x.spec.Mix.MixUp != 0 {
			o.Weights = append(o.Weights, shares...)
		}
	}
	if x.spec.Objects.Masks {
		o.MaskShape = []int{len(o.Labels), x.spec.Resize.Height, x.spec.Resize.Width}
		if most > 0 {
			o.MaskShape = slices.Concat([]int{len(rows), most}, o.MaskShape[1:])
		}
	}
	if n := x.spec.Objects.Keypoints; n > 0 {
		o.KeypointShape = []int{len(o.Labels), n, 3}
		if most > 0 {
			o.KeypointShape = []int{len(rows), most, n, 3}
		}
	}
	return o
}

// set writes the set.
func (x *objectTrial) set(t *testing.T) *Set {
	return writeRecords(t, Options{Seed: 77, SkipBad: SkipBad{Share: 1}}, 1, func(int) (all [][]byte) {
		for i := range x.records {
			all = append(all, settest.Example(func(b *tfrecord.Builder) { x.records[i].fill(b, i) }))
		}
		return all
	})
}

// Objects are as the plainest code makes them, whatever the spec, and so are those after a state and
// from a cache.
func TestRandomObjects(t *testing.T) {
	counts := map[string]int{}
	for _, seed := range torture.Seeds(150, 1500) {
		x := drawObjectTrial(t, seed)
		trial := fmt.Sprintf("seed %d, %+v, %+v, %v", seed, x.spec, *x.spec.Objects, x.spec.Policy)
		labels, want := x.expect()
		checkFreed := drawBackend(rand.New(rand.NewPCG(seed, 32)), &x.spec)
		p := x.set(t).Records().Repeat(x.repeat)
		flow := Images(p, x.spec)
		if seed%5 == 0 {
			flow = flow.Cache(CacheOptions{})
		}
		got := drain(t, Map(flow, func(b *ImageBatch) (*ImageBatch, error) { return b.Clone(), nil }, MapOptions{}))
		if len(got) != len(want) {
			t.Fatalf("%s: %d batches, want %d", trial, len(got), len(want))
		}
		for i, b := range got {
			if !slices.Equal(b.Labels, labels[i]) || b.Shape[0] != len(labels[i]) {
				t.Fatalf("%s: batch %d: images %v, want %v", trial, i, b.Labels, labels[i])
			}
			if diff := cmp.Diff(want[i], b.Objects, cmpopts.EquateApprox(1e-5, 1e-4), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: batch %d: (-want +got)\n%s", trial, i, diff)
			}
			counts["hidden"] += b.Objects.Hidden
			counts["cut"] += b.Objects.Cut
			counts["ragged"] += max(len(b.Objects.Splits)-1, 0)
			counts["mixed"] += len(b.Objects.Weights)
			counts["masks"] += len(b.Objects.Masks)
			counts["keypoints"] += len(b.Objects.Keypoints)
		}
		checkFreed(t)
		if x.spec.Backend == nil && seed%3 == 0 {
			checkResume(t, flow, func(b *ImageBatch) string { return fmt.Sprintf("%x %+v", b.Bytes, b.Objects) })
		}
	}
	for _, name := range []string{"hidden", "cut", "ragged", "mixed", "masks", "keypoints"} {
		if counts[name] < 50 && !testing.Short() {
			t.Errorf("%s: %d", name, counts[name])
		}
	}
}
