package sample

import (
	"encoding/binary"
	"iter"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// Set is the images of a conversion and what is known of all of them: it says what a sample is,
// and not how it is made.
type Set struct {
	Options     *options.ImageOptions
	Origin      origin.Origin
	WebDataset  bool
	Images      []origin.Image // the last of them are annotations of no image
	Loose       int            // how many these are
	Labels      []string       // names by id, background names included
	Synsets     []string       // labels in the source, by id as labels; nil if they are the names
	Values      []int64        // of labels without names: what is stored; nil with names
	Texts       []string       // of values
	Features    []manifest.Feature
	Annotations *annotations.Union  // nil without AnnotationSpec.Files
	ObjectKeys  []string            // of their lists, besides those of all
	AllIdentity []byte              // of what annotations give all records: see identifyAll
	Masks       *origin.Tree        // nil without AnnotationSpec.Masks
	Colors      *annotations.Colors // of RGB masks; nil without a list of them
	Carried     *carried.Features   // of TFRecords; nil for other sources
	LabelMap    bool                // labels are those of objects
	Columns     walk.Columns        // of Parquet and Arrow files
	rings       []ring              // of the splits, if variants are mixed
	SplitOf     func(p int) int     // the index of an image's split
}

// writesLabels reports whether records have labels other than those carried over.
func (s *Set) writesLabels() bool {
	return !s.Options.Labels.None && (s.Carried == nil || !s.Carried.Labels)
}

// CountsLabels reports whether each record has one label, which the summary counts.
func (s *Set) CountsLabels() bool {
	return len(s.Labels) > 0 && s.Annotations == nil && !s.Options.Labels.Several() && (s.Carried == nil || !s.Carried.Labels || s.Carried.Counted)
}

// Sample is a planned record: an original image or, in an augmented set, one of its variants.
type Sample struct {
	Image int32
	Copy  int32 // 0 is the original
}

// isLoose reports whether a sample stands for an annotation of no image, and does not count.
func (s *Set) isLoose(sample Sample) bool { return int(sample.Image) >= len(s.Images)-s.Loose }

// Identity appends the identity of a sample, the same on every machine: its key, its labels, its
// row of a table and the hash of its image's content.
func (s *Set) Identity(dst []byte, sample Sample, hash string) []byte {
	p, key := &s.Images[sample.Image], s.Key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	label := p.LabelName()
	dst = binary.AppendUvarint(dst, uint64(len(label)))
	dst = append(dst, label...)
	dst = binary.AppendVarint(dst, s.labelID(p.ID))
	if s.Synsets != nil {
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
	dst = append(dst, s.AllIdentity...)
	if p.Mask() != nil && s.Colors != nil {
		dst = append(dst, s.Colors.Identity...)
	}
	if p.Annotated() != nil {
		dst = s.identifyAnnotations(dst, p.Annotated())
	}
	return append(dst, hash...)
}

// identifyLabel appends the identity of a label by its id: all that records have of it.
func (s *Set) identifyLabel(dst []byte, id int32) []byte {
	dst = binary.AppendVarint(dst, s.labelID(id))
	if len(s.Labels) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Labels[id])))
	dst = append(dst, s.Labels[id]...)
	if s.Synsets != nil {
		dst = binary.AppendUvarint(dst, uint64(len(s.Synsets[id])))
		dst = append(dst, s.Synsets[id]...)
	}
	return dst
}

// Unread replaces the content hash of an image that cannot be read. It is never saved, so the next
// run tries again.
const Unread = "unread"

// UnusedHash replaces the content hash of an image that the listing rejected. Why is not part of it:
// each run writes the ledger entry again.
func UnusedHash(b *setdir.BadSample) string { return "unused: " + b.Stage }

// Listed returns a ledger entry that relist renews.
func Listed(b *setdir.BadSample) *setdir.BadSample {
	renewed := *b
	renewed.Listed = true
	return &renewed
}

// Files yields the paths of everything that the set is made from, as the caller named it.
func (s *Set) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range s.Origin.Files(s.Images) {
			if !yield(path) {
				return
			}
		}
		for path := range s.AnnotationFiles() {
			if !yield(path) {
				return
			}
		}
		for _, file := range []string{s.Options.Labels.File, s.Options.Labels.Classes} {
			if file != "" && !yield(file) {
				return
			}
		}
	}
}
