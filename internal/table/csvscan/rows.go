package csvscan

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Rows reads the table once and yields its rows in order, bad ones too. The
// Tokenizer is at the row and is valid until the next turn. The last pair has an
// error and no Tokenizer where the input can't be read or decompressed, has a quote
// that is never closed, or a row that is too long.
func (s *Source) Rows(ctx context.Context) iter.Seq2[*Tokenizer, error] {
	return func(yield func(*Tokenizer, error) bool) {
		line := s.startLine
		err := s.eachRow(ctx, &line, func(t *Tokenizer) bool { return yield(t, nil) })
		switch {
		case err == nil || err == io.EOF:
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		default:
			yield(nil, s.located(err, line-1))
		}
	}
}

// eachRow calls yield with each row until it returns false; line is where the
// chunk being read begins.
func (s *Source) eachRow(ctx context.Context, line *int64, yield func(*Tokenizer) bool) error {
	in, err := s.Stream(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, s.start); err != nil {
		return errors.Join(ErrChanged, err)
	}
	c := &chunker{r: in, delim: s.dialect.Delimiter, size: ChunkSize, maxRow: s.maxRow, offset: s.start}
	t := NewTokenizer(s.dialect, len(s.header))
	var data []byte
	for {
		if data, _, err = c.next(data); err != nil {
			return err
		}
		for t.Reset(data, *line); t.Next(); {
			if !yield(t) {
				return nil
			}
		}
		*line = t.Line()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
