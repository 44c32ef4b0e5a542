package doctor

import "slices"

// Report has the measurements and the verdict. It is the JSON of `tfrec doctor --json`.
type Report struct {
	// Paths are the measured paths, as words of a shell.
	Paths string `json:"paths"`
	// Files and Bytes are the number and stored size of the set's files.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Compression of the first file: none, gzip, zlib or zstd. Remote means an object store.
	Compression string `json:"compression"`
	Remote      bool   `json:"remote"`
	// Memory is the memory available to this process and the page cache, in bytes.
	Memory int64 `json:"memory"`
	// SampleRecords were measured, with SampleBytes of data; StoredPerRecord is the average size of
	// a record in the files, in bytes.
	SampleRecords   int64   `json:"sample_records"`
	SampleBytes     int64   `json:"sample_bytes"`
	StoredPerRecord float64 `json:"stored_bytes_per_record"`
	// ImagePixels is the mean number of pixels of an image; 0 for sets without images.
	ImagePixels float64 `json:"image_pixels"`
	// Skipped is the number of damaged records that were omitted, and Damage the first of them.
	Skipped int64    `json:"skipped"`
	Damage  []string `json:"damage,omitempty"`
	// Cores is GOMAXPROCS.
	Cores int `json:"cores"`
	// Cached is the share of the read files that the operating system already had in memory, and
	// OtherLoad the number of processors that other processes kept busy; nil: unknown.
	Cached    *float64 `json:"cached"`
	OtherLoad *float64 `json:"other_load"`
	// The model takes Batch records every BatchSeconds; Size is the side of its images.
	Batch        int     `json:"batch"`
	BatchSeconds float64 `json:"batch_s"`
	Size         int     `json:"size"`
	// Shuffle is the number of records in the shuffle buffer.
	Shuffle int     `json:"shuffle"`
	Seconds float64 `json:"seconds"` // of the measurements

	Steps    []Step   `json:"steps"`
	Pipeline Pipeline `json:"pipeline"`
	Verdict  Verdict  `json:"verdict"`
	// Notes are caveats about the figures.
	Notes []string `json:"notes,omitempty"`
}

// Names of steps, in the order in which a record passes them.
const (
	Storage    = "storage"    // bytes of the files
	Decompress = "decompress" // of compressed files
	Frame      = "frame"      // records out of bytes
	CRC        = "crc"        // checksums
	Shuffle    = "shuffle"    // a buffer
	Parse      = "parse"      // Examples to columns
	Decode     = "decode"     // JPEG or PNG to pixels of the wanted size
)

// Step is the speed of one step alone.
type Step struct {
	Name string `json:"name"`
	// One is the speed of one goroutine, and All the speed of Workers of them, in records per
	// second; a MB is a million bytes, of records or, for storage, of files.
	One     float64 `json:"records_per_s"`
	OneMB   float64 `json:"mb_per_s"`
	All     float64 `json:"all_records_per_s"`
	AllMB   float64 `json:"all_mb_per_s"`
	Workers int     `json:"workers"`
	// Share is the step's part of the processor time that the pipeline takes for a record, 0 to 1;
	// 0 for storage and for steps that are not in the pipeline.
	Share float64 `json:"share"`
}

// Pipeline is the speed of everything together.
type Pipeline struct {
	RecordsPerSec float64 `json:"records_per_s"`
	MBPerSec      float64 `json:"mb_per_s"`
	// Bottleneck is the bottleneck reported by the reader.
	Bottleneck string `json:"bottleneck"`
}

// step returns a step by name.
func (r *Report) step(name string) (Step, bool) {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return r.Steps[i], true
}

// fitsMemory reports whether the operating system can keep all files in memory, so that storage only
// matters in the first epoch.
func (r *Report) fitsMemory() bool { return !r.Remote && r.Bytes <= r.Memory/2 }

// busyOthers is the share of the processors from which other processes matter.
const busyOthers = 0.15

// busy reports whether other processes slowed the measurements down.
func (r *Report) busy() bool { return r.OtherLoad != nil && *r.OtherLoad > busyOthers*float64(r.Cores) }

// cacheable reports whether a cache in memory can hold all records, uncompressed.
func (r *Report) cacheable() bool {
	return r.StoredPerRecord > 0 && float64(r.Bytes)/r.StoredPerRecord*r.recordBytes() <= float64(r.Memory)/4
}

// recordBytes is the mean size of a record's data.
func (r *Report) recordBytes() float64 {
	return float64(r.SampleBytes) / float64(max(r.SampleRecords, 1))
}

// inPipeline reports whether the pipeline takes processor time for a step: images are decoded, and
// everything else is parsed.
func (r *Report) inPipeline(name string) bool {
	return name != Storage && !(name == Parse && r.ImagePixels > 0)
}
