package verify

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/set/digest"
)

// origin returns an additional row for an augmented record. All records made from the same image of
// a directory's set have the same hash in it.
func (l *scanner) origin() twin {
	f := &l.d.files[l.at.file]
	l.buffer = binary.AppendUvarint(append(l.buffer[:0], "made from"...), uint64(f.group))
	l.buffer = append(l.buffer, l.at.key...)
	return twin{hash: digest.Of(l.buffer), at: l.at, split: f.split, variant: true, origin: true}
}

// addVariant adds a record to those made from the same image, and a finding if its split differs
// from the first one's.
func (g *twinGroup) addVariant(t twin) {
	switch {
	case t.split == 0: // unknown
	case len(g.kept) == 0:
		g.kept = append(g.kept, t)
	case t.split != g.kept[0].split:
		g.leaks++
		first := &g.kept[0]
		f := g.d.finding(FindingVariantLeak, SeverityFault, t.at, "", "made from the same image as the other record, which is in split "+g.d.splits[first.split])
		f.Other = g.d.location(first.at)
		g.r.add(f, g.leaks <= g.d.o.MaxFindings)
	}
}
