package plan

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

// describeDepth makes the image of the records one of 16 bits a sample if all of them are.
func describeDepth(m *manifest.Manifest) {
	var records, deep int64
	for _, split := range m.Splits {
		records += split.Records
		for _, s := range split.Shards {
			deep += s.Deep
		}
	}
	if deep == 0 || deep < records {
		return
	}
	var rename map[string]string
	_ = json.Unmarshal(m.Options["rename"], &rename) // our own encoding
	m.Features = slices.Clone(m.Features)
	for i := range m.Features {
		if f := &m.Features[i]; f.Key == cmp.Or(rename[imagekey.Encoded], imagekey.Encoded) {
			f.DType, f.Encoding = "uint16", "png"
		}
	}
}

// noteDepth notes images that are stored with fewer bits a sample than they have, and those that
// readers get with fewer.
func (r finishing) noteDepth(sum *Summary) {
	if sum.Narrowed > 0 {
		r.Notef("samples of more than 8 bits reduced to 8 in %s: %s keep, without options that change pixels, stores 16", plural.Of(sum.Narrowed, "image"), optname.EncodeSpecFormat)
	}
	var deep int64
	for _, d := range r.done {
		deep += d.Deep
	}
	if deep > 0 && deep < sum.Records && r.uncompressed() {
		r.Notef("%d of %s have 16 bits a sample: %s describes them all as uint8, so that TFDS reads the upper 8", deep, plural.Of(sum.Records, "image"), manifest.TFDSFeaturesFile)
	}
}
