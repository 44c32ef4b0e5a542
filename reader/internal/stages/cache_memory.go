package stages

import (
	"io"
	"unsafe"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// memoryCache keeps records in memory, in slices of BlockRecords records and large chunks of data,
// so that records are not allocated one by one.
type memoryCache struct {
	run   *pipeline.Run
	limit int64
	whole bool
	end   cacheRest
	bytes int64
	runs  [][]pipeline.Record // of BlockRecords each, except the last
	count int64
	room  []byte // where the next record goes
	grain int    // allocation size in bytes

	at int64 // next element to read
}

const (
	leastGrain = 64 << 10
	mostGrain  = 1 << 20
)

func newMemoryCache(r *pipeline.Run, limit int64) *memoryCache {
	if limit == 0 {
		limit = defaultMemoryCache
	}
	return &memoryCache{run: r, limit: limit}
}

func (m *memoryCache) Open() (cacheContent, error) {
	m.at = 0
	return cacheContent{whole: m.whole, records: m.count, fill: !m.whole}, nil
}

func (m *memoryCache) Add(records []pipeline.Record) (int, error) {
	for i, r := range records {
		size := int64(len(r.Data)) + int64(unsafe.Sizeof(r))
		if size > m.limit-m.bytes {
			return i, nil
		}
		m.bytes += size
		m.count++
		r.Data = m.keep(r.Data)
		last := len(m.runs) - 1
		if last < 0 || len(m.runs[last]) == pipeline.BlockRecords {
			m.runs = append(m.runs, make([]pipeline.Record, 0, pipeline.BlockRecords))
			last++
		}
		m.runs[last] = append(m.runs[last], r)
	}
	return len(records), nil
}

// keep copies data. Large records get their own allocation, so that little of a chunk is wasted on
// those that do not fit.
func (m *memoryCache) keep(data []byte) []byte {
	n := len(data)
	if n > mostGrain/8 {
		return append(make([]byte, 0, n), data...)
	}
	if n > cap(m.room)-len(m.room) {
		m.grain = min(max(2*m.grain, leastGrain, 8*n), mostGrain)
		m.room = make([]byte, 0, m.grain)
	}
	begin := len(m.room)
	m.room = append(m.room, data...)
	return m.room[begin:len(m.room):len(m.room)]
}

func (m *memoryCache) Finish(rest cacheRest) error {
	m.whole, m.end, m.room = true, rest, nil
	return nil
}

func (m *memoryCache) seek(n int64) error {
	m.at = n
	return nil
}

func (m *memoryCache) rest() cacheRest { return m.end }

func (m *memoryCache) Read() (*pipeline.Block, error) {
	if m.at == m.count {
		return nil, io.EOF
	}
	b := m.run.NewBlock()
	b.Records = append(b.Records, m.runs[m.at/pipeline.BlockRecords][m.at%pipeline.BlockRecords:]...)
	m.at += int64(len(b.Records))
	return b, nil
}

func (m *memoryCache) Close() {
	if !m.whole {
		*m = memoryCache{run: m.run, limit: m.limit}
	}
}

func (m *memoryCache) isCorrupt(error) bool { return false }
func (m *memoryCache) disable(error) bool   { return false }
