package records

import (
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// borrow returns the next block as read does, of records in memory that the file has read ahead, and
// does not copy them. If it has none there, or not all of a frame, it returns nil and the number of
// bytes to read.
func (p *plainFile) borrow(watch *pipeline.Stopwatch) (b *pipeline.Block, want int, err error) {
	want = max(p.want, p.chunk)
	p.lent = false
	if p.lender == nil {
		return nil, want, nil
	}
	if !p.in.readers.Enter(p.in.ctx) {
		return nil, 0, p.in.ctx.Err()
	}
	watch.Blocked()
	loan, err := p.lender.Borrow(p.at.Offset, int(min(int64(want), p.end.Offset-p.at.Offset)))
	p.in.readers.Leave()
	watch.Waited()
	if err != nil {
		return nil, 0, &tfrecord.Error{Name: p.name, Record: p.at.Number, Offset: p.at.Offset, Part: tfrecord.PartData, Err: err}
	}
	if loan == nil {
		return nil, want, nil
	}
	p.lent = true
	if p.next != nil { // the loan begins with the same bytes
		p.next.Release()
		p.next, p.have = nil, 0
	}
	if b, err = p.in.borrowed(loan); err != nil {
		return nil, 0, err
	}
	if !p.run.Acquire(p.in.ctx) {
		b.Release()
		return nil, 0, p.in.ctx.Err()
	}
	watch.Blocked()
	pos, need, err := p.parse(b, loan.Data, false)
	p.run.Release()
	watch.Busy()
	if len(b.Records)+len(b.Faults) > 0 { // an error is found again
		loan.Keep(min(pos, len(loan.Data)))
		p.want = min(8*p.frame, p.most)
		b.End = p.at
		return b, 0, nil
	}
	b.Release()
	return nil, need, err
}
