package doctor

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// table returns a report on records of 1000 bytes in a set larger than memory, on four cores, with
// speeds for one goroutine; the four of a step that has several are four times as fast. Storage
// delivers 1000 MB/s. Together, the steps are as fast as they can.
func table(change func(r *Report)) *Report {
	r := &Report{
		Paths: "set", Files: 16, Bytes: 100 << 30, Compression: "none", Memory: 8 << 30, Cores: 4, Size: 200, Shuffle: 10_000,
		SampleRecords: 1000, SampleBytes: 1_000_000, StoredPerRecord: 1000, Batch: 100, BatchSeconds: 0.001,
		Steps: []Step{
			{Name: Storage, One: 500_000, All: 1_000_000, AllMB: 1000, Workers: 16},
			{Name: Frame, One: 10_000_000, Workers: 4},
			{Name: CRC, One: 10_000_000, Workers: 4},
			{Name: Parse, One: 1_000_000, Workers: 4},
			{Name: Shuffle, One: 2_000_000, Workers: 1},
		},
	}
	change(r)
	r.complete()
	return r
}

// complete fills in what follows from the speeds of single goroutines.
func (r *Report) complete() {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Name != Storage && s.All == 0 {
			s.All = s.One * float64(s.Workers)
		}
	}
	if r.Pipeline.RecordsPerSec == 0 {
		r.Pipeline.RecordsPerSec = r.lowest(r.costs()).speed
	}
}

func (r *Report) set(name string, one float64) {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			r.Steps[i].One = one
			return
		}
	}
	r.Steps = append(r.Steps, Step{Name: name, One: one, Workers: r.Cores})
}

func TestDiagnose(t *testing.T) {
	images := func(r *Report) {
		r.ImagePixels, r.SampleBytes, r.StoredPerRecord, r.BatchSeconds = 1e6, 200_000_000, 200_000, 0.01
		r.Steps[0] = Step{Name: Storage, One: 10_000, All: 20_000, AllMB: 4000, Workers: 16}
		r.set(Decode, 500)
	}
	for name, c := range map[string]struct {
		change func(r *Report)
		bound  string
		text   []string
		advice []string // the beginning of each
	}{
		"model": {func(r *Report) { r.BatchSeconds = 1 }, Model,
			[]string{"The model bounds training: data arrive at ", "batches of 100 every 1s take 100, so data are 10000 times as fast"},
			[]string{"leave processors to the model: 1 of 4 "}},
		"model, all processors needed": {func(r *Report) {
			r.Steps, r.Bytes, r.BatchSeconds = r.Steps[:4], 1<<30, 100/2.2e6
		}, Model, []string{"1.5 times as fast as the model"}, nil},
		"model, but barely": {func(r *Report) { r.set(Parse, 30_000) }, Model,
			[]string{"1.2 times as fast as the model; the next bound is not far: parsing"},
			[]string{"store only the features", "or use more processors: some 7, now 4"}},
		"storage": {func(r *Report) { r.Steps[0].All, r.Steps[0].AllMB = 50_000, 50 }, Storage,
			[]string{"The data bound training, namely storage: data arrive at 50000 records/s; batches of 100 every 1ms take 100000, so the model waits 50% of the time"},
			[]string{"put the set on faster storage: it has to deliver 100 MB/s, and delivers 50", "compress the records"}},
		"storage, from memory": {func(r *Report) { r.Steps[0].All, r.Steps[0].AllMB, r.Bytes = 50_000, 50, 1<<30 }, Model, nil, []string{"leave processors"}},
		"storage, of images": {func(r *Report) { images(r); r.Steps[0].All, r.Steps[0].AllMB = 100, 20; r.set(Decode, 50_000) }, Storage, nil,
			[]string{"store images at the size that the model takes, which is fewer bytes: tfrec convert images set OUT --resize 200", "put the set on faster"}},
		"object store": {func(r *Report) { r.Remote, r.Bytes, r.Steps[0].All, r.Steps[0].AllMB = true, 1<<20, 50_000, 50 }, Storage, []string{"the object store"},
			[]string{"cache the records on a local disk", "compress"}},
		"decompress": {func(r *Report) { r.Compression = "gzip"; r.set(Decompress, 10_000) }, Decompress, []string{"decompression (gzip)"},
			[]string{"store the records uncompressed, which storage is fast enough for: tfrec reshard set OUT --compression none", "or use more processors"}},
		"decompress, slow storage": {func(r *Report) {
			r.Compression, r.StoredPerRecord, r.Steps[0].AllMB = "gzip", 100, 99
			r.set(Decompress, 10_000)
		}, Decompress, nil,
			[]string{"use a compression that is faster to undo: tfrec reshard set OUT --compression zstd", "or use more processors"}},
		"decompress, small": {func(r *Report) { r.Compression, r.Bytes = "zstd", 1<<30; r.set(Decompress, 10_000) }, Decompress, nil,
			[]string{"store the records uncompressed", "or cache the records in memory", "or use more"}},
		"files":   {func(r *Report) { r.Files, r.Compression = 1, "gzip"; r.set(Decompress, 50_000) }, Files, []string{"the number of files: 1 for 4 processors"}, []string{"divide the set into more files, which are read in parallel: tfrec reshard set OUT --shards 16"}},
		"frame":   {func(r *Report) { r.set(Frame, 10_000) }, Frame, []string{"finding records"}, []string{"put several samples into one record", "or use more"}},
		"crc":     {func(r *Report) { r.set(CRC, 10_000) }, CRC, []string{"checksums"}, []string{"verify the set once (tfrec verify set)", "or use more"}},
		"parse":   {func(r *Report) { r.set(Parse, 10_000) }, Parse, []string{"parsing of Examples"}, []string{"store only the features that the model takes: tfrec features select set OUT --keys", "or use more processors: some 13, now 4"}},
		"shuffle": {func(r *Report) { r.Steps[4].One = 50_000 }, Shuffle, []string{"the shuffle buffer of 10000 records"}, []string{"use the global order", "or shuffle once"}},
		"shuffle, compressed": {func(r *Report) { r.Compression = "gzip"; r.Steps[4].One = 50_000 }, Shuffle, nil,
			[]string{"store the records uncompressed (tfrec reshard set OUT --compression none), and", "or shuffle once"}},
		"decode":                 {images, Decode, []string{"decoding of images", "waits 80% of the time"}, []string{"resize once instead of in each epoch, from 1.0 to 0.04 megapixels: tfrec convert images set OUT --resize 200", "or use more processors: some 26"}},
		"decode, small":          {func(r *Report) { images(r); r.ImagePixels = 50_000 }, Decode, nil, []string{"store pixels, which need no decoding: tfrec convert images set OUT --resize 200 --encode raw (120 KB for each image, now 200)", "or use more"}},
		"decode, no other way":   {func(r *Report) { images(r); r.ImagePixels = 50_000; r.Steps[0].AllMB = 1000 }, Decode, nil, []string{"use more processors"}},
		"parse is not in images": {func(r *Report) { images(r); r.set(Parse, 10); r.BatchSeconds = 1 }, Model, nil, []string{"leave processors"}},
		"processors":             {func(r *Report) { r.set(Parse, 30_000); r.set(Frame, 30_000); r.set(CRC, 30_000) }, Processors, []string{"no single step takes half"}, []string{"use more processors: some 13"}},
		"load": {func(r *Report) {
			load := 3.0
			r.OtherLoad, r.Pipeline = &load, Pipeline{RecordsPerSec: 50_000}
		}, Load, []string{"other processes, which keep 3.0 of 4 processors busy"}, []string{"end the other processes"}},
		"load, and a bound": {func(r *Report) {
			load := 3.0
			r.OtherLoad, r.Pipeline = &load, Pipeline{RecordsPerSec: 10_000}
			r.set(Parse, 20_000)
		}, Load, []string{"waits 90% of the time; without them the bound would be parsing of Examples"},
			[]string{"end the other processes", "store only the features", "or use more processors"}},
		"reader": {func(r *Report) { r.Pipeline = Pipeline{RecordsPerSec: 50_000, Bottleneck: "storage: it waits"} }, Reader, []string{"something between the steps"}, []string{"look at the stages of the pipeline: tfrec bench set; it says: storage: it waits"}},
	} {
		r := table(c.change)
		v := Diagnose(r)
		if v.Bound != c.bound {
			t.Errorf("%s: bound %q, want %q: %s", name, v.Bound, c.bound, v.Text)
		}
		for _, text := range c.text {
			if !strings.Contains(v.Text, text) {
				t.Errorf("%s: %q; want %q in it", name, v.Text, text)
			}
		}
		if !slices.EqualFunc(v.Advice, c.advice, strings.HasPrefix) {
			t.Errorf("%s: advice\n%s\nwant\n%s", name, strings.Join(v.Advice, "\n"), strings.Join(c.advice, "\n"))
		}
		if v.Needed != float64(r.Batch)/r.BatchSeconds || v.Factor != v.Supply/v.Needed || (v.Bound == Model) != (v.Factor >= 1) {
			t.Errorf("%s: %+v", name, v)
		}
		sum := 0.0
		for _, s := range r.Steps {
			sum += s.Share
			if s.Share > 0 != r.inPipeline(s.Name) {
				t.Errorf("%s: %s has a share of %g", name, s.Name, s.Share)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the shares add up to %g", name, sum)
		}
	}
}

func TestRound(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.0123: "0.0123", 1: "1", 12.34: "12.3", 99.97: "100", 123.4: "123", 999.6: "1000", 1234: "1230", 99_999: "100000",
		1_234_567: "1.23 million", 1e9: "1000 million",
	} {
		if got := round(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}
