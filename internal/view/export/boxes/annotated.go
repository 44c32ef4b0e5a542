package boxes

import (
	"math"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/view/export/input"
)

// annotated is an image below OUT with its objects. It is valid until the next one.
type annotated struct {
	row           *input.Row
	dir           string // of the images of its split
	name          string // below dir
	width, height int    // of the image as shown, in pixels
	shown         shown
	objects       objects.Objects // with boxes in shares of the image as shown
	classes       []int           // of the objects: indexes of objectScan.classes.list
	keypoints     objects.Keypoints
	points        []point // of an object
}

// stem is the name without its extension.
func (a *annotated) stem() string {
	stem, _ := safename.CutExtension(a.name)
	return stem
}

// annotator writes the annotations of images in a format.
type annotator interface {
	// dirs are the directories that the images of a split are below.
	dirs(split string) []string
	add(a *annotated) error
	// finish completes the files after the last image.
	finish() error
	// close closes files; without finish, they are of no use.
	close() error
}

// maxDecimals bounds the decimals of a coordinate in pixels.
const maxDecimals = 9

// pixels returns a coordinate in pixels, given as a share of a side of the image: the number with
// the fewest decimals whose share is the same float32. So what came in as 12 or 12.34 is that
// again.
func pixels(share float32, side int) (v float64, decimals int) {
	exact := float64(share) * float64(side)
	for p := 1.; decimals < maxDecimals; decimals++ {
		if v = math.Round(exact*p) / p; float32(v/float64(side)) == share {
			return v, decimals
		}
		p *= 10
	}
	return exact, maxDecimals
}

// appendDecimals appends a number with up to so many decimals.
func appendDecimals(b []byte, v float64, decimals int) []byte {
	return strconv.AppendFloat(b, v, 'f', decimals, 64)
}
