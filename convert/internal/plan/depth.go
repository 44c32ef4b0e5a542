package plan

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tfrec/tfrec/internal/account"
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

// isNarrowed reports whether an entry is of images that are stored with fewer bits a sample than they
// have.
func (l LeftOut) isNarrowed() bool { return l.Reason == string(account.Narrowed) }

// accountForDepth adds images that are stored with fewer bits a sample than they have to LeftOut,
// without names: for shards that are kept, only their number is known.
func (s *Summary) accountForDepth() {
	if s.Narrowed > 0 && !slices.ContainsFunc(s.LeftOut, LeftOut.isNarrowed) {
		s.LeftOut = append(s.LeftOut, LeftOut{string(account.Narrowed), s.Narrowed, []string{}})
	}
}

// noteDepth notes images that are stored with fewer bits a sample than they have, or without their
// alpha channel, and those that readers get with fewer bits.
func (r finishing) noteDepth(sum *Summary) {
	if i := slices.IndexFunc(sum.LeftOut, LeftOut.isNarrowed); i >= 0 {
		r.Notef("%s", sum.LeftOut[i])
	}
	if sum.AlphaDropped > 0 {
		r.Notef("alpha channel or transparent colour of %s dropped: %s composites such images", plural.Of(sum.AlphaDropped, "image"), optname.CodecOptionsBackground)
	}
	var deep int64
	for _, d := range r.done {
		deep += d.Deep
	}
	if deep > 0 && deep < sum.Records && r.uncompressed() {
		r.Notef("%d of %s have 16 bits a sample: %s describes them all as uint8, so that TFDS reads the upper 8", deep, plural.Of(sum.Records, "image"), manifest.TFDSFeaturesFile)
	}
}
