package spec

import (
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/shard"
)

// Format is a format to export to.
type Format string

// The formats.
const (
	Directories Format = "folders"    // images, in a directory for each label
	CSV         Format = "csv"        // RFC 4180, with a header
	JSONL       Format = "jsonl"      // a JSON object a line
	Parquet     Format = "parquet"    // Apache Parquet
	NPZ         Format = "npz"        // NumPy arrays, a zip of .npy files
	WebDataset  Format = "webdataset" // images with labels and features, in tars
	COCO        Format = "coco"       // images with boxes and instance masks, a JSON for each split
	VOC         Format = "voc"        // images with boxes and semantic masks, an XML for each
	YOLO        Format = "yolo"       // images with boxes, a text for each, as Ultralytics' tools read it
)

// Formats has them in the order of the help.
var Formats = []Format{Directories, CSV, JSONL, Parquet, NPZ, WebDataset, COCO, VOC, YOLO}

// HasImages reports whether the format is one of images, in a directory.
func (f Format) HasImages() bool { return f == Directories || f == WebDataset || f.HasBoxes() }

// HasBoxes reports whether the format is one of images with boxes, in a directory.
func (f Format) HasBoxes() bool { return f == COCO || f == VOC || f == YOLO }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", fmt.Errorf("%q: want folders, csv, jsonl, parquet, npz, webdataset, coco, voc or yolo", name)
}

// Collision is the action for an image whose name is taken.
type Collision string

// The ways out of a collision.
const (
	Refuse Collision = "error"  // end with a *CollisionError
	Number Collision = "number" // put ~2, ~3, ... into the later name
)

// ParseCollision returns the way out of that name.
func ParseCollision(name string) (Collision, error) {
	switch c := Collision(name); c {
	case Refuse, Number:
		return c, nil
	}
	return "", fmt.Errorf("%q: want error or number", name)
}

// Options are the options of Export. Format is required; the zero value of everything else is the
// default.
type Options struct {
	Format Format
	// OnCollision is for Directories, COCO, VOC and YOLO. Default: Refuse.
	OnCollision Collision
	// ImageKey, Label and Filename are the keys of the features with the encoded image, with its
	// label (a text, or an id that the set's manifest names), and with its path: ImageKey for all
	// formats of images, Label for Directories and WebDataset (there an id, by default from
	// imagekey.Label), Filename for Directories, COCO, VOC and YOLO. Defaults: imagekey.Encoded;
	// imagekey.Text or, in records without it, imagekey.Label; imagekey.Filename.
	ImageKey, Label, Filename string
	// Safe is for CSV: an apostrophe is put before the names and the text, also in base64, that
	// spreadsheets would take for formulas. Numbers stay as they are.
	Safe bool
	// Partial exports the existing shards of incomplete sets.
	Partial bool
	// Progress, if not nil, is updated during the run. Records are read twice for tables, COCO, VOC
	// and YOLO.
	Progress *shard.ReadProgress
	// Note, if not nil, is called with sentences for the user.
	Note func(string)
	// Warn, if not nil, takes a sentence about each set that Partial takes in part.
	Warn func(string)
}

func (o *Options) Notef(format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...))
	}
}

// Report summarizes an export.
type Report struct {
	// Status is "written", or "up_to_date" if OUT already existed with exactly the content of the
	// export.
	Status  string `json:"status"`
	Format  Format `json:"format"`
	Records int64  `json:"records"`
	// Files and Bytes are of OUT.
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// Renamed counts the images whose path in the record no file could have
	// as it is; Numbered those whose name was taken, of any.
	Renamed  int64 `json:"renamed"`
	Numbered int64 `json:"numbered"`
	// Encoded counts the images that were stored as raw samples and became PNG.
	Encoded int64   `json:"encoded"`
	Seconds float64 `json:"seconds"`
}

// CollisionError means that two images would have the same name, at least on some systems: where
// case does not count, Ab.jpg and aB.jpg are the same.
type CollisionError struct {
	Name string // below OUT
	// ByStem means that names are compared without extensions, since the files with the annotations
	// of images are named after them.
	ByStem bool
	// Taken is the name of the other, when that is known and not the same.
	Taken string
}

func (e *CollisionError) Error() string {
	other := "another record, or differs from it in case alone"
	switch {
	case e.ByStem:
		other = "another record, or differs from it in case or extension alone"
	case e.Taken != "":
		other = e.Taken + " where case does not count"
	}
	return fmt.Sprintf("%s is the name of %s: --on-collision number gives the later ones other names, and tfrec dedupe removes copies", e.Name, other)
}

// UpToDate is the Report.Status of an export that found its output in place.
const UpToDate = "up_to_date"
