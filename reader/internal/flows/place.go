package flows

import (
	"reflect"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// place is the position after a batch. The types of batches embed it.
type place struct{ mark Mark }

// Place is place, for batches of other packages, which embed it under a name that is not exported.
type Place = place

// State returns the state of a consumer that has received this batch and all before it.
func (p *place) State() pipeline.State { return p.mark.whole() }

// setMark replaces the mark of a batch. The mark of a copy must not refer to a block: the copy
// outlives the element that retains it.
func (p *place) setMark(to Mark) {
	if p.mark.block == nil {
		to = to.clone()
	}
	p.mark = to
}

// PlaceAt returns the place of a batch whose last record is before a mark.
func PlaceAt(m Mark) place { return place{m} }

// CopyPlace returns a place with the same State that holds no memory.
func CopyPlace(p *place) place { return place{p.mark.clone()} }

// setMark replaces the mark of a value that is a batch or embeds one; nil has none.
func setMark(v any, m Mark) {
	if b, ok := v.(marked); ok && !hasNil(reflect.ValueOf(v)) {
		b.setMark(m)
	}
}

// hasNil reports whether a value is nil, or embeds a pointer that is.
func hasNil(v reflect.Value) bool {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
		if f := v.Type().Field(i); f.Anonymous && f.Type.Kind() == reflect.Pointer && hasNil(v.Field(i)) {
			return true
		}
	}
	return false
}
