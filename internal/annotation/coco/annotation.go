package coco

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Members of an annotation, by their positions.
const (
	memberID = iota
	memberImage
	memberCategory
	memberBox
	memberArea
	memberCrowd
	memberSegmentation
	memberSegments
	memberCaption
	memberKeypoints
	memberNumKeypoints
)

var members = []string{"id", "image_id", "category_id", "bbox", "area", "iscrowd", "segmentation", "segments_info", "caption", "keypoints", "num_keypoints"}

// annotation parses an annotation after its brace.
func (p *parser) annotation(r *row, into *parsed) (fault string) {
	seen := uint16(0)
	var count struct{ from, to int } // of num_keypoints
	reject := func(reason string) {
		if reason != "" && !r.lost() {
			r.reason, r.maskOnly = reason, false
		}
	}
	fault = p.object(func(key []byte) (fault string) {
		i, twice := member(members, key, &seen)
		if twice != "" {
			reject(twice)
			return p.Skip(maxDepth)
		}
		reason := ""
		switch i {
		case memberID:
			var text []byte
			if p.Word("null") { // as without
				break
			}
			text, reason, fault = p.id()
			r.name = string(text)
		case memberImage:
			var text []byte
			text, reason, fault = p.id()
			r.image = string(text)
			reason = in("image_id", reason)
		case memberCategory:
			r.category, reason, fault = p.category()
		case memberBox:
			r.box, reason, fault = p.box()
		case memberArea:
			r.area, fault = p.area()
		case memberCrowd:
			r.crowd, reason, fault = p.crowd()
		case memberSegmentation:
			at := p.At
			var broken string
			if broken, fault = p.segmentation(r); broken != "" && p.keep && r.reason == "" {
				r.reason, r.maskOnly = broken, true
			}
			if !p.keep && fault == "" {
				into.unused.Add(key, p.Data[at:p.At])
			}
		case memberKeypoints:
			if into.other == "" {
				into.other = "keypoints"
			}
			fault = p.keypoints(r)
		case memberNumKeypoints:
			count.from = p.At
			fault = p.Skip(maxDepth)
			count.to = p.At
		case memberSegments:
			into.other = "panoptic"
			fault = p.skip(key, into)
		case memberCaption:
			into.other = "captions"
			fault = p.skip(key, into)
		default:
			fault = p.skip(key, into)
		}
		reject(reason)
		return fault
	})
	has := func(i int) bool { return seen>>i&1 != 0 }
	switch {
	case !has(memberBox):
		reject("no bbox")
	case !has(memberImage):
		reject("no image_id")
	case !has(memberCategory):
		reject("no category_id")
	}
	if has(memberBox) {
		into.boxes++
	}
	if has(memberNumKeypoints) && !r.labels(p.Data[count.from:count.to]) {
		into.unused.Add([]byte(members[memberNumKeypoints]), p.Data[count.from:count.to])
	}
	if r.lost() {
		r.region, r.points = nil, nil
	}
	return fault
}

// in adds the name of the member to a reason, if there is one.
func in(member, reason string) string {
	if reason == "" {
		return ""
	}
	return member + ": " + reason
}

// category parses the id of a category.
func (p *parser) category() (id int64, reason, fault string) {
	text, reason, fault := p.id()
	if reason == "" && fault == "" {
		var ok bool
		if id, ok = csvscan.ParseInt64(text); !ok {
			reason = "not an integer of 64 bits: " + jsonscan.Quoted(text)
		}
	}
	return id, in("category_id", reason), fault
}

// box parses a bbox: x, y, width and height.
func (p *parser) box() (b annotation.Box, reason, fault string) {
	const want = "bbox is not four numbers"
	if p.Peek() != '[' {
		return b, want, p.Skip(maxDepth)
	}
	p.At++
	var xywh [4]float64
	numbers := true
	n := 0
	for ; ; n++ {
		more, fault := p.More(n, ']')
		if fault != "" {
			return b, "", fault
		}
		if !more {
			break
		}
		p.Peek()
		v, ok, fault := p.float()
		if fault != "" {
			return b, "", fault
		}
		numbers = numbers && ok
		if n < 4 {
			xywh[n] = v
		}
	}
	x, y, w, h := xywh[0], xywh[1], xywh[2], xywh[3]
	b = annotation.Box{XMin: x, YMin: y, XMax: x + w, YMax: y + h}
	switch {
	case n != 4 || !numbers:
		return b, want, ""
	case !finite(x) || !finite(y) || !finite(b.XMax) || !finite(b.YMax):
		return b, "bbox has numbers that are not finite", ""
	case b.XMin >= b.XMax || b.YMin >= b.YMax:
		return b, fmt.Sprintf("bbox is empty: width %g, height %g", w, h), ""
	}
	return b, "", ""
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// area parses an area: pixels, or NaN for anything else, which states none.
func (p *parser) area() (area float64, fault string) {
	area, ok, fault := p.float()
	if !ok || math.IsInf(area, 0) || area < 0 {
		return math.NaN(), fault
	}
	return area, fault
}

// crowd parses an iscrowd: 0 or 1, false or true.
func (p *parser) crowd() (crowd int8, reason, fault string) {
	switch {
	case p.Word("true"):
		return 1, "", ""
	case p.Word("false"), p.Word("null"):
		return 0, "", ""
	}
	v, ok, fault := p.float()
	if !ok || v != 0 && v != 1 {
		return 0, "iscrowd is neither 0 nor 1", fault
	}
	return int8(v), "", fault
}
