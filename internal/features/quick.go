package features

import "github.com/tfrec/tfrec/tfrecord"

// quickValue is what Quick found for one feature.
type quickValue struct {
	kind tfrecord.Kind
	n    int64
	only []byte // the value of a bytes feature with a single value
}

// Quick is a fast path of Add for a record in the usual form (see tfrecord.ScanExample) that has
// the features of the previous record in the same order, as nearly all records do. For any other
// record it returns false without side effects, and the caller uses Add.
func (s *Scan) Quick(record []byte) bool {
	pos, ok := tfrecord.ScanExample(record)
	if !ok || len(s.recent) == 0 {
		return false
	}
	s.found = s.found[:0]
	for _, f := range s.recent {
		entry, ok := tfrecord.ScanEntry(record, pos)
		if !ok || string(record[entry.KeyFrom:entry.KeyTo]) != f.key {
			return false
		}
		v, ok := quickFeature(record[entry.From:entry.To])
		if !ok {
			return false
		}
		s.found = append(s.found, v)
		pos = entry.To
	}
	if pos < len(record) {
		return false
	}
	s.records++
	for i, f := range s.recent {
		f.note(s.found[i].kind, s.found[i].n, s.found[i].only)
	}
	return true
}

// maxPlainVarint is the maximum length in bytes of a non-negative varint.
const maxPlainVarint = 9

// quickFeature scans the values of a feature that has at least one.
func quickFeature(feature []byte) (quickValue, bool) {
	kind, values, ok := tfrecord.ScanFeature(feature)
	if !ok || len(values) == 0 {
		return quickValue{}, false
	}
	switch kind {
	case tfrecord.KindBytes:
		only, rest, ok := tfrecord.ScanBytes(values)
		return quickValue{kind, 1, only}, ok && len(rest) == 0
	case tfrecord.KindFloat:
		return quickValue{kind: kind, n: int64(len(values) / 4)}, len(values)%4 == 0
	}
	n, run := int64(0), 0
	for _, b := range values {
		if run++; run > maxPlainVarint {
			return quickValue{}, false
		}
		if b < 0x80 {
			n, run = n+1, 0
		}
	}
	return quickValue{kind: kind, n: n}, run == 0
}
