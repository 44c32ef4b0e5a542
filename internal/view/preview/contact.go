package preview

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"

	"github.com/tfrec/tfrec/internal/codec/thumbnail"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/shard/stats"
)

// How a contact sheet is laid out, in pixels.
const (
	cellGap     = 12 // between cells and around them
	lineHeight  = 16 // of the text beneath, which has two lines
	letterWidth = 8
	cellHeight  = sample.CellSide + 4 + 2*lineHeight
	perRow      = 10
	maxContacts = 200
)

// ContactReport describes a contact sheet.
type ContactReport struct {
	Images     int // on it
	Unreadable int // chosen records; their cells say so
	Records    int64
}

// WriteContacts writes a contact sheet as PNG, with label and key beneath each image, of a sample
// of the records that sum is about, chosen as Write does. out must not exist, its directory must.
// Of Options, Codec, Samples (up to 200; default: 60), Seed, ImageKey, Label, Key and Workers are
// used.
//
// If no record has an image, that is an error. After an error, or if ctx ends, out does not exist.
func WriteContacts(ctx context.Context, sum *stats.Summary, out string, o Options) (*ContactReport, error) {
	if err := checkFree(ctx, out, sheetBegins, false); err != nil {
		return nil, err
	}
	png, report, err := Contacts(ctx, sum, o)
	if errors.Is(err, ErrNoImages) {
		return nil, fmt.Errorf("%w: %s has nothing to show; leave it out", err, out)
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return report, output.Put(ctx, out, png, false)
}

// ErrNoImages means that a set has no images for a contact sheet.
var ErrNoImages = errors.New("no record has an image")

// Contacts returns the contact sheet that WriteContacts writes.
func Contacts(ctx context.Context, sum *stats.Summary, o Options) (png []byte, r *ContactReport, err error) {
	if o.Samples == 0 {
		o.Samples = 60
	}
	o = o.withDefaults()
	if o.Samples < 1 || o.Samples > maxContacts {
		return nil, nil, fmt.Errorf("%d images: want 1 to %d", o.Samples, maxContacts)
	}
	c := contents.New(nil, sum.Files)
	if err := c.Resolve(o.keys(), contents.FeaturesSeen(sum.Features), contents.FeaturesSeen(sum.FeatureLists), sum.Labels, sum.Objects); err != nil {
		return nil, nil, err
	}
	if c.ImageKey == "" || c.Records == 0 {
		return nil, nil, ErrNoImages
	}
	chosen, err := sampleOf(ctx, c, &o, 0)
	if err != nil {
		return nil, nil, err
	}
	report := &ContactReport{Records: c.Records}
	var samples []*sample.Record
	for _, f := range chosen {
		for i := range f.samples {
			x := &f.samples[i]
			samples = append(samples, x)
			if x.Image != nil {
				report.Images++
			} else {
				report.Unreadable++
			}
		}
	}
	page, err := drawContacts(samples)
	if err != nil {
		return nil, nil, err
	}
	png, err = thumbnail.PNG(page)
	return png, report, err
}

var (
	ink   = image.NewUniform(color.Gray{0x1d})
	quiet = image.NewUniform(color.Gray{0x5b})
)

// drawContacts draws the samples in rows, each with its label and key beneath.
func drawContacts(samples []*sample.Record) (*image.RGBA, error) {
	sheet, err := thumbnail.NewSheet(len(samples), thumbnail.Layout{
		Columns: perRow, Side: sample.CellSide, Beneath: cellHeight - sample.CellSide, Gap: cellGap, Ground: color.Gray{0xf0},
	})
	if err != nil {
		return nil, err
	}
	for _, x := range samples {
		var pixels *image.NRGBA
		if x.Image != nil {
			pixels = x.Image.Pixels
			if x.Drawing != nil {
				pixels = drawOn(x.Drawing, pixels)
			}
		}
		square, err := sheet.Add(pixels)
		if err != nil {
			return nil, err
		}
		if pixels == nil {
			write(sheet.Image, square.Min.Add(image.Pt(letterWidth, sample.CellSide/2)), sample.CellSide-letterWidth, quiet, "cannot be shown")
		}
		key := x.Key
		if x.Copy != 0 {
			key += fmt.Sprintf("#%d", x.Copy)
		}
		first, second := x.Label, key
		if first == "" && x.Drawing != nil {
			first = headOf(x.Drawing.Summary)
		}
		if first == "" {
			first, second = key, ""
		}
		write(sheet.Image, square.Min.Add(image.Pt(0, sample.CellSide+4)), sample.CellSide, ink, first)
		write(sheet.Image, square.Min.Add(image.Pt(0, sample.CellSide+4+lineHeight)), sample.CellSide, quiet, second)
	}
	return sheet.Image, nil
}

// headOf cuts a line that is wider than a cell at its end, where write would cut its beginning.
func headOf(line string) string {
	const most = sample.CellSide / letterWidth
	if letters := []rune(line); len(letters) > most {
		return string(letters[:most-3]) + "..."
	}
	return line
}

// write writes a line of at most width pixels, or the end of a longer one, which distinguishes
// paths. Characters missing from the font become question marks.
func write(page *image.RGBA, at image.Point, width int, ink image.Image, line string) {
	letters := []rune(strings.ReplaceAll(plaintext.Shown(line, plaintext.MaxLineText), plaintext.Ellipsis, "..."))
	if most := width / letterWidth; len(letters) > most {
		letters = append([]rune("..."), letters[len(letters)-most+3:]...)
	}
	face := inconsolata.Regular8x16
	for i, r := range letters {
		if _, ok := face.GlyphAdvance(r); !ok {
			letters[i] = '?'
		}
	}
	d := font.Drawer{Dst: page, Src: ink, Face: face, Dot: fixed.P(at.X, at.Y+12)}
	d.DrawString(string(letters))
}
