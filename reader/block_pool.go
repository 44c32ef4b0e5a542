package reader

import "sync"

// blockPool keeps released blocks, with their memory, for reuse.
type blockPool struct {
	mu   sync.Mutex
	free []*recordBlock // with a buffer
	bare []*recordBlock // without
}

// maxFree bounds how many blocks are kept, and freeBuffer the size of their buffers.
const (
	maxFree    = 1024
	freeBuffer = 16 << 20
)

// trim drops all buffers.
func (p *blockPool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.free {
		b.strip()
		p.free[i] = nil
		if len(p.bare) < maxFree {
			p.bare = append(p.bare, b)
		}
	}
	p.free = p.free[:0]
}

// strip removes the block's buffer and the backing array for large record counts.
func (b *recordBlock) strip() {
	b.buf = nil
	if cap(b.store) > 2*blockRecords {
		b.store = nil
	}
}

func (p *blockPool) put(b *recordBlock) {
	if cap(b.Records) >= cap(b.store) {
		b.store = b.Records[:0]
	}
	clear(b.store[:cap(b.store)]) // they may alias the buffers of others
	clear(b.parents)
	clear(b.faults)
	clear(b.lent)
	b.Records, b.parents, b.at, b.faults = nil, b.parents[:0], b.at[:0], b.faults[:0]
	b.lent, b.lender, b.loan, b.before = b.lent[:0], nil, nil, 0
	b.charge(-b.charged)
	b.reading = false
	list := &p.free
	if b.buf == nil || cap(b.buf) > freeBuffer || !b.run.budget.keep(b.size()) {
		list = &p.bare
		b.strip()
	}
	p.mu.Lock()
	if len(*list) < maxFree {
		*list = append(*list, b)
	}
	p.mu.Unlock()
}

// take pops a block off a list; nil if there is none.
func (p *blockPool) take(list *[]*recordBlock) (b *recordBlock) {
	p.mu.Lock()
	if n := len(*list); n > 0 {
		b, (*list)[n-1] = (*list)[n-1], nil
		*list = (*list)[:n-1]
	}
	p.mu.Unlock()
	return b
}

// newBlock returns an empty block with one reference, for records whose data are elsewhere.
func (r *run) newBlock() *recordBlock { return r.ready(r.blocks.take(&r.blocks.bare)) }

// newBuffer returns an empty block with one reference, for records whose data are in its buf, which
// has any length and content: setBuf replaces it. reading marks it as read-ahead.
func (r *run) newBuffer(reading bool) *recordBlock { return r.buffer(reading, 0) }

// buffer is newBuffer for a caller that has already taken paid bytes from the budget.
func (r *run) buffer(reading bool, paid int64) *recordBlock {
	b, kept := r.blocks.take(&r.blocks.free), int64(0)
	if b != nil {
		kept = b.size()
	} else {
		b = r.blocks.take(&r.blocks.bare)
	}
	b = r.ready(b)
	b.reading = reading
	b.charged = b.size()
	if reading {
		r.budget.reuse(kept, b.charged-paid, b.charged-paid)
	} else {
		r.budget.reuse(kept, b.charged-paid, 0)
	}
	return b
}

func (r *run) ready(b *recordBlock) *recordBlock {
	if b == nil {
		b = &recordBlock{}
	}
	b.run = r
	b.Records = b.store[:0]
	b.refs.Store(1)
	return b
}
