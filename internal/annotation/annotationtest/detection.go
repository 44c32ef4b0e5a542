package annotationtest

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Detection describes the contents of the images of testdata/detection. A script wrote it, along
// with the images and their annotations in every format.
type Detection struct {
	// IDs are the ids of classes by name, for "coco", for "yolo" and for formats whose classes are
	// "sorted".
	IDs map[string]map[string]int64
	// Images are by name.
	Images []DrawnImage
}

// DrawnImage is an image as shown.
type DrawnImage struct {
	Name          string
	Width, Height int
	// Orientation is the value in EXIF.
	Orientation int
	// Objects are in the order of the annotations, and later ones over earlier ones.
	Objects []DrawnObject
	// Instances has bit k of a pixel for object k.
	Instances *image.Gray
}

// DrawnObject is an object on an image.
type DrawnObject struct {
	Class string
	// Outline is "rectangle", "polygon" or "ellipse".
	Outline string
	// Box is xmin, ymin, xmax and ymax in pixels, in the image.
	Box [4]float64
	// Area is the number of its pixels.
	Area                        int64
	Crowd, Difficult, Truncated int64
	View                        string
}

// ReadDetection reads the truth in testdata/detection, which is at dir.
func ReadDetection(t testing.TB, dir string) *Detection {
	t.Helper()
	d := new(Detection)
	data, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err == nil {
		err = json.Unmarshal(data, d)
	}
	if err != nil || len(d.Images) == 0 {
		t.Fatal(len(d.Images), err)
	}
	for i := range d.Images {
		im := &d.Images[i]
		data, err := os.ReadFile(filepath.Join(dir, "instances", strings.TrimSuffix(im.Name, filepath.Ext(im.Name))+".png"))
		if err != nil {
			t.Fatal(err)
		}
		im.Instances = Gray(t, data)
	}
	return d
}

// Gray decodes a grayscale PNG.
func Gray(t testing.TB, data []byte) *image.Gray {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	gray, ok := im.(*image.Gray)
	if !ok {
		t.Fatalf("a PNG of %T: want grayscale", im)
	}
	return gray
}
