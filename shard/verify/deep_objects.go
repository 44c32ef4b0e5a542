package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// isDrawn reports whether a feature describes the content of an image: objects, a mask, a checksum.
func isDrawn(key string) bool {
	return strings.HasPrefix(key, objects.KeyPrefix) || key == objects.KeySegmentation || key == objects.KeySHA256
}

// isMask reports whether the values of a feature are masks, which are not images of their own.
func isMask(key string) bool { return key == objects.KeyMask || key == objects.KeySegmentation }

// drawn checks the features that describe the content of the record's image.
func (l *scanner) drawn(features *tfrecord.Features) {
	if objects.Present(features) {
		if n, err := objects.Check(features); err != nil {
			l.find(FindingObjects, SeverityFault, "", "%v", err)
		} else {
			l.boxes += int64(n)
			for _, axis := range objects.Axes {
				l.checkSides(features, axis)
			}
			l.checkKeypoints(features, n)
		}
	}
	l.masks(features, objects.KeyMask)
	l.masks(features, objects.KeySegmentation)
	l.checksum(features)
}

// boxRounding is the distance by which a side may be outside of the image: eight steps of a float32
// near 1, for writers that divide before they add.
const boxRounding = 1e-6

// checkSides checks one axis of all boxes.
func (l *scanner) checkSides(features *tfrecord.Features, axis objects.Axis) {
	low, _ := features.Get(axis.Min)
	high, _ := features.Get(axis.Max)
	l.sides = low.AppendFloats(l.sides[:0])
	var first, key string
	i, bad := 0, 0
	for end := range high.FloatList() {
		if side, problem := sideProblem(axis, l.sides[i], end); problem != "" {
			if bad++; bad == 1 {
				key, first = side, fmt.Sprintf("%s in box %d", problem, i)
			}
		}
		i++
	}
	switch {
	case bad == 1:
		l.find(FindingBox, SeverityFault, key, "%s, counted from 0", first)
	case bad > 1:
		l.find(FindingBox, SeverityFault, key, "%s, counted from 0; %d of the %d boxes are wrong", first, bad, i)
	}
	if cap(l.sides) > 1<<16 {
		l.sides = nil
	}
}

// sideProblem describes the fault of the two sides of a box on an axis, and returns the key of the
// wrong one; "" if both are right.
func sideProblem(axis objects.Axis, low, high float32) (key, problem string) {
	for i, side := range [2]float32{low, high} {
		if !(side >= -boxRounding && side <= 1+boxRounding) { // also NaN
			key = [2]string{axis.Min, axis.Max}[i]
			return key, fmt.Sprintf("%s is %v, outside of 0 to 1", lastPart(key), side)
		}
	}
	if low >= high {
		return axis.Min, fmt.Sprintf("%s %v is not below %s %v", lastPart(axis.Min), low, lastPart(axis.Max), high)
	}
	return "", ""
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// masks checks the masks in a feature: one of each object, or one of the whole image. The first that
// is wrong is a finding.
func (l *scanner) masks(features *tfrecord.Features, key string) {
	value, ok := features.Get(key)
	if !ok || value.Kind() != tfrecord.KindBytes {
		return
	}
	semantic := key == objects.KeySegmentation
	if semantic && value.Len() > 1 {
		l.find(FindingMask, SeverityFault, key, "%d masks: want one for the image", value.Len())
		return
	}
	width, height, known := l.imageSize(features)
	i := 0
	for data := range value.BytesList() {
		if semantic && len(data) == 0 {
			return // as DeepLab's tools store an image without a mask
		}
		l.maskCount++
		header, err := parseMaskHeader(data)
		switch {
		case err != nil:
		case !header.gray && !(semantic && header.palette):
			err = errMaskChannels
		case known && (header.width != width || header.height != height):
			err = fmt.Errorf("it has %dx%d pixels, the image %dx%d", header.width, header.height, width, height)
		}
		if err != nil {
			l.find(FindingMask, SeverityFault, key, "mask %d, counted from 0: %v", i, err)
			return
		}
		if l.d.o.Decode != nil {
			if _, ok := l.decode(key, data, nil); !ok {
				return
			}
		}
		i++
	}
	if format, ok := features.Get(objects.KeySegmentationFormat); semantic && i > 0 && ok {
		if name, _ := format.Bytes(); string(name) != "png" {
			l.find(FindingFormat, SeverityFault, objects.KeySegmentationFormat, "the format %.20q is declared, the mask is a png", name)
		}
	}
}

// imageSize returns the size of the stored image, or the declared one if it was not decoded.
func (l *scanner) imageSize(features *tfrecord.Features) (width, height int64, ok bool) {
	for i := range l.seen {
		if p := &l.seen[i]; p.key == imagekey.Encoded && p.whole {
			return int64(p.facts.Width), int64(p.facts.Height), true
		}
	}
	_, width, ok = intBeside(features, imagekey.Encoded, "width")
	if ok {
		_, height, ok = intBeside(features, imagekey.Encoded, "height")
	}
	return width, height, ok
}

// checksum compares the stored checksum of the image with its own.
func (l *scanner) checksum(features *tfrecord.Features) {
	said, _ := features.Get(objects.KeySHA256)
	image, _ := features.Get(imagekey.Encoded)
	want, ok := said.Bytes()
	data, stored := image.Bytes()
	if !ok || !stored || said.Len() != 1 || image.Len() != 1 {
		return
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, string(want)) {
		l.find(FindingChecksum, SeverityFault, objects.KeySHA256, "SHA-256 %.64q is declared, the image's is %s", want, got)
	}
}
