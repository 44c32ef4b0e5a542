package pipeline

import "sync"

// blockPool keeps released blocks, with their memory, for reuse.
type blockPool struct {
	mu   sync.Mutex
	free []*Block // with a buffer
	bare []*Block // without
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
func (b *Block) strip() {
	b.Buf = nil
	if cap(b.store) > 2*BlockRecords {
		b.store = nil
	}
}

func (p *blockPool) put(b *Block) {
	if cap(b.Records) >= cap(b.store) {
		b.store = b.Records[:0]
	}
	clear(b.store[:cap(b.store)]) // they may alias the buffers of others
	clear(b.parents)
	clear(b.Faults)
	clear(b.lent)
	b.Records, b.parents, b.At, b.Faults = nil, b.parents[:0], b.At[:0], b.Faults[:0]
	b.lent, b.lender, b.Loan, b.Before = b.lent[:0], nil, nil, 0
	b.Charge(-b.Charged)
	b.Reading = false
	list := &p.free
	if b.Buf == nil || cap(b.Buf) > freeBuffer || !b.Run.Budget.keep(b.Size()) {
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
func (p *blockPool) take(list *[]*Block) (b *Block) {
	p.mu.Lock()
	if n := len(*list); n > 0 {
		b, (*list)[n-1] = (*list)[n-1], nil
		*list = (*list)[:n-1]
	}
	p.mu.Unlock()
	return b
}

// NewBlock returns an empty block with one reference, for records whose data are elsewhere.
func (r *Run) NewBlock() *Block { return r.ready(r.blocks.take(&r.blocks.bare)) }

// NewBuffer returns an empty block with one reference, for records whose data are in its buf, which
// has any length and content: SetBuf replaces it. reading marks it as read-ahead.
func (r *Run) NewBuffer(reading bool) *Block { return r.Buffer(reading, 0) }

// Buffer is NewBuffer for a caller that has already taken paid bytes from the budget.
func (r *Run) Buffer(reading bool, paid int64) *Block {
	b, kept := r.blocks.take(&r.blocks.free), int64(0)
	if b != nil {
		kept = b.Size()
	} else {
		b = r.blocks.take(&r.blocks.bare)
	}
	b = r.ready(b)
	b.Reading = reading
	b.Charged = b.Size()
	if reading {
		r.Budget.reuse(kept, b.Charged-paid, b.Charged-paid)
	} else {
		r.Budget.reuse(kept, b.Charged-paid, 0)
	}
	return b
}

func (r *Run) ready(b *Block) *Block {
	if b == nil {
		b = &Block{}
	}
	b.Run = r
	b.Records = b.store[:0]
	b.refs.Store(1)
	return b
}
