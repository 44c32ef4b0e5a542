package verify

import (
	"errors"

	"github.com/tfrec/tfrec/internal/optname"
)

// DeepOptions configures how Files checks the content of records. The zero value checks schema and
// labels, and finds duplicates; it does not decode images.
type DeepOptions struct {
	// Decode decodes an image completely and returns its properties. If thumb is not nil it is
	// filled too. Decode is called by as many goroutines concurrently as there are workers, and
	// must not retain data. An error is damage unless it wraps ErrNotImage, ErrUnsupportedImage
	// or ErrImageTooLarge. Default: none; images are not decoded, and the report says so.
	Decode func(data []byte, thumb *Thumb) (ImageFacts, error)
	// Near also finds similar images; it requires Decode.
	Near bool
	// NearDistance is the maximum number of bits, out of 256, in which the hashes of similar images
	// differ, 1 to MaxNearDistance. Default: 31.
	NearDistance int
	// MaxFindings is the maximum number of duplicates to list, separately for leaks and others; all
	// are counted. Default: 10,000. The limit for other findings is Options.MaxFaults per
	// file.
	MaxFindings int
	// Memory is the number of bytes for hashes of records before they go to a temporary file in
	// TempDir. Default: 64 MiB.
	Memory int64
	// TempDir is the directory for temporary files. Default: os.TempDir.
	TempDir string
}

// Errors of DeepOptions.Decode for an image that it did not decode.
var (
	// ErrNotImage means that the bytes are not in a known format.
	ErrNotImage = errors.New("not an image")
	// ErrUnsupportedImage means that the image may be intact, but its coding is not supported.
	ErrUnsupportedImage = errors.New("coding not supported")
	// ErrImageTooLarge means that the header has more pixels than are decoded.
	ErrImageTooLarge = errors.New("too many pixels")
)

// ImageFacts has the properties of a decoded image.
type ImageFacts struct {
	// Format is its name in lower case, such as "jpeg".
	Format string
	// Width and Height are in pixels, as stored.
	Width, Height int
	// UprightWidth and UprightHeight are those after applying EXIF's orientation.
	UprightWidth, UprightHeight int
	// Channels is 1 or 3, not counting an alpha channel.
	Channels int
	// Foreign is true if tf.io.decode_image does not open images of this kind.
	Foreign bool
}

// ThumbSide is the side length of a Thumb in pixels.
const ThumbSide = 64

// Thumb is the luminance of an image, resized to a square by averaging, in rows from the top.
type Thumb [ThumbSide * ThumbSide]uint8

// FindingKind is the kind of a Finding.
type FindingKind string

// The kinds of findings. The first two groups are faults of images, labels and objects, except
// where noted. The third group covers many records and names the first one. The last group has
// duplicates.
const (
	FindingImage       FindingKind = "picture"     // damaged: cannot be decoded
	FindingNotImage    FindingKind = "not_picture" // not an image where one is expected
	FindingUnsupported FindingKind = "unsupported" // unsupported coding, here or by TensorFlow (a warning)
	FindingTooLarge    FindingKind = "too_large"   // too many pixels to be decoded
	FindingHeight      FindingKind = "height"      // declared height differs from the image's; a warning if it matches the upright image
	FindingWidth       FindingKind = "width"       // likewise
	FindingChannels    FindingKind = "channels"    // likewise
	FindingFormat      FindingKind = "format"      // likewise
	FindingSize        FindingKind = "size"        // of raw pixels: differs from height, width and channels
	FindingLabel       FindingKind = "label"       // outside the vocabulary, or not a number
	FindingLabelText   FindingKind = "label_text"  // not the name of the label

	FindingObjects  FindingKind = "objects"  // lists of objects of unequal length, or of another kind
	FindingBox      FindingKind = "box"      // not finite, outside of the image, or empty
	FindingKeypoint FindingKind = "keypoint" // visibility or place of a point; a warning for a wrong number of labelled ones
	FindingMask     FindingKind = "mask"     // not a PNG of one channel and of the image's size
	FindingChecksum FindingKind = "sha256"   // declared SHA-256 differs from the image's

	FindingSchema  FindingKind = "schema"  // a feature of another kind or length
	FindingMissing FindingKind = "missing" // a feature is not in all records; a warning without a manifest
	FindingMessage FindingKind = "message" // records with another message type than the others

	FindingDuplicate     FindingKind = "duplicate"      // a repeated image or record (a warning)
	FindingConflict      FindingKind = "conflict"       // a repeated one with another label (a warning)
	FindingLeak          FindingKind = "leak"           // a repeated one in another split
	FindingVariantLeak   FindingKind = "variant_leak"   // an augmented copy of an image in another split
	FindingNearDuplicate FindingKind = "near_duplicate" // similar to another one (a warning)
	FindingNearLeak      FindingKind = "near_leak"      // similar to one in another split
)

// advice has the remedy for each kind.
var advice = map[FindingKind]optname.Text{
	FindingImage:         optname.Textf("make the set again from intact images, or drop the record (%s)", optname.ReshapeFilter),
	FindingNotImage:      optname.Textf("store an image in this feature, or drop the record (%s)", optname.ReshapeFilter),
	FindingUnsupported:   optname.Textf("install libjpeg-turbo, allow arithmetic coding (%s) if that is what it is, or store the image as a usual JPEG or PNG", optname.CodecOptionsAllowArithmetic),
	FindingTooLarge:      optname.Textf("raise %s if such images belong in the set", optname.CodecOptionsMaxPixels),
	FindingHeight:        optname.Textf("write the image's own height, or leave the feature out"),
	FindingWidth:         optname.Textf("write the image's own width, or leave the feature out"),
	FindingChannels:      optname.Textf("write the image's own number of channels, or leave the feature out"),
	FindingFormat:        optname.Textf("write the image's own format, or leave the feature out"),
	FindingSize:          optname.Textf("write height, width and channels of the pixels that are stored"),
	FindingLabel:         optname.Textf("correct the label, or add its name to the vocabulary"),
	FindingLabelText:     optname.Textf("correct the label or its text"),
	FindingObjects:       optname.Textf("write one value for each box into every list of objects, or leave the list out"),
	FindingBox:           optname.Textf("write sides as shares of the stored image's width and height, clipped to 0 to 1, and leave out empty boxes"),
	FindingKeypoint:      optname.Textf("write points as shares of the stored image's width and height, with visibility 0 for those outside of it, and the number of the others for each object"),
	FindingMask:          optname.Textf("write a grayscale PNG of the size of the stored image"),
	FindingChecksum:      optname.Textf("write the SHA-256 of the stored image, or leave the feature out"),
	FindingSchema:        optname.Textf("write the feature as in the other records; a parser of fixed features fails here"),
	FindingMissing:       optname.Textf("add the feature, or have parsers take a default"),
	FindingMessage:       optname.Textf("keep records of one kind in a set"),
	FindingDuplicate:     optname.Textf("drop it (%s) unless it is meant to count twice", optname.ReshapeDedupe),
	FindingConflict:      optname.Textf("choose one label, and drop the other record"),
	FindingLeak:          optname.Textf("drop it from one of the splits (%s), or results on that split mean nothing", optname.ReshapeDedupe),
	FindingVariantLeak:   optname.Textf("split by image (%s image/filename), or split before augmenting", optname.ReshapeResplit.With(optname.ResplitOptionsTogether)),
	FindingNearDuplicate: optname.Textf("look at both, and drop one unless both are meant"),
	FindingNearLeak:      optname.Textf("look at both, and drop one if they show the same"),
}

// Severity determines whether a Finding makes a set bad.
type Severity string

// The severities.
const (
	SeverityFault   Severity = "fault"   // makes Report.OK false
	SeverityWarning Severity = "warning" // may be intended
)

// Finding is something in the records that is wrong or suspicious.
type Finding struct {
	Kind     FindingKind `json:"kind"`
	Severity Severity    `json:"severity"`
	Location
	// Feature is the key of the feature concerned; empty if it is the whole record.
	Feature string `json:"feature,omitempty"`
	Message string `json:"message"`
	// Advice is a remedy.
	Advice string `json:"advice"`
	// Records is the number of records with the same finding; mostly 1.
	Records int64 `json:"records"`
	// Other is the record that this one repeats or resembles; nil for other kinds.
	Other *Location `json:"other,omitempty"`
	// Distance is the number of bits, out of 256, in which the hashes of similar images differ; nil
	// for other kinds.
	Distance *int `json:"distance,omitempty"`
}

// Location identifies the record of a Finding.
type Location struct {
	// Path of the file, and its split if known.
	Path  string `json:"path"`
	Split string `json:"split,omitempty"`
	// Record is the record number from 0, and Offset where its frame begins in the uncompressed
	// stream; both are -1 if unknown.
	Record int64 `json:"record"`
	Offset int64 `json:"offset"`
	// Key is the record's own identifier, such as image/filename, cut to 256 bytes; empty if it has
	// none.
	Key string `json:"key"`
}

// DeepReport is the result of checking the content of records.
type DeepReport struct {
	// Records is the number of records checked: those with intact frames, or the sample of them.
	Records int64 `json:"records"`
	// Messages counts the records by message type; "unknown" for all that message.Type does not
	// have. Records that are neither Examples nor SequenceExamples are only checked for duplicates.
	Messages map[string]int64 `json:"messages"`
	// Images is the number of images found, Decoded the number of them decoded completely.
	Images  int64 `json:"pictures"`
	Decoded int64 `json:"decoded"`
	// Objects is the number of boxes checked, Masks the number of masks checked, of objects and of
	// images, which are not among Images.
	Objects int64 `json:"objects,omitempty"`
	Masks   int64 `json:"masks,omitempty"`
	// Labels are the label features that were compared with a vocabulary, or among records.
	Labels []DeepLabels `json:"labels"`
	// Duplicates counts records that repeat an earlier one.
	Duplicates DuplicateCounts `json:"duplicates"`
	// Near counts images similar to an earlier one; nil if not requested.
	Near *NearCounts `json:"near,omitempty"`
	// Findings are in the order of the files and records.
	Findings []Finding `json:"findings"`
	// Counts is the number of findings per kind, Omitted the number that are not listed.
	Counts  map[FindingKind]int64 `json:"counts"`
	Omitted int64                 `json:"omitted"`
	// NotChecked has human-readable messages about what could not be checked.
	NotChecked []string `json:"not_checked"`

	bad      bool            // some findings, listed or not, are faults
	badFiles map[string]bool // files of the faults found across all files
}

// DeepLabels is a label feature and what its values were compared with.
type DeepLabels struct {
	Feature string `json:"feature"`
	// Path of the directory of the records.
	Path string `json:"path"`
	// Names is the size of the vocabulary; 0 if there is none.
	Names int `json:"names"`
	// From is the source of the vocabulary: "manifest.json", the name of one of TFDS's files, or
	// "records" if only the text feature of each record names the label.
	From string `json:"from"`
}

// DuplicateCounts counts identical records: the same images, for records that have any, else the
// same bytes.
type DuplicateCounts struct {
	Records   int64 `json:"records"`   // records that repeat an earlier one
	Groups    int64 `json:"groups"`    // groups of identical records
	Conflicts int64 `json:"conflicts"` // of Records, with another label
	Leaks     int64 `json:"leaks"`     // of Records, with one in another split
	// Variants is the number of augmented copies identical to another copy of the same image in the
	// same split; they are not in the other counts, and not listed.
	Variants int64 `json:"variants"`
}

// NearCounts counts similar images.
type NearCounts struct {
	// Distance is the maximum distance of similar images.
	Distance int   `json:"distance"`
	Records  int64 `json:"records"` // similar, but not identical, to an earlier one
	Leaks    int64 `json:"leaks"`   // of Records, with one in another split
	Variants int64 `json:"variants"`
	// Flat is the number of images with too little detail for a hash; they are not compared.
	Flat int64 `json:"flat"`
	// Cut is the number of images that were not compared with all candidates because there were too
	// many: they may be similar to further ones. All others were compared with every image that
	// could be within Distance.
	Cut int64 `json:"cut"`
}

func (o *DeepOptions) withDefaults() *DeepOptions {
	d := *o
	if d.NearDistance <= 0 {
		d.NearDistance = defaultNearDistance
	}
	d.NearDistance = min(d.NearDistance, MaxNearDistance)
	if d.MaxFindings <= 0 {
		d.MaxFindings = 10_000
	}
	if d.Memory <= 0 {
		d.Memory = 64 << 20
	}
	d.Near = d.Near && d.Decode != nil
	return &d
}
