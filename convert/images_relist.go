package convert

import (
	"slices"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/setdir"
)

// The ledger entries of a shard are of two kinds. What making its records shows follows from the
// content of images, which the shard's fingerprint covers. What listing and reading the input shows,
// such as a row without a label, each run finds anyway: these entries are renewed when the shard is
// kept. So the ledger follows the input, and other words for a fault redo no shard.

// entryKind tells apart the ledger entries of a key: of the sample, and of annotations.
type entryKind struct {
	key        string
	annotation bool
}

func kindOfEntry(b *setdir.BadSample) entryKind {
	return entryKind{b.Key, b.Stage == plan.StageAnnotation}
}

// relist returns the ledger entries of a job's shard with those that are Listed as they are now.
// faults are the errors of the images that cannot be read.
func (s *imageSource) relist(job int, bad []setdir.BadSample, faults map[int32]error) []setdir.BadSample {
	if !slices.ContainsFunc(bad, func(b setdir.BadSample) bool { return b.Listed }) {
		return bad
	}
	now := map[entryKind][]*setdir.BadSample{}
	add := func(b *setdir.BadSample) { now[kindOfEntry(b)] = append(now[kindOfEntry(b)], b) }
	for _, sample := range s.samples[job] {
		p := &s.images[sample.image]
		if p.Bad() != nil {
			add(listed(p.Bad()))
			continue
		}
		if fault := s.unreadFault(sample, faults); fault != nil {
			add(listed(s.unusable(sample, fault.stage, fault.err)))
		}
		if image := p.Annotated(); image != nil && s.reportsFaults(sample) {
			for _, f := range image.Faults {
				add(listed(origin.BadAnnotation(s.o, p.Path, f)))
			}
		}
	}
	renewed := slices.Clone(bad)
	for i := range renewed {
		kind := kindOfEntry(&renewed[i])
		if entries := now[kind]; renewed[i].Listed && len(entries) > 0 {
			renewed[i], now[kind] = *entries[0], entries[1:]
		}
	}
	return renewed
}

// unreadFault returns the fault of a sample if its image, or one that is mixed into it, cannot be
// read.
func (s *imageSource) unreadFault(sample sample, faults map[int32]error) *fault {
	if len(faults) == 0 {
		return nil
	}
	if err := faults[sample.image]; err != nil {
		return &fault{stage: "read", err: origin.WithoutPath(err)}
	}
	for _, image := range s.partners(sample) {
		if err := faults[image]; err != nil {
			return partnerFault("read", &s.images[image], origin.WithoutPath(err))
		}
	}
	return nil
}
