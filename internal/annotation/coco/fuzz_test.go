package coco

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// FuzzRead holds the reader of lists to itself, whose chunks end anywhere, and to encoding/json.
func FuzzRead(f *testing.F) {
	f.Add([]byte(one(box)))
	f.Add([]byte(file(`{"id": 5, "image_id": 7, "category_id": 90, "bbox": [1, 2, 3, 2.5], "area": 7.5, "iscrowd": 1, "segmentation": {"size": [6, 8], "counts": [5, 3, 40]}, "x": [{"y": null}]},
		{"segmentation": [[0, 0, 4, 0, 4, 4], [1, 1, 2.5e0, 1, 2, -2]], "bbox": [-1, 0, 10, 1e-3], "category_id": 3, "image_id": 9, "id": "q\u00e4\\"},
		{"image_id": 7.0, "category_id": "3", "bbox": [7, 5, 1, NaN], "area": null, "segmentation": {"counts": "52Y1", "size": [6, 8]}}`)))
	f.Add([]byte("\ufeff{\"images\":[],\r\n\"categories\":[ ] ,\"annotations\":[{}]}\t"))
	f.Add([]byte(pose(person+","+dog, posed(1, 1, `, "keypoints": [1, 2, 2, 3.5, 4, 1, 0, 0, 0], "num_keypoints": 2`))))
	f.Fuzz(func(t *testing.T, text []byte) {
		o := annotation.Options{Regions: true, Workers: 1}
		parse := func(oneByOne bool, o annotation.Options) (*annotation.Set, error) {
			in := bytes.NewReader(text)
			lists, err := readLists(context.Background(), in, o)
			if oneByOne {
				lists, err = readLists(context.Background(), iotest.OneByteReader(bytes.NewReader(text)), o)
			}
			if err != nil {
				return nil, err
			}
			return join(lists, "f")
		}
		set, err := parse(false, o)
		again, errAgain := parse(true, o)
		if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("%q: %v, by single bytes %v", text, err, errAgain)
		}
		if diff := cmp.Diff(set, again, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
		if err != nil {
			return
		}
		checkSet(t, set)
		checkJSON(t, text, set)
	})
}

// checkSet checks what a set promises.
func checkSet(t *testing.T, set *annotation.Set) {
	for _, im := range set.Images {
		for _, o := range im.Objects {
			if !(o.Box.XMin < o.Box.XMax && o.Box.YMin < o.Box.YMax) || int(o.Class) >= len(set.Classes) || o.Name == "" {
				t.Fatalf("%+v", o)
			}
			if r := o.Region; r != nil && r.Runs != nil && region.CheckRuns(r.Runs, r.Width, r.Height) != nil {
				t.Fatalf("%+v", r)
			}
		}
	}
}

// checkJSON compares the number of elements with what encoding/json reads.
func checkJSON(t *testing.T, text []byte, set *annotation.Set) {
	var members map[string]json.RawMessage
	if !utf8.Valid(text) || json.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &members) != nil {
		return
	}
	var annotations, images []any
	if json.Unmarshal(members["annotations"], &annotations) != nil || json.Unmarshal(members["images"], &images) != nil {
		t.Fatalf("%q: not lists", text)
	}
	n := 0
	for _, f := range set.Faults {
		if !strings.HasSuffix(f.Name, " of the list") { // an image or a category
			n++
		}
	}
	for _, im := range set.Images {
		n += len(im.Objects) + len(im.Faults)
	}
	if n != len(annotations) || len(set.Images) > len(images) {
		t.Fatalf("%q: %d annotations and %d images, want %d and %d", text, n, len(set.Images), len(annotations), len(images))
	}
}
