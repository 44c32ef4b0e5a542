package imagerecord

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
)

// Maker makes records of samples.
type Maker struct {
	*sample.Set
	annotator
	spare
	codec   *augment.Codec
	Backend augment.Backend
	Decodes bool // the backend decodes JPEGs
	decoded plan.Tally
}

// New returns a maker of records on this backend.
func New(set *sample.Set, codec *augment.Codec, backend augment.Backend) *Maker {
	return &Maker{Set: set, annotator: annotator{set, codec}, codec: codec, Backend: backend}
}
