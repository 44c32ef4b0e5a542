package images

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
)

// keypointNumbers is the number of values of a keypoint: x, y and visibility.
const keypointNumbers = 3

// readKeypoints parses and checks the keypoints of the objects of a record.
func (d *imageDecoder) readKeypoints() error {
	k, want := &d.keypoints, d.spec.Objects.Keypoints
	if err := k.Parse(d.features, d.objects.Len()); err != nil {
		return err
	}
	if d.objects.Len() > 0 && k.Count != want {
		return fmt.Errorf("feature %q: %d values for each box: want %d, the Keypoints of the ObjectSpec", objects.KeyKeypointX, k.Count, want)
	}
	for i, v := range k.Visibility {
		if err := objects.CheckKeypoint(k.X[i], k.Y[i], v); err != nil {
			return fmt.Errorf("keypoint %d of object %d: %w", i%want, i/want, err)
		}
	}
	return nil
}

// appendKeypoints appends the keypoints of object i where they are in the image of the batch, of which
// left is right if it is mirrored. Those that are not in it are not labelled. It is an error if it is
// mirrored, and it is not known which points change places.
func (d *imageDecoder) appendKeypoints(dst []float32, i int, geometry *augment.Geometry) ([]float32, error) {
	k, src, count := &d.keypoints, &d.source, d.spec.Objects.Keypoints
	from := len(dst)
	for range count * keypointNumbers {
		dst = append(dst, 0)
	}
	var flip []int
	if src.draw.Mirrors() {
		if flip = d.spec.Objects.KeypointFlip; flip == nil {
			flip = d.mirrors.Of(k.Names(i))
		}
		if flip == nil {
			return dst, errNoFlip
		}
	}
	for n := range count {
		at := i*count + n
		if k.Visibility[at] == objects.Unlabelled {
			continue
		}
		p, shown := src.draw.Point(src.point(k.X[at], k.Y[at]), src.width, src.height)
		if shown {
			p, shown = geometry.Point(p)
		}
		if !shown {
			continue
		}
		if d.spec.Objects.Relative {
			p.X, p.Y = p.X/float64(geometry.Width), p.Y/float64(geometry.Height)
		}
		to := n
		if flip != nil {
			to = flip[n]
		}
		copy(dst[from+to*keypointNumbers:], []float32{float32(p.X), float32(p.Y), float32(k.Visibility[at])})
	}
	return dst, nil
}

// errNoFlip is for keypoints in a mirrored image.
var errNoFlip = fmt.Errorf("the image is mirrored, and the names in %s do not say which keypoint is left and which is right: set KeypointFlip of the ObjectSpec", objects.KeyKeypointText)

// point returns a stored point, in shares of the image as stored, in pixels of the upright image.
func (s *imageSource) point(x, y float32) augment.Point {
	w, h := s.stored()
	share := func(v float32) float64 { return min(max(float64(v), 0), 1) }
	return augment.Point{X: share(x) * float64(w), Y: share(y) * float64(h)}.Orient(s.orientation, w, h)
}

// shapeKeypoints sets the shape of the keypoints of a number of images.
func (j *objectJoiner) shapeKeypoints(images int) {
	o := j.dst
	switch {
	case j.keypoints == 0:
	case j.most == 0:
		o.KeypointShape = append(o.KeypointShape, len(o.Labels), j.keypoints, keypointNumbers)
	default:
		o.KeypointShape = append(o.KeypointShape, images, j.most, j.keypoints, keypointNumbers)
	}
}
