package coco

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Limits of texts, in bytes.
const (
	maxText = 4096 // the name of a class or of an image
	maxID   = 256
)

// row is an annotation whose image and category are still ids.
type row struct {
	name, image string // ids; "" if there is none
	category    int64
	box         annotation.Box
	area        float64
	region      *annotation.Region
	points      *points // nil without keypoints
	reason      string  // why it cannot be used, or its mask; "" if it can
	// The size of an RLE, 0 without one, and the index of the image in the set, negative for none.
	width, height, target int32
	crowd                 int8
	leftOut               bool // of an unknown image, after many of them
	maskOnly              bool // reason is about the mask, or a part of it
}

// lost reports whether the annotation cannot be used.
func (r *row) lost() bool { return r.reason != "" && !r.maskOnly }

// anyReason returns why the annotation or a part of it cannot be used; "" if all of it can.
func (r *row) anyReason() string {
	if r.reason == "" && r.points != nil {
		return r.points.reason
	}
	return r.reason
}

// parsed has the parsed elements of a batch.
type parsed struct {
	rows    []row
	images  []annotation.Image
	classes []annotation.Class
	named   []namedPoints      // of classes
	faults  []annotation.Fault // of images without a name and of classes
	boxes   int                // rows that have a bbox
	unused  annotation.Fields  // members that are not kept
	other   string             // what kind of file rows without a bbox are typical of; "" if unknown
}

// parser parses elements. It is not safe for concurrent use.
type parser struct {
	jsonscan.Cursor
	keep    bool // the regions, which are not checked otherwise
	segment segment
	numbers []float64 // of keypoints
}

func newParser(keep bool) *parser {
	return &parser{Cursor: jsonscan.Cursor{Replace: true}, keep: keep}
}

// parse parses the elements of a batch.
func (p *parser) parse(b *batch) (*parsed, error) {
	into := &parsed{unused: annotation.Fields{}}
	for i, s := range b.spans {
		p.Reset(b.data[s.from:s.to])
		fault := ""
		if p.Peek() != '{' {
			fault = "not an object"
		} else if p.At++; b.list == "annotations" {
			into.rows = append(into.rows, row{area: math.NaN()})
			r := &into.rows[len(into.rows)-1]
			if fault = p.annotation(r, into); r.name == "" {
				r.name = fmt.Sprintf("annotation %d", b.first+i+1)
			}
		} else if b.list == "images" {
			fault = p.image(into, b.first+i+1)
		} else {
			fault = p.class(into, b.first+i+1)
		}
		if p.Peek(); fault == "" && p.At < len(p.Data) {
			fault = "text after it: " + jsonscan.Quoted(p.Data[p.At:])
		}
		if fault != "" {
			return into, &positionError{b.offset + int64(s.from+p.At), fmt.Errorf("%s[%d]: %s", b.list, b.first+i, fault)}
		}
	}
	if b.list != "annotations" {
		into.unused = into.unused.In(b.list)
	}
	return into, nil
}

// object parses an object after its brace. member parses the value of a member, whose name is valid
// until it reads on.
func (p *parser) object(member func(name []byte) (fault string)) (fault string) {
	for n := 0; ; n++ {
		more, fault := p.More(n, '}')
		if !more || fault != "" {
			return fault
		}
		from := p.At
		name, fault := p.Name()
		if fault != "" {
			return fault
		}
		to := p.At
		p.Peek()
		if fault = member(name); fault != "" {
			return "in " + jsonscan.Quoted(bytes.Trim(p.Data[from:to], "\" \t\r\n:")) + ": " + fault
		}
	}
}

// once returns a fault if a bit of seen is set, and sets it.
func once(seen *uint16, bit int, name []byte) string {
	if *seen>>bit&1 != 0 {
		return fmt.Sprintf("%q occurs twice", name)
	}
	*seen |= 1 << bit
	return ""
}

// member returns the position of a member's name among names, or -1, having checked that it is
// there only once.
func member(names []string, name []byte, seen *uint16) (i int, fault string) {
	for i, n := range names {
		if string(name) == n {
			return i, once(seen, i, name)
		}
	}
	return -1, ""
}

// skip skips the value of a member that is not kept, and counts it.
func (p *parser) skip(key []byte, into *parsed) (fault string) {
	at := p.At
	fault = p.Skip(maxDepth)
	into.unused.Add(key, p.Data[at:p.At])
	return fault
}

// class parses category n after its brace.
func (p *parser) class(into *parsed, n int) (fault string) {
	const id, name, keypoints, skeleton = 0, 1, 2, 3
	seen, reason, c := uint16(0), "", annotation.Class{}
	var points []string
	broken := "" // why points cannot be used
	fault = p.object(func(key []byte) (fault string) {
		i, why := member([]string{"id", "name", "keypoints", "skeleton"}, key, &seen)
		switch {
		case i < 0 || why != "" || i == skeleton:
			fault = p.skip(key, into)
		case i == keypoints:
			points, broken, fault = p.names()
		case i == id:
			var text []byte
			if text, why, fault = p.id(); why == "" && fault == "" {
				var ok bool
				if c.ID, ok = csvscan.ParseInt64(text); !ok {
					why = fmt.Sprintf("an id that is not an integer of 64 bits: %s", jsonscan.Quoted(text))
				}
			}
		case i == name:
			c.Name, why, fault = p.text()
			why = in("name", why)
		}
		reason = cmp.Or(reason, why)
		return fault
	})
	if seen>>id&1 == 0 {
		reason = cmp.Or(reason, "no id")
	}
	if c.Name == "" {
		reason = cmp.Or(reason, "no name")
	}
	f := annotation.Fault{Name: fmt.Sprintf("category %d of the list", n), Reason: reason}
	switch {
	case reason != "":
		into.faults = append(into.faults, f)
		return fault
	case broken != "":
		f.Part, f.Reason = annotation.PartKeypoints, broken
		into.faults = append(into.faults, f)
	}
	into.classes = append(into.classes, c)
	if len(points) > 0 {
		into.named = append(into.named, namedPoints{c.ID, annotation.Keypoints{Count: len(points), Names: points}, broken != ""})
	}
	return fault
}

// image parses image n after its brace. One without an id, or with two, is unreadable.
func (p *parser) image(into *parsed, n int) (fault string) {
	seen, address := uint16(0), ""
	var im annotation.Image
	unnamed := "no file_name" // why it has no name
	fault = p.object(func(key []byte) (fault string) {
		why := ""
		i, twice := member([]string{"id", "file_name", "coco_url", "width", "height"}, key, &seen)
		switch {
		case i < 0 || twice != "":
			im.Unreadable = cmp.Or(im.Unreadable, twice)
			fault = p.skip(key, into)
		case i == 0:
			var text []byte
			text, why, fault = p.id()
			im.ID, im.Unreadable = string(text), cmp.Or(im.Unreadable, why)
		case i == 1:
			if im.Name, why, fault = p.text(); why != "" {
				unnamed = in("file_name", why)
			}
		case i == 2:
			address, _, fault = p.text()
		case i == 3:
			im.Width, fault = p.side()
		case i == 4:
			im.Height, fault = p.side()
		}
		return fault
	})
	if u, err := url.Parse(address); err == nil && im.Name == "" {
		im.Name = strings.TrimPrefix(u.Path, "/")
	}
	if im.ID == "" {
		im.Unreadable = cmp.Or(im.Unreadable, "no id")
	}
	if im.Name == "" {
		into.faults = append(into.faults, annotation.Fault{Name: fmt.Sprintf("image %d of the list", n), Image: im.ID, Reason: unnamed})
		return fault
	}
	im.Name = path.Clean(strings.ReplaceAll(im.Name, `\`, "/"))
	into.images = append(into.images, im)
	return fault
}

// text parses a string that is kept, or null, which is "". For another value there is a reason.
func (p *parser) text() (text, reason, fault string) {
	switch {
	case p.Word("null"):
		return "", "", ""
	case p.Peek() != '"':
		return "", "not a string", p.Skip(maxDepth)
	}
	raw, fault := p.Text()
	if len(raw) > maxText {
		return "", fmt.Sprintf("a string of %d bytes, more than %d", len(raw), maxText), fault
	}
	return string(raw), "", fault
}

// side parses a width or a height: pixels, or 0 for anything else, which states none.
func (p *parser) side() (pixels int, fault string) {
	v, ok, fault := p.float()
	if !ok || v < 1 || v > math.MaxInt32 || v != math.Trunc(v) {
		return 0, fault
	}
	return int(v), fault
}

// id parses an id of any kind, as its shortest text, which is valid until the next call. For a
// value that is not an id, there is a reason.
func (p *parser) id() (text []byte, reason, fault string) {
	from := p.At
	if p.Peek() == '"' {
		text, fault = p.Text()
	} else if number, integer, ok := p.Number(); !ok {
		fault = p.Skip(maxDepth)
	} else if text = number; !integer || bytes.Equal(text, []byte("-0")) {
		const exact = 1 << 53
		v, _ := csvscan.ParseFloat64(number)
		if text = nil; v == math.Trunc(v) && math.Abs(v) <= exact {
			text = strconv.AppendInt(nil, int64(v), 10)
		}
	}
	if fault != "" {
		return nil, "", fault
	}
	if len(text) == 0 || len(text) > maxID {
		return nil, "not an id: " + jsonscan.Quoted(p.Data[from:p.At]), ""
	}
	return text, "", ""
}

// float parses a number, of any size. It skips other values, which are not ok.
func (p *parser) float() (v float64, ok bool, fault string) {
	if text, _, ok := p.Number(); ok {
		v, ok = csvscan.ParseFloat64(text)
		return v, ok, ""
	}
	if v, ok = p.NonFinite(); ok {
		return v, true, ""
	}
	return 0, false, p.Skip(maxDepth)
}
