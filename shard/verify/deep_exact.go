package verify

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
)

// exactDups finds identical records by 128-bit hashes, completely and in bounded memory: it sorts a
// row per record by hash, file and record number. A row takes some 40 bytes plus the record's key.
type exactDups struct {
	o    *DeepOptions
	rows *spill.Sorter
}

// twin has the properties by which records are compared.
type twin struct {
	hash    digest.Hash
	at      recordRef
	split   uint16
	label   uint32 // hash of its label; 0 if there is none
	variant bool   // an augmented copy, or an original that has such copies
	origin  bool   // hash identifies the image that the record was made from: see scanner.origin
}

// exactDupBatch has rows that were not added yet.
type exactDupBatch struct{ row, rows []byte }

func newExactDups(ctx context.Context, o *DeepOptions) *exactDups {
	return &exactDups{o, spill.NewSorter(o.Memory, func() (spill.File, error) { return osfile.ScratchIn(ctx, o.TempDir) })}
}

// Flags in a row.
const (
	twinVariant = 1 << iota
	twinOrigin
)

func (b *exactDupBatch) add(t twin) {
	row := t.hash.Append(b.row[:0])
	row = binary.BigEndian.AppendUint32(row, uint32(t.at.file))
	row = binary.BigEndian.AppendUint64(row, uint64(t.at.record))
	row = binary.AppendUvarint(row, uint64(t.at.offset))
	row = binary.LittleEndian.AppendUint16(row, t.split)
	row = binary.LittleEndian.AppendUint32(row, t.label)
	var flags byte
	if t.variant {
		flags |= twinVariant
	}
	if t.origin {
		flags |= twinOrigin
	}
	b.row = append(append(row, flags), t.at.key...)
	b.rows = spill.AppendRow(b.rows, b.row)
}

// parseTwin parses a row.
func parseTwin(row []byte) (t twin) {
	t.hash, row = digest.Parse(row), row[digest.Size:]
	t.at.file = int(binary.BigEndian.Uint32(row))
	t.at.record = int64(binary.BigEndian.Uint64(row[4:]))
	offset, n := binary.Uvarint(row[12:])
	t.at.offset, row = int64(offset), row[12+n:]
	t.split = binary.LittleEndian.Uint16(row)
	t.label = binary.LittleEndian.Uint32(row[2:])
	t.variant, t.origin = row[6]&twinVariant != 0, row[6]&twinOrigin != 0
	t.at.key = string(row[7:])
	return t
}

// add adds the rows of a batch.
func (t *exactDups) add(b *exactDupBatch) error {
	err := t.rows.Add(b.rows)
	b.rows = b.rows[:0]
	return err
}

func (t *exactDups) close() { t.rows.Close() }

// judge finds the records that repeat an earlier one, and frees the rows.
func (t *exactDups) judge(ctx context.Context, d *deepRun, r *DeepReport) error {
	defer t.close() // frees memory for the next step
	if err := t.rows.Sort(ctx); err != nil {
		return err
	}
	var last []byte // the previous row
	same := twinGroup{d: d, r: r}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, err := t.rows.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 || digest.Parse(row) != digest.Parse(last) {
			last = append(last[:0], row...)
			same.reset()
			continue
		}
		if len(same.kept) == 0 {
			same.add(parseTwin(last))
		}
		same.add(parseTwin(row))
	}
}

// twinGroup is a group of identical records.
type twinGroup struct {
	d    *deepRun
	r    *DeepReport
	kept []twin // the first ones of each split, label and key
	grew bool   // some records in it are duplicates

	leaks, others int // found so far, in all groups
}

// maxTwinsKept is the maximum number of records of a group to compare others with.
const maxTwinsKept = 256

// reset begins a new group.
func (g *twinGroup) reset() { g.kept, g.grew = g.kept[:0], false }

// add adds a record to the group, and its finding to the report.
func (g *twinGroup) add(t twin) {
	if t.origin {
		g.addVariant(t)
		return
	}
	first := len(g.kept) == 0
	kind, other := g.compare(&t)
	room := &g.others
	switch kind {
	case "":
		if !first {
			g.r.Duplicates.Variants++
		}
		return
	case FindingLeak:
		g.r.Duplicates.Leaks++
		room = &g.leaks
	}
	if !g.grew {
		g.grew = true
		g.r.Duplicates.Groups++
	}
	g.r.Duplicates.Records++
	conflict := t.label != other.label
	if conflict {
		g.r.Duplicates.Conflicts++
	}
	*room++
	g.r.add(g.d.repeat(kind, &t, &other, conflict), *room <= g.d.o.MaxFindings)
}

// compare returns the finding for a record of the group, and the earlier record that it refers to:
// the first one in another split, else the first with another label, else the first. There is none
// for the first record, and for a variant of the same image in the same split.
func (g *twinGroup) compare(t *twin) (kind FindingKind, other twin) {
	leak, conflict, first := -1, -1, -1
	known := false
	for i := range g.kept {
		b := &g.kept[i]
		known = known || b.split == t.split && b.label == t.label && b.variant == t.variant && b.at.key == t.at.key
		switch {
		case b.split != t.split && b.split != 0 && t.split != 0:
			if leak < 0 {
				leak = i
			}
		case b.variantOf(t):
		case b.label != t.label && conflict < 0:
			conflict = i
		case first < 0:
			first = i
		}
	}
	switch {
	case leak >= 0:
		kind, other = FindingLeak, g.kept[leak]
	case conflict >= 0:
		kind, other = FindingConflict, g.kept[conflict]
	case first >= 0:
		kind, other = FindingDuplicate, g.kept[first]
	}
	if !known && len(g.kept) < maxTwinsKept {
		g.kept = append(g.kept, *t)
	}
	return kind, other
}

// variantOf reports whether two records are variants of the same image, which are not duplicates.
func (t *twin) variantOf(u *twin) bool {
	return t.variant && u.variant && t.split == u.split && t.at.key == u.at.key && t.at.key != ""
}

// repeat returns the finding for a record that repeats another.
func (d *deepRun) repeat(kind FindingKind, t, other *twin, conflict bool) Finding {
	severity, message := SeverityWarning, "the same as the other record"
	switch kind {
	case FindingConflict:
		message += ", with another label"
	case FindingLeak:
		severity = SeverityFault
		message += ", which is in split " + d.splits[other.split]
		if conflict {
			message += " with another label"
		}
	}
	f := d.finding(kind, severity, t.at, "", message)
	f.Other = d.location(other.at)
	return f
}
