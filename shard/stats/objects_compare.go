package stats

import (
	"math"

	"github.com/tfrec/tfrec/internal/annotation/objects"
)

// ObjectsDrift describes the differences of the objects in images. Arrays of two hold the values
// for A and B.
type ObjectsDrift struct {
	Images  [2]int64 `json:"images"`
	Objects [2]int64 `json:"objects"`
	// In is "both", or "a" or "b" if only that one has records with lists of boxes.
	In string `json:"in"`
	// Score ranges from 0 for no difference to 1, for objects that only one has: the largest of the
	// KS of PerImage, Area and Aspect, and the Distance of Classes and of Sizes.
	Score float64 `json:"score"`
	// Empty are the shares of the images without objects.
	Empty [2]float64 `json:"empty"`
	// PerImage are the numbers of objects of an image, Area the areas of boxes as shares of the
	// image's, Aspect their widths over their heights; nil if one side has none.
	PerImage *NumbersDrift `json:"per_image,omitempty"`
	Area     *NumbersDrift `json:"area,omitempty"`
	Aspect   *NumbersDrift `json:"aspect,omitempty"`
	// Sizes are the shares of small, medium and large boxes; nil if one side has none of a known
	// size.
	Sizes *SizesDrift `json:"sizes,omitempty"`
	// Classes are the shares of the classes of objects; nil if one side has no objects.
	Classes *LabelDrift `json:"classes,omitempty"`
}

// SizesDrift describes the differences between the shares of boxes by ObjectSizes. Unknown sizes do
// not count.
type SizesDrift struct {
	Small  [2]float64 `json:"small"`
	Medium [2]float64 `json:"medium"`
	Large  [2]float64 `json:"large"`
	// Distance is the total variation distance: half the sum of the differences of the shares.
	Distance float64 `json:"distance"`
}

// compareObjects compares objects; nil if neither side has any lists of boxes.
func compareObjects(a, b *Objects) *ObjectsDrift {
	if a == nil && b == nil {
		return nil
	}
	d := &ObjectsDrift{In: "both"}
	for side, o := range []*Objects{a, b} {
		if o != nil {
			d.Images[side], d.Objects[side], d.Empty[side] = o.Images, o.Objects, share(o.Empty, o.Images)
		}
	}
	switch {
	case b == nil:
		d.In, d.Score = "a", 1
		return d
	case a == nil:
		d.In, d.Score = "b", 1
		return d
	}
	d.PerImage, d.Area, d.Aspect = compareNumbers(a.PerImage, b.PerImage), compareNumbers(a.Area, b.Area), compareNumbers(a.Aspect, b.Aspect)
	for _, n := range []*NumbersDrift{d.PerImage, d.Area, d.Aspect} {
		if n != nil {
			d.Score = max(d.Score, n.KS)
		}
	}
	if d.Sizes = compareSizes(a.Sizes, b.Sizes); d.Sizes != nil {
		d.Score = max(d.Score, d.Sizes.Distance)
	}
	if a.classified() && b.classified() {
		d.Classes = &compareLabels([]LabelCounts{a.labels()}, []LabelCounts{b.labels()})[0]
		d.Score = max(d.Score, d.Classes.Distance)
	}
	return d
}

func compareSizes(a, b ObjectSizes) *SizesDrift {
	totals := [2]int64{a.Small + a.Medium + a.Large, b.Small + b.Medium + b.Large}
	if totals[0] == 0 || totals[1] == 0 {
		return nil
	}
	of := func(a, b int64) [2]float64 { return [2]float64{share(a, totals[0]), share(b, totals[1])} }
	d := &SizesDrift{Small: of(a.Small, b.Small), Medium: of(a.Medium, b.Medium), Large: of(a.Large, b.Large)}
	for _, s := range [][2]float64{d.Small, d.Medium, d.Large} {
		d.Distance += math.Abs(s[0]-s[1]) / 2
	}
	return d
}

// classified reports whether any objects have classes.
func (o *Objects) classified() bool { return len(o.Classes) > 0 || o.ClassesOmitted > 0 }

// labels returns the classes as labels, whose records are objects.
func (o *Objects) labels() LabelCounts {
	counts := LabelCounts{Key: objects.KeyLabel, Omitted: o.ClassesOmitted}
	for _, c := range o.Classes {
		counts.Counts = append(counts.Counts, Label{ID: c.ID, Name: c.Name, Records: c.Objects})
	}
	return counts
}
