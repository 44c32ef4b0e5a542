package verify

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// deepRun checks the content of the records of all files, with one scanner per worker, regardless
// of the number of files.
type deepRun struct {
	o       *DeepOptions
	workers int
	max     int // findings per file
	files   []deepFile
	groups  []*deepGroup
	splits  []string // indexed by deepFile.split; the first is ""

	scanners chan *scanner
	under    *par.Budget // bytes of batches in progress
	batches  sync.Pool   // of *deepBatch
	twins    *exactDups
	alike    *nearDups // nil if not requested
}

// deepFile describes a file before it is read.
type deepFile struct {
	path  string
	split uint16
	group int
}

// Limits of a batch for a scanner, and of all batches in progress.
const (
	batchBytes   = 256 << 10
	batchRecords = 512
	underWay     = 32 << 20
	// largeRecord is the size from which a record is not copied into a batch with others.
	largeRecord = 4 * batchBytes
)

func newDeepRun(ctx context.Context, o *DeepOptions, sources []shard.Source, workers, maxFaults int) *deepRun {
	d := &deepRun{
		o: o.withDefaults(), workers: workers, max: maxFaults, splits: []string{""},
		scanners: make(chan *scanner, workers), under: par.NewBudget(underWay),
	}
	d.batches.New = func() any { return new(deepBatch) }
	d.twins = newExactDups(ctx, d.o)
	if d.o.Near {
		d.alike = newNearDups(ctx, d.o)
	}
	groups := map[string]int{}
	for _, s := range sources {
		dir := filepath.Dir(s.Path)
		if s.Set != nil {
			dir = s.Set.Dir
		}
		g, known := groups[dir]
		if !known {
			g = len(d.groups)
			groups[dir] = g
			d.groups = append(d.groups, newDeepGroup(ctx, dir))
		}
		if s.Set != nil {
			d.groups[g].describe(s.Set)
		}
		d.files = append(d.files, deepFile{s.Path, d.splitNumber(saidSplit(s)), g})
	}
	for range workers {
		d.scanners <- newScanner(d)
	}
	return d
}

func (d *deepRun) splitNumber(name string) uint16 {
	i := slices.Index(d.splits, name)
	if i < 0 && len(d.splits) <= 0xffff {
		i = len(d.splits)
		d.splits = append(d.splits, name)
	}
	return uint16(max(i, 0))
}

// saidSplit returns the split of a file: from its manifest or, without one, from its name or its
// directory's; "" if unknown.
func saidSplit(s shard.Source) string {
	if s.Split != "" {
		return s.Split
	}
	return cmp.Or(shares.SplitOf(filepath.Base(s.Path)), naming.SplitIn(filepath.Base(filepath.Dir(s.Path))))
}

// deepBatch is a batch of records of a file, and the findings in it.
type deepBatch struct {
	data     []byte
	ends     []int // of the records in data
	numbers  []int64
	offsets  []int64
	findings []Finding
	omitted  deepFindings // beyond the limit; not listed
}

// omit counts a finding that is not listed.
func (b *deepBatch) omit(severity Severity) { b.omitted.add(Finding{Severity: severity}, 0) }

// add adds a record. A large one, which is all of data, is there already.
func (b *deepBatch) add(record []byte, number, offset int64) {
	if len(record) <= largeRecord {
		b.data = append(b.data, record...)
	}
	b.ends = append(b.ends, len(b.data))
	b.numbers = append(b.numbers, number)
	b.offsets = append(b.offsets, offset)
}

func (b *deepBatch) full() bool { return len(b.data) >= batchBytes || len(b.ends) >= batchRecords }

func (b *deepBatch) reset() {
	if cap(b.data) > largeRecord {
		b.data = nil
	}
	clear(b.findings)
	*b = deepBatch{data: b.data[:0], ends: b.ends[:0], numbers: b.numbers[:0], offsets: b.offsets[:0], findings: b.findings[:0]}
}

// deepFindings are the findings in one file.
type deepFindings struct {
	list    []Finding
	omitted int64
	bad     bool // some are faults
}

func (f *deepFindings) add(found Finding, limit int) {
	f.bad = f.bad || found.Severity == SeverityFault
	if len(f.list) < limit {
		f.list = append(f.list, found)
	} else {
		f.omitted++
	}
}

// look checks the records that read gives, concurrently with read. The error is from read, the
// context, or a temporary file.
func (d *deepRun) look(ctx context.Context, file int, read func(give func(record []byte, number, offset int64) error) error) (deepFindings, error) {
	var found deepFindings
	batch := d.batches.Get().(*deepBatch)
	err := par.Map(ctx, d.workers, 2*d.workers,
		func(ctx context.Context, give func(*deepBatch) error) error {
			hand := func() error {
				if len(batch.ends) == 0 {
					return nil
				}
				if err := d.under.Acquire(ctx, int64(len(batch.data))); err != nil {
					return err
				}
				full := batch
				batch = d.batches.Get().(*deepBatch)
				return give(full)
			}
			err := read(func(record []byte, number, offset int64) error {
				if len(record) > largeRecord {
					if err := hand(); err != nil {
						return err
					}
					batch.data = record // owned by the reader until its next record
				}
				batch.add(record, number, offset)
				if !batch.full() {
					return nil
				}
				if err := hand(); err != nil || len(record) <= largeRecord {
					return err
				}
				return d.under.WaitIdle(ctx)
			})
			if err == nil {
				err = hand()
			}
			return err
		},
		func(ctx context.Context, b *deepBatch) error {
			defer d.under.Release(int64(len(b.data)))
			l := <-d.scanners
			defer func() { d.scanners <- l }()
			return l.lookAt(ctx, file, b)
		},
		func(b *deepBatch) error {
			for _, f := range b.findings {
				found.add(f, d.max)
			}
			found.omitted += b.omitted.omitted
			found.bad = found.bad || b.omitted.bad
			b.reset()
			d.batches.Put(b)
			return nil
		})
	return found, err
}

// report builds the report from the findings in the files, and in all files together.
func (d *deepRun) report(ctx context.Context, found []deepFindings) (*DeepReport, error) {
	r := &DeepReport{
		Messages: map[string]int64{}, Labels: []DeepLabels{}, Findings: []Finding{},
		Counts: map[FindingKind]int64{}, NotChecked: []string{},
	}
	total := <-d.scanners
	for range d.workers - 1 {
		total.merge(<-d.scanners)
	}
	r.Records, r.Images, r.Decoded, r.Counts = total.records, total.images, total.decoded, total.counts
	r.Objects, r.Masks = total.boxes, total.maskCount
	for _, f := range found {
		r.Findings = append(r.Findings, f.list...)
		r.Omitted += f.omitted
	}
	r.bad = total.bad
	all := func(f Finding) { r.add(f, true) }
	for i, g := range d.groups {
		t := &total.tables[i]
		for kind, n := range t.messages {
			r.Messages[messageName(kind)] += n.records
		}
		g.judge(ctx, d, t, all)
		r.Labels = append(r.Labels, g.labelReport(ctx, t)...)
		r.NotChecked = append(r.NotChecked, g.notChecked(ctx, t)...)
	}
	if d.o.Decode == nil && r.Images > 0 {
		r.NotChecked = append(r.NotChecked, "images were not decoded")
	}
	err := d.twins.judge(ctx, d, r)
	if err == nil && d.alike != nil {
		err = d.alike.judge(ctx, d, r)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Record, b.Record))
	})
	return r, nil
}

// add counts a finding, and lists it if there is room.
func (r *DeepReport) add(f Finding, room bool) {
	r.Counts[f.Kind]++
	if f.Severity == SeverityFault {
		r.bad = true
		if r.badFiles == nil {
			r.badFiles = map[string]bool{}
		}
		r.badFiles[f.Path] = true
	}
	if room {
		r.Findings = append(r.Findings, f)
	} else {
		r.Omitted++
	}
}

// close removes temporary files.
func (d *deepRun) close() {
	d.twins.close()
	if d.alike != nil {
		d.alike.close()
	}
}

// recordRef is a record of a file.
type recordRef struct {
	file           int
	record, offset int64
	key            string
}

func (p recordRef) before(q recordRef) bool {
	return p.file < q.file || p.file == q.file && p.record < q.record
}

// finding returns a finding for a record.
func (d *deepRun) finding(kind FindingKind, severity Severity, at recordRef, feature, message string) Finding {
	f := Finding{
		Kind: kind, Severity: severity, Location: Location{Record: -1, Offset: -1}, Feature: jsontext.Readable(feature),
		Message: message, Advice: advice[kind].String(), Records: 1,
	}
	if at.file >= 0 {
		f.Location = *d.location(at)
	}
	return f
}

// location returns the location of a record.
func (d *deepRun) location(at recordRef) *Location {
	return &Location{
		Path: d.files[at.file].path, Split: d.splits[d.files[at.file].split],
		Record: at.record, Offset: at.offset, Key: jsontext.Readable(at.key),
	}
}

func messageName(m message.Type) string {
	if m == message.Unknown {
		return "unknown"
	}
	return string(m)
}
