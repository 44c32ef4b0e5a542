package repair

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/tfrecord"
)

// indexDraft is the index of a file that is being read or written. It is compared with the existing
// index.
type indexDraft struct {
	temp    *os.File // destination; nil to only compare
	inPlace *compare.File
	out     *bufio.Writer
	line    []byte
}

// draftIndex begins the index for path. The caller closes it and remains the owner of temp.
func draftIndex(ctx context.Context, path string, temp *os.File) (*indexDraft, error) {
	same, err := compare.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	var to io.Writer = same
	if temp != nil {
		to = io.MultiWriter(same, osfile.NewFile(ctx, temp))
	}
	return &indexDraft{temp: temp, inPlace: same, out: bufio.NewWriterSize(to, 64<<10)}, nil
}

// add adds a record; size includes framing.
func (x *indexDraft) add(offset, size int64) error {
	x.line = tfrecord.AppendIndex(x.line[:0], tfrecord.IndexEntry{Offset: offset, Size: size})
	_, err := x.out.Write(x.line)
	return err
}

// finish returns the status of the existing index: IndexCurrent, IndexMissing or IndexWrong.
func (x *indexDraft) finish() (IndexStatus, error) {
	if err := x.out.Flush(); err != nil {
		return "", err
	}
	same, err := x.inPlace.Equal()
	switch {
	case err != nil:
		return "", err
	case x.inPlace.Missing():
		return IndexMissing, nil
	case !same:
		return IndexWrong, nil
	}
	return IndexCurrent, nil
}

func (x *indexDraft) close() { x.inPlace.Close() }
