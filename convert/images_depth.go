package convert

import (
	"slices"
)

// countDepth counts a record by the bits of its samples: as stored, and in the images that it is
// made of.
func (p *piece) countDepth(m *sampleWork) {
	switch deep := m.info.Deep || slices.ContainsFunc(m.partners, func(pm *sampleWork) bool { return pm.info.Deep }); {
	case m.out.deep:
		p.deep++
	case deep:
		p.narrowed++
	}
}
