package doctor

import (
	"fmt"
	"math"
)

// Bounds other than the steps.
const (
	Model      = "model"      // data are ready before the model needs them
	Files      = "files"      // fewer files than processors, each read by one goroutine
	Processors = "processors" // no step takes most of the time
	Reader     = "reader"     // the steps alone are much faster than all together,
	Load       = "load"       // and other processes keep processors busy
)

// Verdict reports the bottleneck of training.
type Verdict struct {
	// Bound is the name of a step or one of the other bounds.
	Bound string `json:"bound"`
	// Needed is the speed of the model and Supply the speed at which it can get records, in records
	// per second: the speed of the pipeline, or of its slowest step where that is less. Factor is
	// Supply divided by Needed.
	Needed float64 `json:"needed_records_per_s"`
	Supply float64 `json:"supply_records_per_s"`
	Factor float64 `json:"factor"`
	// Text is one sentence, and Advice what to change, most useful first.
	Text   string   `json:"text"`
	Advice []string `json:"advice"`
}

const (
	// most of the processor time of a record, from which a step is the bound by itself.
	mostShare = 0.5
	// comfortable is the factor from which there is nothing to advise.
	comfortable = 1.5
	// unexplained is the maximum ratio of the speed of the slowest step alone to the pipeline's.
	unexplained = 2
)

// limit is the speed that something allows, in records per second.
type limit struct {
	bound string
	speed float64
}

// Diagnose sets the shares of the steps, and returns the verdict on a report.
func Diagnose(r *Report) Verdict {
	one, all := r.costs()
	v := Verdict{
		Needed: float64(r.Batch) / r.BatchSeconds,
		Supply: r.Pipeline.RecordsPerSec,
		Advice: []string{},
	}
	low := r.lowest(one, all)
	alone := low
	// The pipeline may have read files from memory, and shuffles less.
	v.Supply = min(v.Supply, low.speed)
	v.Factor = v.Supply / v.Needed
	if low.speed > unexplained*r.Pipeline.RecordsPerSec {
		low.bound = Reader
		if r.busy() {
			low.bound = Load
		}
	}
	speeds := fmt.Sprintf("data arrive at %s records/s; batches of %d every %s take %s", round(v.Supply), r.Batch, seconds(r.BatchSeconds), round(v.Needed))
	switch {
	case v.Factor >= 1:
		v.Bound = Model
		v.Text = fmt.Sprintf("The model bounds training: %s, so data are %s times as fast as the model", speeds, factor(v.Factor))
		if v.Factor < comfortable {
			v.Text += fmt.Sprintf("; the next bound is not far: %s", boundText(low.bound, r))
			v.Advice = advise(r, low.bound, v.Needed*comfortable, one)
		} else if cores := int(math.Ceil(v.Needed * one * headroom)); cores < r.Cores {
			v.Advice = append(v.Advice, fmt.Sprintf("leave processors to the model: %d of %d are enough for the data (in reader.Options, a Parallelism of %d)", cores, r.Cores, cores))
		}
	default:
		v.Bound = low.bound
		v.Text = fmt.Sprintf("The data bound training, namely %s: %s, so the model waits %.0f%% of the time", boundText(low.bound, r), speeds, 100*(1-v.Factor))
		v.Advice = advise(r, low.bound, v.Needed, one)
		if low.bound == Load && alone.speed < v.Needed {
			v.Text += "; without them the bound would be " + boundText(alone.bound, r)
			v.Advice = append(v.Advice, advise(r, alone.bound, v.Needed, one)...)
		}
	}
	return v
}

// headroom is the number of processors to provide for each one that the data keep busy.
const headroom = 1.25

// costs sets the shares, and returns the processor time that a record takes, in seconds: on one
// core alone, and when all cores are busy.
func (r *Report) costs() (one, all float64) {
	for _, s := range r.Steps {
		if r.inPipeline(s.Name) {
			one += 1 / s.One
			all += float64(max(s.Workers, 1)) / s.All
		}
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; r.inPipeline(s.Name) {
			s.Share = 1 / s.One / one
		}
	}
	return one, all
}

// lowest returns the bound of the pipeline by what its steps do alone.
func (r *Report) lowest(one, all float64) limit {
	low := limit{Processors, float64(r.Cores) / all}
	for _, s := range r.Steps {
		if s.Share >= mostShare {
			low.bound = s.Name
		}
	}
	lower := func(bound string, speed float64) {
		if speed < low.speed {
			low = limit{bound, speed}
		}
	}
	if s, ok := r.step(Shuffle); ok {
		lower(Shuffle, s.One) // it has one goroutine
	}
	if r.Files < r.Cores { // so has each file
		var source float64
		for _, name := range []string{Decompress, Frame, CRC} {
			if s, ok := r.step(name); ok {
				source += 1 / s.One
			}
		}
		if source > 0 {
			lower(Files, float64(r.Files)/source)
		}
	}
	if s, ok := r.step(Storage); ok && !r.fitsMemory() {
		lower(Storage, s.All)
	}
	return low
}

// boundText names a bound in a sentence.
func boundText(bound string, r *Report) string {
	switch bound {
	case Storage:
		if r.Remote {
			return "the object store"
		}
		return "storage"
	case Decompress:
		return "decompression (" + r.Compression + ")"
	case Frame:
		return "finding records in the files, which are small"
	case CRC:
		return "checksums"
	case Shuffle:
		return fmt.Sprintf("the shuffle buffer of %d records, which one goroutine fills", r.Shuffle)
	case Parse:
		return "parsing of Examples"
	case Decode:
		return "decoding of images"
	case Files:
		return fmt.Sprintf("the number of files: %d for %d processors, and one goroutine reads a file", r.Files, r.Cores)
	case Load:
		return fmt.Sprintf("other processes, which keep %.1f of %d processors busy", *r.OtherLoad, r.Cores)
	case Reader:
		return "something between the steps, each of which is much faster alone"
	}
	return "processors: no single step takes half of their time"
}
