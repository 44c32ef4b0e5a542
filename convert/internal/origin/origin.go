package origin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Origin is where the images of a source are: a directory tree, archives or TFRecords. Its listing
// has keys, sizes and labels, and everything that is planned follows from that; how an image is read
// is the origin's affair. Its methods may be called from several goroutines, except load and unload.
type Origin interface {
	// Place identifies the origin on this machine.
	Place() string
	// Source is the file that an image is in, for the ledger: the same on every machine.
	Source(p *Image) string
	// Enter returns advice on how to convert only the contents of a directory of the origin.
	Enter(dir string) string
	// Remote reports whether reading an image waits for a network, so that images are requested
	// ahead.
	Remote() bool
	// Find returns an image that is not in the listing, such as one without an image's extension, or
	// the reason why it cannot be used; neither if there is none. An error means that its existence
	// is unknown.
	Find(ctx context.Context, path string) (p *Image, reason string, err error)
	// Files yields the paths of everything that the images are in, as the caller named it.
	Files(images []Image) iter.Seq[string]
	// Load prepares for reading these images, in any order. It may create temporary files.
	Load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*Image]) error
	// Unload ends what load began.
	Unload() error
	// Hash returns the hash of an image's content if the listing has read it; empty otherwise.
	Hash(p *Image) string
	// Read reads an image and its parts, one after another, into the capacity of buf, or into a
	// larger buffer. The input identifies what was read, without its hash; its key is empty if that
	// does not reveal a later change.
	Read(ctx context.Context, p *Image, buf []byte) (data []byte, in setdir.Input, err error)
	// Parts divides the result of Read into the image and the features stored with it.
	Parts(p *Image, data []byte) (image []byte, rest Beside)
	// EndsRun reports whether an error of read has a reason other than the image itself: an I/O
	// error, a missing permission, damage of an archive. Dropping such images would silently make
	// another set.
	EndsRun(err error) bool
}

// Beside holds the data that an origin has for a sample in addition to the image.
type Beside struct {
	Features []bytesFeature
	Record   []byte // an encoded Example, with the image; nil for features
}

// Size bounds the number of bytes of it that are stored.
func (b *Beside) Size() (n int64) {
	for _, f := range b.Features {
		n += int64(len(f.Value))
	}
	return n + int64(len(b.Record))
}

// bytesFeature is a feature that is a member of an archive.
type bytesFeature struct {
	Key   string
	Value []byte
}

// HashOf returns a hash of an image and its additional data, in hexadecimal.
func HashOf(image []byte, rest *Beside) string {
	if rest.Record != nil {
		image = rest.Record // it has the image
	}
	sum := xxh3.Hash128(image).Bytes()
	for _, part := range rest.Features {
		sum = withPart(sum, part.Key, xxh3.Hash128(part.Value).Bytes())
	}
	return hex.EncodeToString(sum[:])
}

// withPart returns the hash of an image with a further part, given the hashes of both.
func withPart(sum [16]byte, key string, part [16]byte) [16]byte {
	b := append(sum[:len(sum):len(sum)], part[:]...)
	return xxh3.Hash128(append(b, key...)).Bytes()
}

// MaxName is the maximum size in bytes of a name in a record or row that becomes the key of its image.
const MaxName = 4096

// MaxInput is the maximum size of an image file: most readers do not accept a record with a larger
// one.
const MaxInput = 1 << 30

// MaxStored is the maximum size of a stored image: it leaves room for the other features of a
// record.
const MaxStored = MaxInput - 1<<20

var ErrSize = fmt.Errorf("larger than %d bytes", MaxStored)

// WithoutPath removes the path from a file error: the ledger names its source relative to the
// source directory, whatever the machine.
func WithoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}
