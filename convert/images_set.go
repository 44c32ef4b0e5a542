package convert

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// imageSet is the images of a conversion and what is known of all of them: it says what a sample is,
// and not how it is made.
type imageSet struct {
	o           *options.ImageOptions
	origin      origin.Origin
	webdataset  bool
	images      []origin.Image // the last of them are annotations of no image
	loose       int            // how many these are
	labels      []string       // names by id, background names included
	synsets     []string       // labels in the source, by id as labels; nil if they are the names
	values      []int64        // of labels without names: what is stored; nil with names
	texts       []string       // of values
	features    []manifest.Feature
	annotations *origin.Annotations // nil without AnnotationSpec.Files
	objectKeys  []string            // of their lists, besides those of all
	allIdentity []byte              // of what annotations give all records: see identifyAll
	masks       *origin.Tree        // nil without AnnotationSpec.Masks
	colors      *origin.MaskColors  // of RGB masks; nil without a list of them
	carried     *origin.Carried     // of TFRecords; nil for other sources
	labelMap    bool                // labels are those of objects
	columns     origin.Columns      // of Parquet and Arrow files
	rings       []ring              // of the splits, if variants are mixed
	splitOf     func(p int) int     // the index of an image's split
}

// writesLabels reports whether records have labels other than those carried over.
func (s *imageSet) writesLabels() bool {
	return !s.o.Labels.None && (s.carried == nil || !s.carried.Labels)
}

// countsLabels reports whether each record has one label, which the summary counts.
func (s *imageSet) countsLabels() bool {
	return len(s.labels) > 0 && s.annotations == nil && !s.o.Labels.Several() && (s.carried == nil || !s.carried.Labels || s.carried.Counted)
}

// sample is a planned record: an original image or, in an augmented set, one of its variants.
type sample struct {
	image int32
	copy  int32 // 0 is the original
}

// isLoose reports whether a sample stands for an annotation of no image, and does not count.
func (s *imageSet) isLoose(sample sample) bool { return int(sample.image) >= len(s.images)-s.loose }

// identity appends the identity of a sample, the same on every machine: its key, its labels, its
// row of a table and the hash of its image's content.
func (s *imageSet) identity(dst []byte, sample sample, hash string) []byte {
	p, key := &s.images[sample.image], s.key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	label := p.LabelName()
	dst = binary.AppendUvarint(dst, uint64(len(label)))
	dst = append(dst, label...)
	dst = binary.AppendVarint(dst, s.labelID(p.ID))
	if s.synsets != nil {
		dst = s.identifyLabel(dst, p.ID)
	}
	if row := p.Row(); row != nil {
		dst = binary.AppendUvarint(dst, uint64(len(row.Labels)))
		for _, id := range row.Labels {
			dst = s.identifyLabel(dst, id)
		}
		dst = binary.AppendUvarint(dst, uint64(len(row.Features)))
		dst = append(dst, row.Features...)
	}
	dst = append(dst, s.allIdentity...)
	if p.Mask() != nil && s.colors != nil {
		dst = append(dst, s.colors.Identity...)
	}
	if p.Annotated() != nil {
		dst = s.identifyAnnotations(dst, p.Annotated())
	}
	return append(dst, hash...)
}

// identifyLabel appends the identity of a label by its id: all that records have of it.
func (s *imageSet) identifyLabel(dst []byte, id int32) []byte {
	dst = binary.AppendVarint(dst, s.labelID(id))
	if len(s.labels) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.labels[id])))
	dst = append(dst, s.labels[id]...)
	if s.synsets != nil {
		dst = binary.AppendUvarint(dst, uint64(len(s.synsets[id])))
		dst = append(dst, s.synsets[id]...)
	}
	return dst
}

// unread replaces the content hash of an image that cannot be read. It is never saved, so the next
// run tries again.
const unread = "unread"

// unusedHash replaces the content hash of an image that the listing rejected. Why is not part of it:
// each run writes the ledger entry again.
func unusedHash(b *setdir.BadSample) string { return "unused: " + b.Stage }

// listed returns a ledger entry that relist renews.
func listed(b *setdir.BadSample) *setdir.BadSample {
	renewed := *b
	renewed.Listed = true
	return &renewed
}
