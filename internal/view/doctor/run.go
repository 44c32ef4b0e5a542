package doctor

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/readbench"
	"github.com/tfrec/tfrec/reader"
)

// Options of [Run].
type Options struct {
	// Batch is the number of records in a batch. Default: 32.
	Batch int
	// BatchTime is the time that the model takes for a batch. Default: 50 ms.
	BatchTime time.Duration
	// Size is the side of the images that the model takes, in pixels. Default: 224.
	Size int
	// Shuffle is the number of records in the shuffle buffer, fewer if they are large. Default:
	// 10,000.
	Shuffle int
	// Duration is about how long to measure. Default: 10 s.
	Duration time.Duration
	// Partial and Note are as in [reader.Options].
	Partial bool
	Note    func(sentence string)
}

func (o *Options) complete() {
	if o.Batch == 0 {
		o.Batch = 32
	}
	if o.BatchTime == 0 {
		o.BatchTime = 50 * time.Millisecond
	}
	if o.Size == 0 {
		o.Size = 224
	}
	if o.Shuffle == 0 {
		o.Shuffle = 10_000
	}
	if o.Duration == 0 {
		o.Duration = 10 * time.Second
	}
}

// run is a run of the measurements.
type run struct {
	ctx     context.Context
	o       Options
	paths   []string
	set     *reader.Set
	sample  sample
	damage  damage
	report  *Report
	longest time.Duration // of one measurement
}

// Run measures the set at paths. It reads the files but changes nothing; on Linux it first drops
// them from the operating system's cache, as far as possible. A set without a single intact record
// is an error.
func Run(ctx context.Context, paths []string, o Options) (*Report, error) {
	o.complete()
	began, load := time.Now(), cpuload.Start()
	r := &run{ctx: ctx, o: o, paths: paths, damage: damage{seen: map[location]bool{}}, report: &Report{
		Paths: quoted(paths), Cores: runtime.GOMAXPROCS(0), Memory: memory.Limit(),
		Batch: o.Batch, BatchSeconds: o.BatchTime.Seconds(), Size: o.Size,
	}}
	var err error
	r.set, err = reader.OpenAll(ctx, paths, reader.Options{
		Partial: o.Partial, Note: o.Note, SkipBad: skipAll, OnSkip: r.damage.add,
	})
	if err != nil {
		return nil, err
	}
	// Some twelve measurements, of which reading and the pipeline count twice.
	r.longest = o.Duration / 14
	for _, step := range []func() error{r.measureStorage, r.takeSample, r.measureSource, r.measureParse, r.measureDecode, r.measureShuffle, r.measurePipeline} {
		if err := step(); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	r.report.Skipped, r.report.Damage = r.damage.count, r.damage.first
	if others, known := load.Others(); known {
		r.report.OtherLoad = &others
	}
	r.report.Seconds = time.Since(began).Seconds()
	r.addNotes()
	r.report.Verdict = Diagnose(r.report)
	return r.report, nil
}

// quoted returns paths as words of a shell.
func quoted(paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = shell.Quote(path)
	}
	return strings.Join(words, " ")
}

// add appends a step that was measured.
func (r *run) add(name string, one, all speed, workers int) {
	if one.records == 0 || all.records == 0 {
		return
	}
	r.report.Steps = append(r.report.Steps, Step{
		Name: name, One: one.records, OneMB: one.bytes / 1e6, All: all.records, AllMB: all.bytes / 1e6, Workers: workers,
	})
}

// skipAll lets measurements continue after any damage.
var skipAll = reader.SkipBad{Count: 1 << 40}

// measurePipeline runs everything together.
func (r *run) measurePipeline() error {
	o := readbench.Options{
		Partial: r.o.Partial, SkipBad: skipAll, OnSkip: r.damage.add, Batch: r.o.Batch,
		// A buffer that takes long to fill would leave no time to measure.
		Shuffle: min(r.report.Shuffle, len(r.sample.records)/10),
		For:     2 * r.longest, Limit: 2 * r.longest,
	}
	switch {
	case r.report.ImagePixels > 0:
		o.Decode, o.Resize = true, augment.ResizeSpec{Square: r.o.Size}
	case r.sample.examples:
		o.Parse = true
	}
	if o.Parse { // records that do not suit their manifest are damaged
		err := needOne(r, mostRecords, func(p reader.Pipe) iter.Seq2[*reader.ColumnBatch, error] {
			return reader.ParseColumns(p, reader.ColumnSpec{}).All(r.ctx)
		})
		if err != nil {
			return err
		}
	}
	res, err := readbench.Run(r.ctx, r.paths, o)
	if err != nil {
		return err
	}
	r.report.Pipeline = Pipeline{res.RecordsPerSec, res.MBPerSec, res.Bottleneck}
	return nil
}

// addNotes adds caveats about the figures.
func (r *run) addNotes() {
	p := r.report
	note := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	if p.Skipped > 0 {
		note("%s damaged and left out: tfrec verify lists the damage, tfrec repair saves what is intact", plural.Of(p.Skipped, "record"))
	}
	if p.busy() {
		note("other processes kept %.1f of %d processors busy meanwhile: on an idle machine the figures would be higher", *p.OtherLoad, p.Cores)
	}
	switch {
	case p.Remote:
	case p.Cached == nil:
		note("storage: unknown whether the operating system had the files in memory: if so, the disk is slower than this")
	case *p.Cached > 0.1:
		note("storage: the operating system had %.0f%% of the files in memory, so the disk is slower than this", 100**p.Cached)
	}
	if p.fitsMemory() {
		note("the set fits into memory: storage matters in the first epoch only, if nothing else takes that memory")
	}
	if !r.sample.examples {
		note("the records are not Examples: nothing is parsed or decoded")
	}
}

// remote reports whether the files are in an object store.
func (r *run) remote() bool { return storage.Remote(r.set.Sources()[0].Path) }
