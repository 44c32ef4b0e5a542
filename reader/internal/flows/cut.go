package flows

import (
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// portion is a run of consecutive records of one or more blocks, which it retains.
type portion struct {
	records []pipeline.Record
	blocks  []*pipeline.Block
	last    int // records of the last block that are received with it
}

// mark returns the position after the portion. The caller owns it.
func (p *portion) mark() Mark {
	b := p.blocks[len(p.blocks)-1]
	b.Retain()
	return Mark{block: b, n: p.last}
}

func (p *portion) drop() {
	for _, b := range p.blocks {
		b.Release()
	}
	clear(p.blocks)
	clear(p.records) // they may alias released buffers
	p.records, p.blocks, p.last = p.records[:0], p.blocks[:0], 0
}

// Cutter cuts the blocks of a stream into portions.
type Cutter struct {
	stream *stages.Stream
	Size   int  // records per portion
	Drop   bool // drop the last one if it is smaller
	within bool // within blocks: a portion has records of one block, and may always be smaller
	block  *pipeline.Block
	pos    int
}

// cut fills an empty portion; io.EOF if nothing is left.
func (c *Cutter) cut(p *portion) error {
	for len(p.records) < c.Size && !(c.within && len(p.records) > 0) {
		if c.block == nil {
			b, err := c.stream.NextBlock()
			if err == io.EOF && len(p.records) > 0 && !c.Drop {
				return nil // the stream returns it again
			}
			if err != nil {
				p.drop()
				return err
			}
			c.block, c.pos = b, 0
		}
		if c.stream.Run.Opts.BatchWithinEpoch && len(p.records) > 0 && p.records[0].Epoch != c.block.Records[c.pos].Epoch {
			if !c.Drop {
				return nil
			}
			p.drop()
		}
		n := min(c.Size-len(p.records), len(c.block.Records)-c.pos)
		p.records = append(p.records, c.block.Records[c.pos:c.pos+n]...)
		p.blocks = append(p.blocks, c.block)
		c.pos += n
		p.last = c.pos
		if c.pos == len(c.block.Records) {
			c.block = nil // the portion has its own reference now
		} else {
			c.block.Retain()
		}
	}
	return nil
}

func (c *Cutter) close() {
	if c.block != nil {
		c.block.Release()
		c.block = nil
	}
}

// payload is the total data size of records.
func payload(records []pipeline.Record) int64 {
	var n int64
	for i := range records {
		n += int64(len(records[i].Data))
	}
	return n
}
