// Package account records the parts of an input that a run does not use: for each reason the number
// of files, images, rows or columns, and the first of their names.
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
	NoSplit     Reason = "unused_split"
	NoSample    Reason = "no_sample"
	Repeated    Reason = "repeated"
	NoImage     Reason = "mask_without_image"
	Splits      Reason = "splits"
	Labels      Reason = "labels"
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

// meaning is the meaning of a reason.
type meaning struct {
	reason Reason
	noun   string
	text   optname.Text
	loses  bool // images, records, splits or labels are lost
	said   bool // a note of the run mentions it
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
	{Unannotated, "image", optname.Textf("without annotations skipped"), true, true},
	{Unnamed, "image", optname.Textf("not named in the table skipped"), true, true},
	{Unlisted, "image", optname.Textf("in none of the lists of splits skipped"), true, true},
	{NoSplit, "statement of splits", optname.Textf("not used: its images are in other splits"), true, true},
	{NoSample, "image", optname.Textf("in no sample of the WebDataset skipped"), true, true},
	{Repeated, "member", optname.Textf("with the name of an earlier one skipped"), true, true},
	{NoImage, "mask", optname.Textf("without an image skipped"), false, true},
	{Splits, "file of splits", optname.Textf("not read (%s gives splits)", optname.OptionsSplits), true, false},
	{Labels, "file of labels or splits", optname.Textf("not read (%s reads tables, %s annotations)", optname.LabelSpecFile, optname.AnnotationSpecFiles), true, false},
	{Hidden, "image", optname.Textf("skipped: hidden (the name begins with a dot) or in __MACOSX"), false, true},
	{Special, "name", optname.Textf("skipped: neither of a file nor of a directory"), false, true},
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
	{Encoding, "column", optname.Textf("with text that is not UTF-8, stored as it is (%s latin1 or another converts it)", optname.CSVOptionsEncoding), false, false},
	{Blank, "blank line", optname.Textf("skipped"), false, false},
	{Other, "other file", optname.Textf("in the source skipped"), false, false},
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

// Entry is the entry of an account for a reason.
type Entry struct {
	Reason Reason `json:"reason"`
	Count  int64  `json:"count"`
	// Names are the first ones, at most five.
	Names []string `json:"names"`
}

// most is the maximum number of names in an entry.
const most = 5

// String describes an entry: "3 HEIC images not read: a.heic, b.heic and 1 more".
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

// Merge adds the entries of another account.
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

// Loses reports whether a reason means that images, records, splits or labels are lost.
func (r Reason) Loses() bool { return r.meaning().loses }

// Noted reports whether a note of the run mentions it, too.
func (r Reason) Noted() bool { return r.meaning().said }
