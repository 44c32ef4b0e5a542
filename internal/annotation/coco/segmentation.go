package coco

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// segment is a region being parsed. Its slices are used again.
type segment struct {
	points []float64 // of all polygons
	ends   []int     // of each polygon, in points
	faults []string  // of each polygon
	runs   []uint32
}

const notSegmentation = "segmentation is neither polygons nor RLE"

// segmentation parses the region of an annotation: polygons, a polygon, or a run-length encoding.
// Empty ones leave the object without a region. The reason is why the region, or a part of it,
// cannot be used.
func (p *parser) segmentation(r *row) (reason, fault string) {
	switch p.Peek() {
	case '[':
		if !p.keep {
			return "", p.Skip(maxDepth)
		}
		p.At++
		return p.polygons(r)
	case '{':
		p.At++
		if p.Peek() == '}' {
			p.At++
			return "", ""
		}
		return p.rle(r)
	}
	if p.Word("null") || p.Word(`""`) {
		return "", ""
	}
	return notSegmentation, p.Skip(maxDepth)
}

// polygons parses a list of polygons, or a polygon, after its bracket. The region has those that can
// be used.
func (p *parser) polygons(r *row) (reason, fault string) {
	s := &p.segment
	s.points, s.ends, s.faults = s.points[:0], s.ends[:0], s.faults[:0]
	for n := 0; ; n++ {
		more, fault := p.More(n, ']')
		if fault != "" {
			return "", fault
		}
		if !more {
			break
		}
		if next := p.Peek(); next == '[' && len(s.ends) == n {
			p.At++
			why, fault := p.polygon()
			if fault != "" {
				return "", fault
			}
			s.ends, s.faults = append(s.ends, len(s.points)), append(s.faults, why)
		} else if v, ok, fault := p.float(); fault != "" {
			return "", fault
		} else if !ok || len(s.ends) > 0 {
			reason = notSegmentation
		} else {
			s.points = append(s.points, v)
		}
	}
	if reason != "" || len(s.points) == 0 {
		return reason, ""
	}
	if len(s.ends) == 0 {
		s.ends, s.faults = append(s.ends, len(s.points)), append(s.faults, "")
	}
	points, polygons := slices.Clone(s.points), make([][]float64, 0, len(s.ends))
	from, broken := 0, 0
	for i, to := range s.ends {
		why := cmp.Or(s.faults[i], checkPolygon(points[from:to]))
		if why == "" {
			polygons = append(polygons, points[from:to:to])
		} else if broken++; broken == 1 {
			reason = fmt.Sprintf("polygon %d of %d: %s", i+1, len(s.ends), why)
		}
		from = to
	}
	if broken > 1 {
		reason += fmt.Sprintf(", and %d more", broken-1)
	}
	if len(polygons) > 0 {
		r.region = &annotation.Region{Polygons: polygons}
	}
	return reason, ""
}

// polygon parses the numbers of a polygon after its bracket.
func (p *parser) polygon() (reason, fault string) {
	for n := 0; ; n++ {
		more, fault := p.More(n, ']')
		if !more || fault != "" {
			return reason, fault
		}
		p.Peek()
		v, ok, fault := p.float()
		if fault != "" {
			return "", fault
		}
		if !ok {
			reason = "points that are not numbers"
		}
		p.segment.points = append(p.segment.points, v)
	}
}

// checkPolygon returns why x and y in turns are not a polygon, or "".
func checkPolygon(xy []float64) (reason string) {
	switch {
	case len(xy)%2 != 0:
		return "an odd number of coordinates"
	case len(xy) < 6:
		return "fewer than three points"
	}
	for _, v := range xy {
		if !(math.Abs(v) <= region.MaxCoordinate) {
			return "coordinates that are out of range or not finite"
		}
	}
	return ""
}

// rle parses a run-length encoding after its brace: its size, height first, and its counts.
func (p *parser) rle(r *row) (reason, fault string) {
	s := &p.segment
	seen := uint16(0)
	var size []uint32
	fault = p.object(func(key []byte) (fault string) {
		i, twice := member([]string{"size", "counts"}, key, &seen)
		why := twice
		switch {
		case i < 0 || twice != "":
			fault = p.Skip(maxDepth)
		case i == 0:
			size, why, fault = p.lengths(nil, "RLE size is not height and width")
		case p.Peek() == '"':
			var text []byte
			if text, fault = p.Text(); fault == "" {
				var err error
				if s.runs, err = region.ParseCompressed(text, len(text)); err != nil {
					why = "RLE counts: " + err.Error()
				}
			}
		default:
			s.runs, why, fault = p.lengths(s.runs[:0], "RLE counts are not a string or a list of lengths")
		}
		if reason == "" {
			reason = why
		}
		return fault
	})
	switch {
	case fault != "" || reason != "":
		return reason, fault
	case seen != 0b11:
		return "RLE without size or counts", ""
	case len(size) != 2 || size[0] == 0 || size[1] == 0 || size[0] > region.MaxSide || size[1] > region.MaxSide:
		return fmt.Sprintf("RLE size is not height and width: %d", size[:min(len(size), 4)]), ""
	}
	w, h := int(size[1]), int(size[0])
	if err := region.CheckRuns(s.runs, w, h); err != nil {
		return "RLE: " + err.Error(), ""
	}
	r.width, r.height = int32(w), int32(h)
	if p.keep {
		r.region = &annotation.Region{Runs: slices.Clone(s.runs), Width: w, Height: h}
	}
	return "", ""
}

// lengths appends a list of integers from 0 that 32 bits hold. For anything else the reason is
// want.
func (p *parser) lengths(dst []uint32, want string) (lengths []uint32, reason, fault string) {
	if p.Peek() != '[' {
		return dst, want, p.Skip(maxDepth)
	}
	p.At++
	for n := 0; ; n++ {
		more, fault := p.More(n, ']')
		if !more || fault != "" {
			return dst, reason, fault
		}
		p.Peek()
		text, integer, ok := p.Number()
		if !ok {
			if fault := p.Skip(maxDepth); fault != "" {
				return dst, "", fault
			}
		}
		v, ok := csvscan.ParseInt64(text)
		if !integer { // as it may be: 10.0
			var f float64
			f, ok = csvscan.ParseFloat64(text)
			ok = ok && f == math.Trunc(f) && math.Abs(f) <= math.MaxUint32
			v = int64(f)
		}
		if !ok || v != int64(uint32(v)) {
			reason = want
		}
		dst = append(dst, uint32(v))
	}
}
