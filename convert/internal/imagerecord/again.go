package imagerecord

import (
	"bytes"
	"context"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// suspect reports whether a sample may be unusable because bytes of its images changed in transit:
// not all stores state checksums of all objects, and none do of parts.
func (s *Maker) suspect(m *Work) bool {
	return m.bad != nil && s.Images[m.Sample.Image].Bad() == nil && s.Origin.Remote()
}

// beginAgain begins an unusable sample again, with images read around all caches, and returns its
// work in place of m. If other bytes come, that is counted as harm done in transit, and they are
// read once more if they are unusable too; bytes that come twice are the object's own. It returns an
// error if other bytes come each time.
func (s *Maker) beginAgain(ctx context.Context, m *Work, p *plan.Piece, before plan.Mark) (*Work, error) {
	one, alone := m.Sample, m.alone
	pic := &s.Images[one.Image]
	for range storage.MostRefetches {
		PutWork(m)
		last := bytes.Clone(p.Identity[before.Identity:])
		p.ReturnTo(before)
		m = s.newSampleWork(one, nil)
		m.alone = alone
		if err := s.begin(storage.Around(ctx), m, p); err != nil || bytes.Equal(p.Identity[before.Identity:], last) {
			return m, err
		}
		storage.CountHarm(s.Origin.Source(pic), 0, pic.Size)
		if !s.suspect(m) {
			return m, nil
		}
	}
	return m, storage.Unstable(s.Origin.Source(pic))
}
