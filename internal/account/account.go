// Package account names what a run found in its input and does not use: for each reason how many
// files, images, rows or columns, and the first of their names.
//
//	var a account.Account
//	a.Add(account.OfFile("IMG_1.HEIC"), "IMG_1.HEIC")
//	a.Add(account.Hidden, ".thumbs/1.jpg")
//	for _, e := range a.Entries() {
//		fmt.Println(e)
//	}
package account

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// Reason is why something is not used. The values are those in the JSON of summaries.
type Reason string

// The reasons, in the order in which they are listed.
const (
	HEIC        Reason = "heic"
	AVIF        Reason = "avif"
	JPEGXL      Reason = "jpeg_xl"
	JPEG2000    Reason = "jpeg_2000"
	PSD         Reason = "psd"
	SVG         Reason = "svg"
	PDF         Reason = "pdf"
	RAW         Reason = "raw"
	ImageFormat Reason = "image_format"
	ByContent   Reason = "image_by_content"
	Link        Reason = "symbolic_link"
	Archive     Reason = "archive"
	Records     Reason = "records"
	Unannotated Reason = "unannotated"
	Unnamed     Reason = "not_in_table"
	Unlisted    Reason = "not_in_lists"
	NoSplit     Reason = "split"
	NoSample    Reason = "no_sample"
	Repeated    Reason = "repeated"
	NoImage     Reason = "mask_without_image"
	Hidden      Reason = "hidden"
	Special     Reason = "special"
	Excluded    Reason = "excluded"
	Video       Reason = "video"
	Audio       Reason = "audio"
	Metadata    Reason = "metadata"
	Column      Reason = "column"
	Field       Reason = "annotation_field"
	Key         Reason = "json_key"
	Rounded     Reason = "rounded"
	Wide        Reason = "float64"
	Beyond      Reason = "beyond_float"
	Encoding    Reason = "not_utf8"
	Blank       Reason = "blank_line"
	Other       Reason = "other"
	Narrowed    Reason = "narrowed"
)

// meaning is what a reason means.
type meaning struct {
	reason Reason
	noun   string
	text   optname.Text
	loses  bool // images or records are lost
	said   bool // a note of the run says it
}

// reasons are all of them.
var reasons = []meaning{
	{HEIC, "HEIC image", optname.Textf("not read"), true, false},
	{AVIF, "AVIF image", optname.Textf("not read"), true, false},
	{JPEGXL, "JPEG XL image", optname.Textf("not read"), true, false},
	{JPEG2000, "JPEG 2000 image", optname.Textf("not read"), true, false},
	{PSD, "PSD image", optname.Textf("not read"), true, false},
	{SVG, "SVG image", optname.Textf("not read"), true, false},
	{PDF, "PDF document", optname.Textf("not read"), false, false},
	{RAW, "raw image of a camera", optname.Textf("not read"), true, false},
	{ImageFormat, "image", optname.Textf("in a format that is not read"), true, false},
	{ByContent, "image", optname.Textf("with another extension, or none, not read (%s reads them)", optname.SelectSpecByContent), true, false},
	{Link, "symbolic link", optname.Textf("not followed (%s follows them)", optname.SelectSpecFollowSymlinks), true, true},
	{Archive, "archive", optname.Textf("not read: give archives as the source"), true, false},
	{Records, "file of records or rows", optname.Textf("not read: give such files as the source"), true, false},
	{Unannotated, "image", optname.Textf("without annotations left alone"), true, true},
	{Unnamed, "image", optname.Textf("not named in the table left alone"), true, true},
	{Unlisted, "image", optname.Textf("in none of the lists of splits left alone"), true, true},
	{NoSplit, "statement of splits", optname.Textf("not used: its images are in other splits"), true, true},
	{NoSample, "image", optname.Textf("in no sample of the WebDataset left alone"), true, true},
	{Repeated, "member", optname.Textf("with the name of an earlier one left alone"), true, true},
	{NoImage, "mask", optname.Textf("without an image left alone"), false, true},
	{Hidden, "image", optname.Textf("left alone: hidden (the name begins with a dot) or in __MACOSX"), false, true},
	{Special, "name", optname.Textf("left alone: neither of a file nor of a directory"), false, true},
	{Excluded, "image", optname.Textf("left out by %s and %s", optname.SelectSpecInclude, optname.SelectSpecExclude), false, false},
	{Video, "video", optname.Textf("not read"), false, false},
	{Audio, "sound file", optname.Textf("not read"), false, false},
	{Metadata, "file of metadata", optname.Textf("not read"), false, false},
	{Column, "column", optname.Textf("of the table not stored"), false, true},
	{Field, "field", optname.Textf("of annotations not kept"), false, false},
	{Key, "key", optname.Textf("of JSON members not stored"), false, false},
	{Rounded, "column", optname.Textf("whose digits a 32-bit float does not hold, rounded"), false, false},
	{Wide, "column", optname.Textf("of 64-bit numbers, stored as 32-bit floats"), false, false},
	{Beyond, "column", optname.Textf("of numbers beyond the range of a 32-bit float"), false, false},
	{Encoding, "column", optname.Textf("with text that is not UTF-8, stored as it is (iconv converts the file)"), false, false},
	{Blank, "blank line", optname.Textf("skipped"), false, false},
	{Other, "other file", optname.Textf("in the source left alone"), false, false},
	{Narrowed, "image", optname.Textf("reduced to 8 bits a sample (%s keep, without options that change pixels, stores 16, but not floats)", optname.EncodeSpecFormat), false, true},
}

// Reasons returns all reasons, in the order in which they are listed.
func Reasons() []Reason {
	list := make([]Reason, len(reasons))
	for i, m := range reasons {
		list[i] = m.reason
	}
	return list
}

func (r Reason) meaning() meaning {
	return reasons[slices.IndexFunc(reasons, func(m meaning) bool { return m.reason == r })]
}

// Entry is what an account has for a reason.
type Entry struct {
	Reason Reason `json:"reason"`
	Count  int64  `json:"count"`
	// Names are the first ones, at most five.
	Names []string `json:"names"`
}

// most is how many names an entry has at most.
const most = 5

// String says what an entry is: "3 HEIC images not read: a.heic, b.heic and 1 more".
func (e Entry) String() string {
	m := e.Reason.meaning()
	text := plural.Of(e.Count, m.noun) + " " + m.text.String()
	if len(e.Names) == 0 {
		return text
	}
	const shown = 3
	names := strings.Join(e.Names[:min(shown, len(e.Names))], ", ")
	if more := e.Count - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return text + ": " + names
}

// Account collects entries. The zero value is empty. It is not safe for concurrent use.
type Account struct{ entries map[Reason]*Entry }

// Add adds something by its name, which may be any bytes.
func (a *Account) Add(r Reason, name string) { a.AddMany(r, 1, name) }

// AddMany adds n things that have one name.
func (a *Account) AddMany(r Reason, n int64, name string) {
	e := a.entry(r)
	if e.Count += n; len(e.Names) < most {
		e.Names = append(e.Names, jsontext.Readable(name))
	}
}

// Merge adds what is in another account.
func (a *Account) Merge(other *Account) {
	for _, e := range other.Entries() {
		mine := a.entry(e.Reason)
		mine.Count += e.Count
		mine.Names = append(mine.Names, e.Names[:min(len(e.Names), most-len(mine.Names))]...)
	}
}

// entry returns the entry for a reason, which it makes if there is none.
func (a *Account) entry(r Reason) *Entry {
	if a.entries == nil {
		a.entries = map[Reason]*Entry{}
	}
	e := a.entries[r]
	if e == nil {
		e = &Entry{Reason: r, Names: []string{}}
		a.entries[r] = e
	}
	return e
}

// Count returns how many things were added for a reason.
func (a *Account) Count(r Reason) int64 {
	if e := a.entries[r]; e != nil {
		return e.Count
	}
	return 0
}

// Entries returns what was added, in the order of reasons.
func (a *Account) Entries() []Entry {
	list := []Entry{}
	for _, r := range reasons {
		if e := a.entries[r.reason]; e != nil {
			list = append(list, *e)
		}
	}
	return list
}

// Loses reports whether a reason means that images or records are lost.
func (r Reason) Loses() bool { return r.meaning().loses }

// Noted reports whether a note of the run says it, too.
func (r Reason) Noted() bool { return r.meaning().said }

// byExtension are the reasons that extensions tell, in lower case.
var byExtension = map[string]Reason{}

func init() {
	for reason, extensions := range map[Reason]string{
		HEIC: ".heic .heif .hif", AVIF: ".avif", JPEGXL: ".jxl", JPEG2000: ".jp2 .j2k .jpf .jpx .jpm", PSD: ".psd .psb", SVG: ".svg .svgz", PDF: ".pdf",
		RAW:         ".arw .cr2 .cr3 .dng .nef .nrw .orf .pef .raf .raw .rw2 .srw",
		ImageFormat: ".bpg .dcm .dds .exr .hdr .ico .jls .pbm .pcx .pgm .pnm .ppm .qoi .tga .xcf",
		Video:       ".3gp .avi .flv .m4v .mkv .mov .mp4 .mpeg .mpg .webm .wmv", Audio: ".aac .flac .m4a .mp3 .ogg .opus .wav",
		Archive: ".7z .bz2 .rar .tar .tgz .zip .tzst", Records: ".arrow .feather .parquet .record .tfrecord .tfrecords",
	} {
		for ext := range strings.FieldsSeq(extensions) {
			byExtension[ext] = reason
		}
	}
}

// metadata are the names of files that say something about images, in lower case.
var metadata = []string{
	"_annotations.coco.json", "_annotations.csv", "_classes.csv", "annotations.json", "classes.txt", "data.yaml", "data.yml", "dataset_info.json", "label_map.pbtxt", "labelmap.txt",
	"labels.csv", "labels.json", "labels.txt", "metadata.csv", "metadata.json", "metadata.jsonl", "metadata.parquet", "obj.data", "obj.names", "sample_submission.csv",
	"test.csv", "test.txt", "train.csv", "train.txt", "val.csv", "val.txt", "valid.txt",
}

// isCOCO reports whether a file has the name of one of COCO's annotations.
func isCOCO(base string) bool {
	kind, _, _ := strings.Cut(base, "_")
	return path.Ext(base) == ".json" && slices.Contains([]string{"captions", "instances", "panoptic", "person", "stuff"}, kind)
}

// OfFile returns the reason for a file that is no image by its name.
func OfFile(name string) Reason {
	base := strings.ToLower(path.Base(name))
	if slices.Contains(metadata, base) || strings.Contains("/"+name, "/ImageSets/") || isCOCO(base) {
		return Metadata
	}
	for _, compression := range []string{".gz", ".zst"} {
		if bare, ok := strings.CutSuffix(base, compression); ok && path.Ext(bare) != "" {
			base = bare
		}
	}
	ext := path.Ext(base)
	if r, ok := byExtension[ext]; ok {
		return r
	}
	if strings.Contains(base, ".tfrecord-") || strings.Contains(base, ".record-") {
		return Records
	}
	return Other
}
