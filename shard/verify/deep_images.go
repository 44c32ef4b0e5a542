package verify

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageFeature checks the images among the values of a bytes feature of the record. features are
// the record's features; nil in a feature list.
func (l *scanner) imageFeature(f *featureTally, key []byte, value tfrecord.Feature, features *tfrecord.Features) {
	var facts ImageFacts
	seen, decoded, others := 0, 0, 0
	expected := f != nil && l.group.images[f.key]
	for data := range value.BytesList() {
		if recordscan.ImageFormat(data) == "" && !expected {
			others++
			continue
		}
		seen++
		l.images++
		l.any = true
		l.payload.Write(data)
		if got, ok := l.image(string(key), data); ok {
			facts = got
			decoded++
		}
	}
	if f != nil && seen > 0 {
		f.images++
	}
	if f != nil && others > 0 {
		f.others.add(l.at)
	}
	switch {
	case features == nil || value.Len() != 1:
	case seen == 1:
		l.seen = append(l.seen, seenImage{string(key), facts, decoded == 1})
	default:
		data, _ := value.Bytes()
		l.rawImage(string(key), data, features)
	}
}

// image decodes one image.
func (l *scanner) image(key string, data []byte) (facts ImageFacts, ok bool) {
	if l.d.o.Decode == nil {
		if recordscan.ImageFormat(data) == "" {
			l.find(FindingNotImage, SeverityFault, key, "%s that are not an image", plural.Of(len(data), "byte"))
		}
		return facts, false
	}
	var thumb *Thumb
	if l.d.alike != nil {
		thumb = &l.thumb
	}
	if facts, ok = l.decode(key, data, thumb); ok {
		l.decoded++
		if thumb != nil {
			l.hashed = append(l.hashed, hashThumb(thumb))
		}
	}
	return facts, ok
}

// decode calls Decode. An error is a finding.
func (l *scanner) decode(key string, data []byte, thumb *Thumb) (facts ImageFacts, ok bool) {
	facts, err := l.d.o.Decode(data, thumb)
	switch {
	case err == nil:
		if facts.Foreign {
			l.find(FindingUnsupported, SeverityWarning, key, "tf.io.decode_image does not open a %s of this kind", facts.Format)
		}
		return facts, true
	case errors.Is(err, ErrNotImage):
		l.find(FindingNotImage, SeverityFault, key, "%s that are not an image: %v", plural.Of(len(data), "byte"), err)
	case errors.Is(err, ErrImageTooLarge):
		l.find(FindingTooLarge, SeverityFault, key, "the image was not decoded: %v", err)
	case errors.Is(err, ErrUnsupportedImage):
		l.find(FindingUnsupported, SeverityWarning, key, "the image was not decoded: %v", err)
	default:
		l.find(FindingImage, SeverityFault, key, "the image does not decode: %v", err)
	}
	return facts, false
}

// beside returns a feature with metadata of the image in key, under the same prefix, as
// image/height for image/encoded.
func beside(features *tfrecord.Features, key, name string) (string, tfrecord.Feature, bool) {
	sibling := key[:strings.LastIndexByte(key, '/')+1] + name
	f, ok := features.Get(sibling)
	return sibling, f, ok && f.Len() == 1
}

func intBeside(features *tfrecord.Features, key string, names ...string) (sibling string, n int64, ok bool) {
	for _, name := range names {
		sibling, f, found := beside(features, key, name)
		if n, ok := f.Int64(); found && ok {
			return sibling, n, true
		}
	}
	return "", 0, false
}

// seenImage is the only image of a feature.
type seenImage struct {
	key   string
	facts ImageFacts
	whole bool // facts are known
}

// directory returns the key prefix of the features for the image.
func (p *seenImage) directory() string { return p.key[:strings.LastIndexByte(p.key, '/')+1] }

// allDeclared compares the declared properties of the images of a record with the actual ones. If
// several images share a prefix, such as an image and its mask, it is unknown which one is
// described: one of them must match.
func (l *scanner) allDeclared(features *tfrecord.Features) {
	for i := range l.seen {
		directory := l.seen[i].directory()
		same := func(p seenImage) bool { return p.directory() == directory }
		if slices.ContainsFunc(l.seen[:i], same) {
			continue
		}
		l.directory = l.directory[:0]
		whole := true
		for _, p := range l.seen[i:] {
			if same(p) {
				whole = whole && p.whole
				l.directory = append(l.directory, p.facts)
			}
		}
		if whole {
			l.declared(l.seen[i].key, l.directory, features)
		}
	}
	l.seen = l.seen[:0]
}

// declared compares the properties declared for a key with the images there.
func (l *scanner) declared(key string, images []ImageFacts, features *tfrecord.Features) {
	one := func(is func(f *ImageFacts) bool) bool {
		return slices.ContainsFunc(images, func(f ImageFacts) bool { return is(&f) })
	}
	first := &images[0]
	side := func(kind FindingKind, name string, stored, upright func(f *ImageFacts) int) {
		sibling, n, ok := intBeside(features, key, name)
		switch {
		case !ok || one(func(f *ImageFacts) bool { return n == int64(stored(f)) }):
		case one(func(f *ImageFacts) bool { return n == int64(upright(f)) }):
			l.find(kind, SeverityWarning, sibling, "%s %d is that of the upright image, which is stored with %d", name, n, stored(first))
		default:
			l.find(kind, SeverityFault, sibling, "%s %d is declared, the image's is %d", name, n, stored(first))
		}
	}
	side(FindingHeight, "height", func(f *ImageFacts) int { return f.Height }, func(f *ImageFacts) int { return f.UprightHeight })
	side(FindingWidth, "width", func(f *ImageFacts) int { return f.Width }, func(f *ImageFacts) int { return f.UprightWidth })
	// 2 and 4 count an alpha channel, or the inks of a CMYK image.
	if sibling, n, ok := intBeside(features, key, "channels", "depth"); ok && n != 2 && n != 4 && !one(func(f *ImageFacts) bool { return n == int64(f.Channels) }) {
		l.find(FindingChannels, SeverityFault, sibling, "%s declared, the image has %d", plural.Of(n, "channel"), first.Channels)
	}
	if sibling, f, ok := beside(features, key, "format"); ok {
		format, isText := f.Bytes()
		if isText && !one(func(f *ImageFacts) bool { return formatName(format) == f.Format }) {
			l.find(FindingFormat, SeverityFault, sibling, "the format %.20q is declared, the image is a %s", format, first.Format)
		}
	}
}

// formatName normalizes the name of a format as in ImageFacts.
func formatName(format []byte) string {
	name := strings.TrimPrefix(string(bytes.ToLower(format[:min(len(format), 20)])), "image/")
	switch name = strings.TrimPrefix(name, "."); name {
	case "jpg", "jpe", "jfif":
		return "jpeg"
	case "tif":
		return "tiff"
	}
	return name
}

// rawImage compares the size of raw pixels with the declared one. Only the feature that convert
// gives images, or that the manifest calls one, has pixels: texts share its prefix.
func (l *scanner) rawImage(key string, data []byte, features *tfrecord.Features) {
	if lastPart(key) != lastPart(imagekey.Encoded) && !l.group.images[key] {
		return
	}
	_, f, ok := beside(features, key, "format")
	format, _ := f.Bytes()
	if !ok || rawpixels.SampleBytes(string(format)) == 0 {
		return
	}
	l.any = true
	l.payload.Write(data)
	size, err := rawpixels.Stated(features, rawpixels.KeysFor(key))
	if errors.Is(err, rawpixels.ErrNoSize) {
		return
	}
	if err == nil {
		err = size.Check(string(format), len(data))
	}
	if err != nil {
		l.find(FindingSize, SeverityFault, key, "%v", err)
	}
}
