package assign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// Chooser decides the target of each record. All input records pass through it once, before the
// first is written.
type Chooser interface {
	// Look examines a record and returns what Choose needs to know about it. It is called
	// concurrently, in any order.
	Look(r *source.Record) (digest.Hash, error)
	// Choose returns the target of the next record. It is called in order: n counts from 0 over the
	// records of all inputs. split is the record's split in the input; the result is an index into
	// the targets, or source.Drop.
	Choose(n int64, split int, m digest.Hash) (target int, err error)
}

// NumberChooser is a Chooser that needs only the record numbers: Look is never called, and the
// records are not read.
type NumberChooser interface {
	Chooser
	// Begin is called with the total number of records before the first Choose.
	Begin(total int64) error
}

// Choose runs a chooser over all records of the inputs. It returns the chosen targets, and the number of
// records and the approximate number of bytes of each target.
func Choose(ctx context.Context, in *source.Inputs, c Chooser, targets int, dir *setdir.Dir) (log *TargetLog, records, sizes []int64, err error) {
	log = &TargetLog{dir: dir, most: int(min(in.Memory/4, maxTargetLog))}
	records, sizes = make([]int64, targets), make([]int64, targets)
	put := func(n int64, split int, m digest.Hash) (int, error) {
		t, err := c.Choose(n, split, m)
		if err != nil {
			return source.Drop, err
		}
		if t != source.Drop {
			records[t]++
		}
		return t, log.add(t)
	}
	if by, ok := c.(NumberChooser); ok {
		if err := by.Begin(in.Records()); err != nil {
			return log, nil, nil, err
		}
		for _, f := range in.Files {
			for i := range f.Records {
				t, err := put(f.First+i, f.SplitIndex, digest.Hash{})
				if err != nil {
					return log, nil, nil, err
				}
				if t != source.Drop {
					sizes[t] += f.Size / f.Records
				}
				if i&(1<<16-1) == 0 && ctx.Err() != nil {
					return log, nil, nil, context.Cause(ctx)
				}
			}
		}
		return log, records, sizes, log.flush()
	}
	err = in.EachBlock(ctx, in.Workers, c.Look, nil, func(b *source.Block) error {
		n := b.File.First + b.First
		for i, m := range b.Marks {
			t, err := put(n+int64(i), b.File.SplitIndex, m)
			if err != nil {
				return err
			}
			if t != source.Drop {
				sizes[t] += int64(b.Sizes[i])
			}
		}
		return nil
	})
	if err == nil {
		err = log.flush()
	}
	return log, records, sizes, err
}

// TargetLog stores the target of each record in order, two bytes each: in memory up to a limit,
// beyond that in a file.
type TargetLog struct {
	dir    *setdir.Dir
	most   int // maximum bytes in memory
	memory []byte
	file   *os.File // nil if everything is in memory
	w      *bufio.Writer
	r      io.Reader
	buffer []byte
}

// maxTargetLog is the maximum number of bytes of a TargetLog kept in memory.
const maxTargetLog = 16 << 20

// MostTargets is the maximum number of targets, and droppedTarget represents source.Drop in the log.
const (
	MostTargets   = math.MaxUint16
	droppedTarget = MostTargets
)

func (l *TargetLog) add(target int) error {
	t := uint16(droppedTarget)
	if target != source.Drop {
		t = uint16(target)
	}
	if l.file == nil && len(l.memory) < l.most {
		l.memory = binary.LittleEndian.AppendUint16(l.memory, t)
		return nil
	}
	if l.file == nil {
		f, err := l.dir.TempFile("targets")
		if err != nil {
			return err
		}
		l.file, l.w = f, bufio.NewWriterSize(f, 256<<10)
	}
	var b [2]byte
	binary.LittleEndian.PutUint16(b[:], t)
	_, err := l.w.Write(b[:])
	return err
}

// flush finishes writing and rewinds the log, so that next reads it from the beginning.
func (l *TargetLog) flush() error {
	l.r = bytes.NewReader(l.memory)
	if l.file == nil {
		return nil
	}
	if err := l.w.Flush(); err != nil {
		return err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	l.r = io.MultiReader(l.r, bufio.NewReaderSize(l.file, 256<<10))
	return nil
}

// next appends the targets of the next n records to dst.
func (l *TargetLog) next(dst []int, n int64) ([]int, error) {
	for n > 0 {
		if l.buffer == nil {
			l.buffer = make([]byte, 64<<10)
		}
		part := l.buffer[:min(2*n, int64(len(l.buffer)))]
		if _, err := io.ReadFull(l.r, part); err != nil {
			return nil, fmt.Errorf("read back the assignment of records: %w", err)
		}
		for i := 0; i < len(part); i += 2 {
			t := int(binary.LittleEndian.Uint16(part[i:]))
			if t == droppedTarget {
				t = source.Drop
			}
			dst = append(dst, t)
		}
		n -= int64(len(part) / 2)
	}
	return dst, nil
}

// Close closes the file, if there is one.
func (l *TargetLog) Close() {
	if l.file != nil {
		l.file.Close() // a temporary file; it is removed with the others
	}
}

// Deal gives the blocks of the inputs, with the targets of their records set: without a log, each
// record stays in its split. each, if not nil, is called with each block before.
func (l *TargetLog) Deal(ctx context.Context, s *source.Stream, each func(*source.Block), give func(*source.Block) error) error {
	return s.Each(ctx, nil, func(b *source.Block) error {
		if l != nil {
			var err error
			if b.Targets, err = l.next(b.Targets, int64(len(b.Sizes))); err != nil {
				return err
			}
		}
		if each != nil {
			each(b)
		}
		return give(b)
	})
}
