package stages

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/zeebo/xxh3"
)

const (
	cacheFormat  = "tfrec.reader.cache"
	cacheVersion = 1
)

// cacheHeader is the file that marks a cache on disk as complete. The fields up to Version are its
// identity.
type cacheHeader struct {
	Format        string `json:"format"`
	FormatVersion int    `json:"format_version"`
	Dataset       string `json:"dataset"` // see Set.Fingerprint
	Worker        int    `json:"worker"`
	Workers       int    `json:"workers"`
	CacheOf
	Version string `json:"version"`

	Records int64     `json:"records"`
	Bytes   int64     `json:"bytes"`  // size of the record file
	Stride  int64     `json:"stride"` // records between the Places
	Places  []int64   `json:"places"` // offsets of records 0, Stride, 2·Stride …
	Rest    cacheRest `json:"rest"`

	Sum string `json:"sum"` // hash of all other fields
}

// CacheOf describes the source of the elements in a cache.
type CacheOf struct {
	Stages []string `json:"stages"` // of the pipe, before the cache
	// Of the cache of a flow: its stages (see run.making), and the type of the elements with their
	// form as bytes.
	Making  []string `json:"making,omitempty"`
	Element string   `json:"element,omitempty"`
}

// unit returns the word for the things that the cache counts.
func (c *CacheOf) unit() string {
	if c.Element != "" {
		return "element"
	}
	return "record"
}

// hint returns advice that concerns Partial, for a cache that can be so.
func (c *CacheOf) hint(advice string) string {
	if c.Element != "" {
		return ""
	}
	return advice
}

// sum returns the expected value of Sum.
func (h cacheHeader) sum() string {
	h.Sum = ""
	return h.hash()
}

// hash is a hash of all fields.
func (h cacheHeader) hash() string {
	all, err := json.Marshal(h)
	if err != nil {
		panic(err) // cannot fail: strings and numbers
	}
	sum := xxh3.Hash128(all).Bytes()
	return hex.EncodeToString(sum[:8])
}

// id returns a hash of the identity of the cache.
func (h cacheHeader) id() string {
	return cacheHeader{
		Format: h.Format, FormatVersion: h.FormatVersion, Dataset: h.Dataset,
		Worker: h.Worker, Workers: h.Workers, CacheOf: h.CacheOf, Version: h.Version,
	}.hash()
}

// same returns an error if another header is of something else or damaged.
func (h *cacheHeader) same(other *cacheHeader) error {
	if err := h.alike(other); err != nil {
		return err
	}
	return other.check()
}

// alike returns an error if another header is of something else.
func (h *cacheHeader) alike(other *cacheHeader) error {
	what := ""
	switch {
	case other.Format != h.Format || other.FormatVersion != h.FormatVersion:
		what = fmt.Sprintf("it has the format %q, version %d", other.Format, other.FormatVersion)
	case other.Dataset != h.Dataset:
		what = fmt.Sprintf("it is of the dataset %s, this is %s", other.Dataset, h.Dataset)
	case other.Worker != h.Worker || other.Workers != h.Workers:
		what = fmt.Sprintf("it is of worker %d of %d", other.Worker, other.Workers)
	case !slices.Equal(other.Stages, h.Stages):
		what = fmt.Sprintf("its stages are %s, here they are %s", strings.Join(other.Stages, " "), strings.Join(h.Stages, " "))
	case !slices.Equal(other.Making, h.Making):
		what = fmt.Sprintf("its elements are made by %s, here by %s", strings.Join(other.Making, " "), strings.Join(h.Making, " "))
	case other.Element != h.Element:
		what = fmt.Sprintf("its elements are %s, here they are %s", other.Element, h.Element)
	case other.Version != h.Version:
		what = fmt.Sprintf("its version is %q, this is %q", other.Version, h.Version)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOtherCache, what)
}

// check validates the numbers that determine allocations and reads.
func (h *cacheHeader) check() error {
	ok := h.Records >= 0 && h.Bytes >= 0 && h.Stride > 0 && h.Rest.Skip >= 0 && h.Rest.Skip <= h.Records
	ok = ok && int64(len(h.Places)) == (h.Records+h.Stride-1)/h.Stride
	for _, at := range h.Places {
		ok = ok && at >= 0 && at < h.Bytes
	}
	// Sections, each followed by its length, as pop takes them.
	for rest := h.Rest.At; len(rest) > 0 && ok; {
		last := int64(len(rest) - 1)
		if ok = rest[last] >= 0 && rest[last] <= last; ok {
			rest = rest[:last-rest[last]]
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("it is %w: its numbers are inconsistent", errCacheDamaged)
	case h.Sum != h.sum():
		return fmt.Errorf("it is %w: its checksum does not match", errCacheDamaged)
	}
	return nil
}

// maxHeader is larger than any header, in bytes.
const maxHeader = 1 << 20

func readCacheHeader(path string) (*cacheHeader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHeader))
	if err != nil {
		return nil, err
	}
	h := new(cacheHeader)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOtherCache, err)
	}
	return h, nil
}

func (h *cacheHeader) write(dir, path string) error {
	h.Sum = h.sum()
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return atomicfile.Write(dir, path, append(data, '\n'))
}

// appendPlace appends the position of a record.
func appendPlace(dst []byte, r *pipeline.Record) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.File))
	dst = binary.AppendUvarint(dst, uint64(r.Number))
	dst = binary.AppendUvarint(dst, uint64(r.Offset))
	dst = binary.AppendUvarint(dst, uint64(uint32(r.Epoch)))
	if r.Pad {
		return append(dst, 1)
	}
	return append(dst, 0)
}

var errPlace = errors.New("a record without its position")

// cutPlace removes what appendPlace appended. files is the number of files.
func cutPlace(p []byte, files int) (pipeline.Record, []byte, error) {
	var v [4]uint64
	for i := range v {
		n := 0
		if v[i], n = binary.Uvarint(p); n <= 0 {
			return pipeline.Record{}, nil, errPlace
		}
		p = p[n:]
	}
	if len(p) == 0 || p[0] > 1 || v[0] >= uint64(files) {
		return pipeline.Record{}, nil, errPlace
	}
	return pipeline.Record{File: int32(v[0]), Number: int64(v[1]), Offset: int64(v[2]), Epoch: int32(v[3]), Pad: p[0] == 1}, p[1:], nil
}
