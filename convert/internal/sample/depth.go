package sample

import (
	"slices"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// countDepth counts a record by the bits of its samples: as stored, and in the images that it is
// made of.
func countDepth(p *plan.Piece, m *Work) {
	switch deep := m.info.Deep || slices.ContainsFunc(m.partners, func(pm *Work) bool { return pm.info.Deep }); {
	case m.out.deep:
		p.Deep++
	case deep:
		p.Narrowed++
	}
}
