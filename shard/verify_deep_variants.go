package shard

import "encoding/binary"

// origin is a further row for an augmented record, which has the same hash as
// those of all records that were made from the same picture of a folder's set.
func (l *looker) origin() twin {
	f := &l.d.files[l.at.file]
	l.buffer = binary.AppendUvarint(append(l.buffer[:0], "made from"...), uint64(f.group))
	l.buffer = append(l.buffer, l.at.key...)
	return twin{hash: hashOf(l.buffer), at: l.at, split: f.split, variant: true, origin: true}
}

// splitVariants finds which records of one picture are in another split than the
// first of them. It returns how many leaks there are with them.
func (d *deepRun) splitVariants(made []twin, r *DeepReport, leaks int) int {
	var first *twin
	for i := range made {
		t := &made[i]
		switch {
		case t.split == 0: // not known
		case first == nil:
			first = t
		case t.split != first.split:
			leaks++
			f := d.finding(FindingVariantLeak, SeverityFault, t.at, "", "made from the same picture as the other record, which is in split "+d.splits[first.split])
			f.Other = d.otherPlace(first.at)
			r.add(f, leaks <= d.o.MaxFindings)
		}
	}
	return leaks
}
