package verify

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// checkKeypoints checks the keypoints of a record with a number of boxes. The first that is wrong is a
// finding.
func (l *scanner) checkKeypoints(features *tfrecord.Features, boxes int) {
	k := &l.keypoints
	if err := k.Parse(features, boxes); err != nil {
		l.find(FindingObjects, SeverityFault, "", "%v", err)
		return
	}
	var first, key string
	bad := 0
	for i, v := range k.Visibility {
		if at, problem := pointProblem(k.X[i], k.Y[i], v); problem != "" {
			if bad++; bad == 1 {
				key, first = at, fmt.Sprintf("%s in point %d of object %d", problem, i%k.Count, i/k.Count)
			}
		}
	}
	switch {
	case bad == 1:
		l.find(FindingKeypoint, SeverityFault, key, "%s, counted from 0", first)
	case bad > 1:
		l.find(FindingKeypoint, SeverityFault, key, "%s, counted from 0; %d of the %d points are wrong", first, bad, len(k.X))
	}
	l.checkLabelled(k)
	if cap(k.X) > 1<<16 {
		*k = objects.Keypoints{}
	}
}

// pointProblem describes the fault of a point, and returns the key of the wrong value; "" if the
// point is right.
func pointProblem(x, y float32, visibility int64) (key, problem string) {
	if visibility < objects.Unlabelled || visibility > objects.Visible {
		return objects.KeyKeypointVisibility, fmt.Sprintf("visibility is %d, not 0, 1 or 2,", visibility)
	}
	for i, v := range [2]float32{x, y} {
		if visibility != objects.Unlabelled && !(v >= -boxRounding && v <= 1+boxRounding) { // also NaN
			key = [2]string{objects.KeyKeypointX, objects.KeyKeypointY}[i]
			return key, fmt.Sprintf("%s is %v, outside of 0 to 1,", lastPart(key), v)
		}
	}
	return "", ""
}

// checkLabelled compares the numbers of labelled points with those that are stated.
func (l *scanner) checkLabelled(k *objects.Keypoints) {
	for i, stated := range k.Num {
		labelled := int64(0)
		for _, v := range k.Visibility[i*k.Count : (i+1)*k.Count] {
			if v != objects.Unlabelled {
				labelled++
			}
		}
		if stated != labelled {
			l.find(FindingKeypoint, SeverityWarning, objects.KeyKeypointNum, "%d is declared for object %d, counted from 0, of which %d points are labelled", stated, i, labelled)
			return
		}
	}
}
