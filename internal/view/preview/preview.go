package preview

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/shard"
)

// Write makes a page of the records in paths (see [shard.Expand]) and writes it to out, which must
// not exist, or be that page, unless Options.Overwrite is set; its directory must. It may be the URL
// of an object.
//
// Faults of the data are not an error: the page and the Report list them. A set without any record
// is an error that unwraps to shard.ErrNoRecords. After an error, or if ctx ends, out is unchanged.
// The same set, options and codec make the same page.
func Write(ctx context.Context, paths []string, out string, o Options) (*Report, error) {
	began := time.Now()
	o = o.withDefaults()
	if o.Samples < 1 || o.Samples > MaxSamples {
		return nil, fmt.Errorf("%d samples: want 1 to %d", o.Samples, MaxSamples)
	}
	if err := checkFree(ctx, out, pageBegins, o.Overwrite); err != nil {
		return nil, err
	}
	s, err := measure(ctx, paths, &o)
	if err != nil {
		return nil, err
	}
	if err := checkInput(ctx, s.Set, out); err != nil {
		return nil, err
	}
	measured := time.Since(began)
	chosen, err := sampleOf(ctx, s.Set, &o, imagesBudget)
	if err != nil {
		return nil, err
	}
	p := s.page(chosen, &o)
	html, err := p.render()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := output.Put(ctx, out, html, o.Overwrite); err != nil {
		return nil, err
	}
	report := &Report{
		Status: "written", Page: out, Bytes: int64(len(html)),
		Records: s.Records, Faults: s.faults, FaultsOmitted: s.stats.FaultsOmitted,
		MeasureSeconds: measured.Seconds(), Seconds: time.Since(began).Seconds(),
	}
	if len(s.faults) > 0 {
		report.Status = "damaged"
	} else {
		report.Faults = []shard.Fault{}
	}
	for _, f := range chosen {
		for _, x := range f.samples {
			report.Shown++
			if x.Image != nil {
				report.Images++
			} else if x.Err != nil {
				report.Unreadable++
			}
		}
	}
	return report, nil
}

// shownFamily is a record with its variants, or a record alone.
type shownFamily struct {
	samples []sample.Record
	more    int // variants that are not shown
}

// sampleOf reads the records that are shown, with images of budget bytes of base64 in total; 0 keeps
// them as pixels.
func sampleOf(ctx context.Context, c *contents.Set, o *Options, budget int) ([]shownFamily, error) {
	families := contents.Choose(c.Files, o.Samples, o.Seed)
	if c.Variants {
		var err error
		if families, err = c.ChooseFamilies(ctx, o.Samples, o.Seed, o.Workers); err != nil {
			return nil, err
		}
	}
	var places []contents.Location
	chosen := make([]shownFamily, len(families))
	var to []*sample.Record
	for i, f := range families {
		places = append(places, f.Locations...)
		chosen[i] = shownFamily{make([]sample.Record, len(f.Locations)), f.More}
		for j := range f.Locations {
			to = append(to, &chosen[i].samples[j])
		}
	}
	gate := sample.NewGate()
	free := sync.Pool{New: func() any {
		return &sample.Describer{Set: c, Budget: budget / len(places), Thumbnails: sample.Thumbnails{Codec: o.Codec, Gate: gate}}
	}}
	err := c.Fetch(ctx, places, o.Workers, func(i int, record []byte, err error) {
		d := free.Get().(*sample.Describer)
		defer free.Put(d)
		*to[i] = d.Describe(places[i], record, err)
	})
	if err == nil {
		err = ctx.Err()
	}
	return chosen, err
}
