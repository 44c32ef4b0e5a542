package stages

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/zeebo/xxh3"
)

// Windows adds a stage that cuts records into windows of steps.
func Windows(before *pipeline.Link, spec columns.WindowSpec) *pipeline.Link {
	if spec.Stride == 0 {
		spec.Stride = spec.Length
	}
	name := fmt.Sprintf("windows(%d,%d", spec.Length, spec.Stride)
	if spec.DropRemainder {
		name += ",drop"
	}
	if spec.Flat {
		name += ",flat"
	}
	name += fmt.Sprintf(",schema=%016x)", hashOfSchema(spec.Schema))
	return before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		w, err := columns.NewWindower(spec)
		if err != nil {
			return nil, err
		}
		x := &windowStage{run: r, up: up, name: name, windower: w, counts: r.Stats(name)}
		r.Tally(&x.bad)
		return x, nil
	})
}

// hashOfSchema identifies what of a schema the windows depend on.
func hashOfSchema(s columns.Schema) uint64 {
	h := xxh3.New()
	for i := range s {
		f := &s[i]
		fmt.Fprintf(h, "%q %d %d %v %t %t\n", f.Key, f.Kind, f.Steps, f.Shape, f.Ragged, f.AllowMissing)
	}
	return h.Sum64()
}

// windowStage cuts the records of the stage before. Its own section is the number of records between
// that stage's position and the one that the first window of a block is from, the number of windows
// of this record before it, and its skip count.
type windowStage struct {
	run      *pipeline.Run
	up       pipeline.Stage
	name     string
	windower *columns.Windower
	bad      pipeline.SkipCount
	counts   *pipeline.Counters

	in     *pipeline.Block // of the stage before
	record int             // index in it of the record being cut
	given  int             // windows of it that were returned
	count  int             // windows that it has; -1: not loaded
}

func (x *windowStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.drop()
	own, before := at.Pop()
	lead, bad := int64(0), pipeline.SkipCount{}
	x.given = 0
	if at != nil {
		var ok bool
		if len(own) != 2+pipeline.TallyWords || own[0] < 0 || own[0] > pipeline.MaxLead || own[1] < 0 || own[1] > pipeline.MaxLead {
			return pipeline.ErrPosition(x.name)
		}
		if bad, ok = pipeline.TallyOf(own[2:]); !ok {
			return pipeline.ErrPosition(x.name)
		}
		lead, x.given = own[0], int(own[1])
	}
	x.run.SetTally(&x.bad, bad)
	if err := x.up.Start(ctx, epoch, before); err != nil {
		return err
	}
	return x.skipTo(lead)
}

// skipTo drops records of the stage before.
func (x *windowStage) skipTo(lead int64) error {
	for lead > 0 {
		b, err := x.up.Next()
		if err == io.EOF {
			return pipeline.ErrPosition(x.name)
		}
		if err != nil {
			return err
		}
		if n := int64(len(b.Records)); lead >= n {
			lead -= n
			b.Release()
			continue
		}
		x.in, x.record, x.count = b, int(lead), -1
		return nil
	}
	return nil
}

func (x *windowStage) drop() {
	if x.in != nil {
		x.in.Release()
		x.in = nil
	}
}

func (x *windowStage) Next() (*pipeline.Block, error) {
	for {
		if x.in == nil {
			watch := x.counts.Watch()
			b, err := x.up.Next()
			watch.Waited()
			if err != nil {
				return nil, err
			}
			x.in, x.record, x.count = b, 0, -1
		}
		b, err := x.cut()
		if err != nil {
			return nil, err
		}
		if b != nil {
			x.counts.Gave(b)
			return b, nil
		}
	}
}

// cut returns a block of windows of the current block of the stage before; nil if it has no more.
func (x *windowStage) cut() (*pipeline.Block, error) {
	watch := x.counts.Watch()
	defer watch.Busy()
	out := x.run.NewBuffer(false)
	buf := out.Buf[:0]
	var first [2]int64
	bad := x.bad.Words()
	for x.record < len(x.in.Records) && len(out.Records) < pipeline.BlockRecords && len(buf) < PortionBytes {
		r := x.in.Records[x.record]
		if x.count < 0 {
			var err error
			if x.count, err = x.windower.Load(r.Data); err != nil {
				if x.count = 0; !x.run.Passable(err) {
					err = x.run.Locate(r, err)
				} else {
					err = x.run.SkipRecord(&x.bad, r, err)
				}
			}
			if err != nil {
				out.Release()
				return nil, err
			}
		}
		if x.given >= x.count {
			x.record, x.given, x.count = x.record+1, 0, -1
			continue
		}
		if len(out.Records) == 0 {
			first, bad = [2]int64{int64(x.record), int64(x.given)}, x.bad.Words()
		}
		begin := len(buf)
		buf = x.windower.Append(buf, x.given) // if it reallocates, the windows so far alias the old buffer
		r.Data = buf[begin:len(buf):len(buf)]
		out.Records = append(out.Records, r)
		x.given++
	}
	if cap(buf) != cap(out.Buf) {
		out.SetBuf(buf)
	}
	out.At = append(out.At[:0], x.in.At...).Push(append(first[:], bad[:]...)...)
	if x.record == len(x.in.Records) {
		x.drop()
	}
	if len(out.Records) == 0 {
		out.Release()
		return nil, nil
	}
	return out, nil
}

func (x *windowStage) Stop() {
	x.drop()
	x.up.Stop()
}
