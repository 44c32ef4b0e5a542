package doctor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// advise returns what to change so that needed records per second arrive. Each line holds only if
// the figures say so. one is the processor time of a record in seconds.
func advise(r *Report, bound string, needed, one float64) (lines []string) {
	// Verbs and options are for SET, a placeholder for the paths.
	add := func(format string, args ...any) {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "SET", r.Paths))
	}
	storage, _ := r.step(Storage)
	// stored reports whether storage can deliver records of this many bytes fast enough.
	stored := func(bytes float64) bool { return r.fitsMemory() || storage.AllMB*1e6 >= needed*bytes }
	record := r.recordBytes()
	side := float64(r.Size)
	shrinks := r.ImagePixels >= larger*side*side
	switch bound {
	case Storage:
		if shrinks {
			add("store images at the size that the model takes, which is fewer bytes: tfrec convert images SET OUT --resize %d", r.Size)
		}
		if r.Remote {
			add("cache the records on a local disk (reader: Flow.Cache with a Dir), or copy the set there")
		} else {
			add("put the set on faster storage: it has to deliver %s MB/s, and delivers %s", round(needed*r.StoredPerRecord/1e6), round(storage.AllMB))
		}
		if r.Compression == "none" && r.ImagePixels == 0 && float64(r.Cores)/one > 2*needed {
			add("compress the records, for which processors have time: tfrec reshard SET OUT --compression zstd (gzip for TensorFlow)")
		}
	case Decompress:
		if stored(record) {
			add("store the records uncompressed, which storage is fast enough for: tfrec reshard SET OUT --compression none")
		} else if r.Compression != "zstd" {
			add("use a compression that is faster to undo: tfrec reshard SET OUT --compression zstd (TensorFlow does not read it)")
		}
		if r.cacheable() {
			add("or cache the records in memory, for which there is room (reader: Flow.Cache)")
		}
	case Frame:
		add("put several samples into one record: each has %s bytes", round(record))
	case CRC:
		add("verify the set once (tfrec verify SET), and only lengths in training (in reader.Options, a Checksum of tfrecord.ChecksumLength)")
	case Parse:
		add("store only the features that the model takes: tfrec features select SET OUT --keys KEY,...")
	case Decode:
		if shrinks {
			add("resize once instead of in each epoch, from %.1f to %.2f megapixels: tfrec convert images SET OUT --resize %d", r.ImagePixels/1e6, side*side/1e6, r.Size)
		} else if raw := 3 * side * side; stored(raw) {
			add("store pixels, which need no decoding: tfrec convert images SET OUT --resize %d --encode raw (%s KB for each image, now %s)", r.Size, round(raw/1e3), round(record/1e3))
		}
	case Shuffle:
		if r.Compression == "none" {
			add("use the global order, which needs no buffer (reader: Set.ShuffleAll; tfrec cat --shuffle global)")
		} else {
			add("store the records uncompressed (tfrec reshard SET OUT --compression none), and use the global order, which needs no buffer (reader: Set.ShuffleAll)")
		}
		add("or shuffle once (tfrec reshard SET OUT --shuffle) and use a smaller buffer than %d records", r.Shuffle)
	case Files:
		add("divide the set into more files, which are read in parallel: tfrec reshard SET OUT --shards %d", r.shards())
	case Load:
		add("end the other processes, or measure again on an idle machine")
	case Reader:
		add("look at the stages of the pipeline: tfrec bench SET; it says: %s", r.Pipeline.Bottleneck)
	}
	switch bound {
	case Decompress, Frame, CRC, Parse, Decode, Processors:
		if cores := math.Ceil(needed * one * headroom); cores > float64(r.Cores) {
			add("or use more processors: some %.0f, now %d", cores, r.Cores)
		}
	}
	if len(lines) > 0 {
		lines[0] = strings.TrimPrefix(lines[0], "or ")
	}
	return lines
}

// larger is the minimum ratio of an image's pixels to the wanted ones for resizing in advance to be
// worthwhile.
const larger = 1.5

// shards returns the number of files with which all processors can read until the end.
func (r *Report) shards() int { return max(16, 2*r.Cores) }

// round formats a figure with three significant digits.
func round(x float64) string {
	switch {
	case x <= 0:
		return "0"
	case x >= 1e6:
		return round(x/1e6) + " million"
	}
	digits := 2 - int(math.Floor(math.Log10(x)))
	if digits <= 0 {
		scale := math.Pow10(-digits)
		return strconv.FormatFloat(math.Round(x/scale)*scale, 'f', 0, 64)
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', digits, 64), "0"), ".")
}

// factor formats how many times as fast.
func factor(x float64) string {
	if x < 10 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return round(x)
}

// seconds formats a duration.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond).String()
}
