package doctor

import "github.com/tfrec/tfrec/reader"

// damage counts damaged records, each once however often it is met. reader calls add one call at a
// time, and measurements follow each other.
type damage struct {
	seen  map[location]bool
	count int64
	first []string
}

type location struct {
	path   string
	record int64
}

// Limits of damage: of what it remembers, so that much of it costs no memory, and of what it
// describes.
const (
	mostSeen  = 1 << 16
	mostFirst = 5
)

func (d *damage) add(s reader.Skipped) {
	at := location{s.Path, s.Record}
	if d.seen[at] || len(d.seen) == mostSeen {
		return
	}
	d.seen[at] = true
	d.count += s.Records
	if len(d.first) < mostFirst {
		d.first = append(d.first, s.String())
	}
}
