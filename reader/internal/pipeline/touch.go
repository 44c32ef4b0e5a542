package pipeline

import "runtime"

// touched is the size in bytes of the part of a record that Touch covers, and cacheLine the
// distance between its reads.
const (
	touched   = 512
	cacheLine = 64
)

// Touch brings the beginning of records into the processor's cache. After a shuffle they are
// anywhere in memory: work on one after another waits for each, while these reads overlap.
func Touch(records []Record) {
	var sum byte
	for i := range records {
		data := records[i].Data
		for at := 0; at < min(len(data), touched); at += cacheLine {
			sum += data[at]
		}
	}
	runtime.KeepAlive(sum) // so that the reads are not optimised away
}
