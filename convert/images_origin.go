package convert

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/zeebo/xxh3"
)

// origin is where the images of a source are: a directory tree, archives or TFRecords. Its listing
// has keys, sizes and labels, and everything that is planned follows from that; how an image is read
// is the origin's affair. Its methods may be called from several goroutines, except load and unload.
type origin interface {
	// place identifies the origin on this machine.
	place() string
	// source is the file that an image is in, for the ledger: the same on every machine.
	source(p *imageFile) string
	// enter advises how to convert what is in a directory of the origin instead of all.
	enter(dir string) string
	// remote reports whether reading an image waits for a network, so that images are requested
	// ahead.
	remote() bool
	// find returns an image that the listing lacks, such as one without an image's extension, or
	// the reason why it cannot be used; neither if there is none. An error means that its existence
	// is unknown.
	find(ctx context.Context, path string) (p *imageFile, reason string, err error)
	// files yields the paths of everything that the images are in, as the caller named it.
	files(images []imageFile) iter.Seq[string]
	// load prepares for reading these images, in any order. It may create temporary files.
	load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*imageFile]) error
	// unload ends what load began.
	unload() error
	// hash returns the hash of an image's content if the listing has read it; empty otherwise.
	hash(p *imageFile) string
	// read reads an image and its parts, one after another, into the capacity of buf, or into a
	// larger buffer. The input identifies what was read, without its hash; its key is empty if that
	// does not reveal a later change.
	read(ctx context.Context, p *imageFile, buf []byte) (data []byte, in setdir.Input, err error)
	// parts divides what read returned into the image and the features stored beside it.
	parts(p *imageFile, data []byte) (image []byte, rest beside)
	// endsRun reports whether an error of read has a reason other than the image itself: an I/O
	// error, a missing permission, damage of an archive. Dropping such images would silently make
	// another set.
	endsRun(err error) bool
}

// beside is what an origin has of a sample beside the image.
type beside struct {
	features []bytesFeature
	record   []byte // an encoded Example, with the image; nil for features
}

// size is how many bytes of it are stored, at most.
func (b *beside) size() (n int64) {
	for _, f := range b.features {
		n += int64(len(f.value))
	}
	return n + int64(len(b.record))
}

// bytesFeature is a feature that is a member of an archive.
type bytesFeature struct {
	key   string
	value []byte
}

// hashOf identifies an image and what is beside it in hexadecimal.
func hashOf(image []byte, rest *beside) string {
	if rest.record != nil {
		image = rest.record // it has the image
	}
	sum := xxh3.Hash128(image).Bytes()
	for _, part := range rest.features {
		sum = withPart(sum, part.key, xxh3.Hash128(part.value).Bytes())
	}
	return hex.EncodeToString(sum[:])
}

// withPart adds the hash of a part to that of an image.
func withPart(sum [16]byte, key string, part [16]byte) [16]byte {
	b := append(sum[:len(sum):len(sum)], part[:]...)
	return xxh3.Hash128(append(b, key...)).Bytes()
}

// maxInput is the maximum size of an image file: most readers would refuse a record with a larger
// one.
const maxInput = 1 << 30

// maxStored is the maximum size of a stored image: it leaves room for the other features of a
// record.
const maxStored = maxInput - 1<<20

var errSize = fmt.Errorf("larger than %d bytes", maxStored)

// withoutPath removes the path from a file error: the ledger names its source relative to the
// source directory, whatever the machine.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}
