package command

import (
	"bytes"
	"encoding/json"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDetectionSet: the drawn set passes verify, is counted right, is read with the boxes of the
// truth, and is so again after an export to each format and a conversion of that.
func TestDetectionSet(t *testing.T) {
	const dir = "../../testdata/detection"
	truth := annotationtest.ReadDetection(t, dir)
	for _, encode := range []string{"keep", "png"} {
		t.Run(encode, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			set := filepath.Join(temp, "set")
			must(t, "convert", "images", dir+"/images", set, "--name", "drawn", "--annotations", dir+"/coco.json", "--masks", dir+"/masks", "--instance-masks", "--encode", encode, "--shards", "1")
			must(t, "verify", "--deep", set)
			checkDetectionStats(t, set, truth)
			checkDetectionBatches(t, set, truth, "coco", 0)
			for _, format := range []string{"coco", "voc", "yolo"} {
				exported, again := filepath.Join(temp, format), filepath.Join(temp, "again-"+format)
				must(t, "export", set, exported, "--format", format)
				src, args := map[string]string{"coco": "train", "voc": "JPEGImages", "yolo": "images/train"}[format], []string{"--encode", "png"}
				from := map[string]string{"coco": "annotations/instances_train.json", "voc": "Annotations", "yolo": "labels/train"}[format]
				args = append(args, "--annotations", filepath.Join(exported, from))
				if format == "coco" {
					args = append(args, "--instance-masks")
				}
				must(t, append([]string{"convert", "images", filepath.Join(exported, src), again, "--name", "drawn", "--shards", "1"}, args...)...)
				must(t, "verify", "--deep", again)
				// The classes of YOLO are in the order of ids, those of VOC in that of names.
				checkDetectionBatches(t, again, truth, map[string]string{"coco": "coco", "voc": "sorted", "yolo": ""}[format], 1e-6)
			}
		})
	}
}

// checkDetectionStats compares the counts of stats with those of the truth.
func checkDetectionStats(t *testing.T, set string, truth *annotationtest.Detection) {
	t.Helper()
	out, err := tfrec(t, "stats", "--json", set).Output()
	if err != nil {
		t.Fatal(err)
	}
	type class struct {
		ID              int64
		Name            string
		Objects, Images int
	}
	type counts struct {
		Images, Empty, Objects, Malformed, BadBoxes, Crowd, Masks int
		Classes                                                   []class
		Sizes                                                     struct{ Small, Medium, Large int }
	}
	var got struct{ Objects counts }
	if err := json.Unmarshal(bytes.ReplaceAll(out, []byte("bad_boxes"), []byte("BadBoxes")), &got); err != nil {
		t.Fatal(err)
	}
	want := counts{Images: len(truth.Images)}
	classes := map[string]*class{}
	for _, im := range truth.Images {
		if len(im.Objects) == 0 {
			want.Empty++
		}
		seen := map[string]bool{}
		for _, o := range im.Objects {
			want.Objects++
			want.Masks++
			want.Crowd += int(o.Crowd)
			if (o.Box[2]-o.Box[0])*(o.Box[3]-o.Box[1]) < 32*32 {
				want.Sizes.Small++
			} else {
				want.Sizes.Medium++
			}
			c := classes[o.Class]
			if c == nil {
				c = &class{ID: truth.IDs["coco"][o.Class], Name: o.Class}
				classes[o.Class] = c
			}
			if c.Objects++; !seen[o.Class] {
				c.Images++
			}
			seen[o.Class] = true
		}
	}
	for _, c := range classes {
		want.Classes = append(want.Classes, *c)
	}
	slices.SortFunc(want.Classes, func(a, b class) int { return int(a.ID - b.ID) })
	if !slices.Equal(got.Objects.Classes, want.Classes) {
		t.Errorf("classes %+v, want %+v", got.Objects.Classes, want.Classes)
	}
	if got.Objects.Classes, want.Classes = nil, nil; got.Objects.Sizes != want.Sizes || got.Objects.Objects != want.Objects || got.Objects.Images != want.Images ||
		got.Objects.Empty != want.Empty || got.Objects.Masks != want.Masks || got.Objects.Crowd != want.Crowd || got.Objects.Malformed+got.Objects.BadBoxes != 0 {
		t.Errorf("%+v, want %+v", got.Objects, want)
	}
}

// checkDetectionBatches compares the objects of batches of 80 x 80 pixels with those of the truth.
// Boxes may be off by a share of the image's size. Without ids, labels are not compared.
func checkDetectionBatches(t *testing.T, set string, truth *annotationtest.Detection, ids string, precision float64) {
	t.Helper()
	const side = 80
	s, err := reader.Open(t.Context(), set, reader.Options{})
	if err != nil {
		t.Fatal(err)
	}
	flow := reader.Images(s.Records(), reader.ImageSpec{
		Resize: augment.ResizeSpec{Width: side, Height: side, Fit: augment.Stretch, NoAntialias: true}, Batch: 4, Objects: new(columns.ObjectSpec),
		Columns: columns.Schema{{Key: "image/filename", Kind: tfrecord.KindBytes}},
	})
	n := 0
	for batch, err := range flow.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for row := range len(batch.Objects.Splits) - 1 {
			names := &batch.Columns.Columns[0]
			name := string(names.Bytes[names.Offsets[row]:names.Offsets[row+1]])
			at := slices.IndexFunc(truth.Images, func(im annotationtest.DrawnImage) bool { return bareName(im.Name) == bareName(name) })
			if at < 0 {
				t.Fatalf("%s: a record of %s", set, name)
			}
			im := truth.Images[at]
			n++
			from, to := batch.Objects.Splits[row], batch.Objects.Splits[row+1]
			if int(to-from) != len(im.Objects) {
				t.Errorf("%s: %s: %d objects, want %d", set, im.Name, to-from, len(im.Objects))
				continue
			}
			for k, o := range im.Objects {
				at := int(from) + k
				if want := truth.IDs[ids][o.Class]; ids != "" && batch.Objects.Labels[at] != want {
					t.Errorf("%s: %s, object %d: class %d, want %d", set, im.Name, k, batch.Objects.Labels[at], want)
				}
				for i, v := range o.Box {
					want := v * side / float64([]int{im.Width, im.Height}[i%2])
					if got := float64(batch.Objects.Boxes[4*at+i]); math.Abs(got-want) > side*(precision+1e-6) {
						t.Errorf("%s: %s, object %d: side %d is %g, want %g", set, im.Name, k, i, got, want)
					}
				}
			}
		}
	}
	if n != len(truth.Images) {
		t.Errorf("%s: %d records of %d images", set, n, len(truth.Images))
	}
}

// bareName is a name without the extension, which an export may have changed.
func bareName(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
