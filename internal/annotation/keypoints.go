package annotation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Keypoint is a labelled point of an object that has a meaning, such as its left eye.
type Keypoint struct {
	// X and Y are in the units of the object's box.
	X, Y float64
	// Index is its index in [Keypoints], from 0.
	Index int16
	// Visibility is COCO's: 1 for a hidden point, and 2 for a visible one.
	Visibility int8
}

// Keypoints describes the keypoints of the objects of a set, of which all have the same ones. The
// zero value is for objects without any.
type Keypoints struct {
	// Count is the number of points of each object, at most [MaxKeypoints].
	Count int
	// Names are the names of the points; nil if they are not known.
	Names []string
	// Flip has for each point its counterpart in a mirror image, if the annotations have it; nil
	// otherwise. Flip[Flip[i]] is i.
	Flip []int
}

const (
	// MaxKeypoints is the maximum number of points of an object.
	MaxKeypoints = 1024
	// maxKeypointNames is the maximum size of the names of all points of an object, in bytes: each
	// object of a record repeats them.
	maxKeypointNames = 64 << 10
)

// Check returns an error if there are too many points, or if names are empty, occur twice or are too
// long.
func (k *Keypoints) Check() error {
	if k.Count > MaxKeypoints {
		return fmt.Errorf("%d keypoints are too many: want %d at most", k.Count, MaxKeypoints)
	}
	seen, size := make(map[string]bool, len(k.Names)), 0
	for i, name := range k.Names {
		switch size += len(name); {
		case name == "":
			return fmt.Errorf("keypoint %d, counted from 1, has no name", i+1)
		case seen[name]:
			return fmt.Errorf("two keypoints are named %s", jsonscan.Quoted([]byte(name)))
		case size > maxKeypointNames:
			return fmt.Errorf("the names of the keypoints have more than %d bytes", maxKeypointNames)
		}
		seen[name] = true
	}
	return nil
}

// Union returns the points of a set in which some objects have the points of k and others the
// points of other. Points of one name are one point; further points of other are added to the end.
// It is an error if that is ambiguous: if only one has names, or if neither has and their numbers
// differ.
func (k Keypoints) Union(other Keypoints) (Keypoints, error) {
	switch {
	case other.Count == 0:
		return k, nil
	case k.Count == 0:
		return other, nil
	case (k.Names == nil) != (other.Names == nil):
		return k, errors.New("the keypoints of one have names, and those of the other have none")
	case k.Names == nil && k.Count != other.Count:
		return k, fmt.Errorf("objects have %s without names in one, and %d in the other", plural.Of(k.Count, "keypoint"), other.Count)
	case k.Flip != nil || other.Flip != nil:
		if !slices.Equal(k.Names, other.Names) || k.Flip != nil && other.Flip != nil && !slices.Equal(k.Flip, other.Flip) {
			return k, errors.New("the names of their keypoints, or what these are in a mirror image, differ")
		}
		if k.Flip == nil {
			k.Flip = other.Flip
		}
		return k, nil
	}
	if slices.Equal(k.Names, other.Names) {
		return k, nil
	}
	known := make(map[string]bool, len(k.Names))
	for _, name := range k.Names {
		known[name] = true
	}
	k.Names = slices.Clip(k.Names)
	for _, name := range other.Names {
		if !known[name] {
			k.Names = append(k.Names, name)
		}
	}
	k.Count = len(k.Names)
	return k, k.Check()
}

// Places are the indexes of keypoints in a union; nil if they do not change.
type Places []int16

// Places returns the indexes of the points of k in a union that includes them.
func (k *Keypoints) Places(union *Keypoints) Places {
	if slices.Equal(k.Names, union.Names) {
		return nil
	}
	at := make(map[string]int16, len(union.Names))
	for i, name := range union.Names {
		at[name] = int16(i)
	}
	places := make(Places, len(k.Names))
	for i, name := range k.Names {
		places[i] = at[name]
	}
	return places
}

// Move changes the indexes of the points of an object.
func (p Places) Move(points []Keypoint) {
	if p == nil {
		return
	}
	for i := range points {
		points[i].Index = p[points[i].Index]
	}
}

// SetKeypoints gives the objects of the set the points of a union with those that they have.
func (s *Set) SetKeypoints(union Keypoints) {
	if places := s.Keypoints.Places(&union); s.Keypoints.Count > 0 && places != nil {
		for i := range s.Images {
			for j := range s.Images[i].Objects {
				places.Move(s.Images[i].Objects[j].Keypoints)
			}
		}
	}
	s.Keypoints = union
}
