package convert

import (
	"slices"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/imagerecord"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// The ledger entries of a shard are of two kinds. What making its records shows follows from the
// content of images, which the shard's fingerprint covers. What listing and reading the input shows,
// such as a row without a label, each run finds anyway: these entries are renewed when the shard is
// kept. So the ledger follows the input, and other words for a fault redo no shard.

// entryKind distinguishes the ledger entries of a key: of the sample, and of annotations.
type entryKind struct {
	key        string
	annotation bool
}

func kindOfEntry(b *setdir.BadSample) entryKind {
	return entryKind{b.Key, b.Stage == plan.StageAnnotation}
}

// relist returns the ledger entries of a shard with those that are Listed as they are now.
// faults are the errors of the images that cannot be read.
func (s *imageSource) relist(shard int, bad []setdir.BadSample, faults map[int32]error) []setdir.BadSample {
	if !slices.ContainsFunc(bad, func(b setdir.BadSample) bool { return b.Listed }) {
		return bad
	}
	now := map[entryKind][]*setdir.BadSample{}
	add := func(b *setdir.BadSample) { now[kindOfEntry(b)] = append(now[kindOfEntry(b)], b) }
	for _, one := range s.samples[shard] {
		p := &s.Images[one.Image]
		if p.Bad() != nil {
			add(sample.Listed(p.Bad()))
			continue
		}
		if fault := s.unreadFault(one, faults); fault != nil {
			add(sample.Listed(s.Unusable(one, fault.Stage, fault.Err)))
		}
		if image := p.Annotated(); image != nil && s.ReportsFaults(one) {
			for _, f := range image.Faults {
				add(sample.Listed(annotations.BadSample(p.Path, f)))
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
func (s *imageSource) unreadFault(one sample.Sample, faults map[int32]error) *imagerecord.Fault {
	if len(faults) == 0 {
		return nil
	}
	if err := faults[one.Image]; err != nil {
		return &imagerecord.Fault{Stage: "read", Err: origin.WithoutPath(err)}
	}
	for _, image := range s.Partners(one) {
		if err := faults[image]; err != nil {
			return imagerecord.PartnerFault("read", &s.Images[image], origin.WithoutPath(err))
		}
	}
	return nil
}
