package verify

import (
	"errors"
)

// DeepOptions says how far Verify looks into the records. The zero value holds
// schema and labels to what is said of them and finds duplicates; it takes
// images for whole.
type DeepOptions struct {
	// Image decodes an image, to the last byte, and says what it is. Where
	// thumb is not nil it is filled, too. It is called by as many goroutines at a
	// time as there are workers and must not keep data. An error is damage unless
	// it wraps ErrNoPicture, ErrPictureUnsupported or ErrPictureTooLarge.
	// Default: none; nothing is decoded, and the report says so.
	Picture func(data []byte, thumb *Thumb) (PictureFacts, error)
	// Near looks for images that look alike, too; it wants Image.
	Near bool
	// NearDistance is in how many of the 256 bits of their hashes images may
	// differ to be alike, 1 to MaxNearDistance. Default: 31.
	NearDistance int
	// MaxFindings is how many duplicates, and of them how many leaks, are listed;
	// all are counted. Default: 10,000. Other findings are listed up to
	// VerifyOptions.MaxFaults for each file.
	MaxFindings int
	// Memory is how many bytes hashes of records may take before a temporary file
	// in TempDir does. Default: 64 MiB.
	Memory int64
	// TempDir is where temporary files go. Default: os.TempDir.
	TempDir string
}

// What DeepOptions.Picture says of what it did not decode.
var (
	// ErrNoPicture: the bytes are of no known format.
	ErrNoPicture = errors.New("not an image")
	// ErrPictureUnsupported: the image may be whole; its coding is not read.
	ErrPictureUnsupported = errors.New("coding not supported")
	// ErrPictureTooLarge: it announces more pixels than are decoded.
	ErrPictureTooLarge = errors.New("too many pixels")
)

// PictureFacts is what decoding an image told.
type PictureFacts struct {
	// Format is its name in small letters, such as "jpeg".
	Format string
	// Width and Height are in pixels, as stored.
	Width, Height int
	// UprightWidth and UprightHeight are those after EXIF's orientation.
	UprightWidth, UprightHeight int
	// Channels is 1 or 3, an alpha channel aside.
	Channels int
}

// ThumbSide is the side of a Thumb in pixels.
const ThumbSide = 64

// Thumb is the luminance of an image, resized to a square by averaging, row by
// row from the top.
type Thumb [ThumbSide * ThumbSide]uint8

// FindingKind says what a Finding is about.
type FindingKind string

// The kinds of findings. Those of the first group are faults, but for
// FindingUnsupported; those of the second are of many records at once and name
// the first; the third are duplicates.
const (
	FindingPicture     FindingKind = "picture"     // damaged: does not decode
	FindingNotPicture  FindingKind = "not_picture" // where images are expected
	FindingUnsupported FindingKind = "unsupported" // a coding that is not read here (a warning)
	FindingTooLarge    FindingKind = "too_large"   // announces too many pixels to be decoded
	FindingHeight      FindingKind = "height"      // declared, and not the image's; a warning where it is that of the upright image
	FindingWidth       FindingKind = "width"       // likewise
	FindingChannels    FindingKind = "channels"    // likewise
	FindingFormat      FindingKind = "format"      // likewise
	FindingSize        FindingKind = "size"        // of raw pixels, and not what height, width and channels make
	FindingLabel       FindingKind = "label"       // outside the vocabulary, or no number
	FindingLabelText   FindingKind = "label_text"  // not the name of the label beside it

	FindingSchema  FindingKind = "schema"  // a feature of another kind or length
	FindingMissing FindingKind = "missing" // a feature that records lack; a warning without a manifest
	FindingMessage FindingKind = "message" // records that hold another message than the others

	FindingDuplicate     FindingKind = "duplicate"      // the same image or record again (a warning)
	FindingConflict      FindingKind = "conflict"       // the same again, with another label (a warning)
	FindingLeak          FindingKind = "leak"           // the same in another split
	FindingVariantLeak   FindingKind = "variant_leak"   // an augmented copy of an image, which is in another split
	FindingNearDuplicate FindingKind = "near_duplicate" // looks like another (a warning)
	FindingNearLeak      FindingKind = "near_leak"      // looks like one in another split
)

// advice is what to do about each kind.
var advice = map[FindingKind]string{
	FindingPicture:       "make the set again from intact images, or drop the record (reshape.Filter)",
	FindingNotPicture:    "store an image in this feature, or drop the record (reshape.Filter)",
	FindingUnsupported:   "install libjpeg-turbo, allow arithmetic coding (CodecOptions.AllowArithmetic) if that is what it is, or store the image as a usual JPEG or PNG",
	FindingTooLarge:      "raise CodecOptions.MaxPixels if such images belong in the set",
	FindingHeight:        "write the image's own height, or leave the feature out",
	FindingWidth:         "write the image's own width, or leave the feature out",
	FindingChannels:      "write the image's own number of channels, or leave the feature out",
	FindingFormat:        "write the image's own format, or leave the feature out",
	FindingSize:          "write height, width and channels of the pixels that are stored",
	FindingLabel:         "correct the label, or add its name to the vocabulary",
	FindingLabelText:     "correct the label or its text",
	FindingSchema:        "write the feature as in the other records; a parser of fixed features fails here",
	FindingMissing:       "add the feature, or have parsers take a default",
	FindingMessage:       "keep records of one kind in a set",
	FindingDuplicate:     "drop it (reshape.Dedupe) unless it is meant to count twice",
	FindingConflict:      "choose one label, and drop the other record",
	FindingLeak:          "drop it from one of the splits (reshape.Dedupe), or results on that split mean nothing",
	FindingVariantLeak:   "split by image (reshape.Resplit with ResplitOptions.Together image/filename), or split before augmenting",
	FindingNearDuplicate: "look at both, and drop one unless both are meant",
	FindingNearLeak:      "look at both, and drop one if they show the same",
}

// Severity says whether a Finding makes a set bad.
type Severity string

// The severities.
const (
	SeverityFault   Severity = "fault"   // makes Report.OK false
	SeverityWarning Severity = "warning" // may be as it is meant
)

// Finding is something in the records that is wrong, or worth a look.
type Finding struct {
	Kind     FindingKind `json:"kind"`
	Severity Severity    `json:"severity"`
	// Path of the file, and the split that it is of where that is known.
	Path  string `json:"path"`
	Split string `json:"split,omitempty"`
	// Record is its number from 0, and Offset where its frame begins in the
	// uncompressed stream. -1 is neither known.
	Record int64 `json:"record"`
	Offset int64 `json:"offset"`
	// Key is what the record calls itself, as in image/filename, cut to 256
	// bytes; empty when it does not.
	Key string `json:"key"`
	// Feature is the key of the feature that it is about; empty when all are.
	Feature string `json:"feature,omitempty"`
	Message string `json:"message"`
	// Advice is what to do about it.
	Advice string `json:"advice"`
	// Records is how many there are like the one that is named; 1 for most.
	Records int64 `json:"records"`
	// Other is the record that this one repeats or looks like; nil for others.
	Other *FindingPlace `json:"other,omitempty"`
	// Distance is in how many of 256 bits the hashes of images that look alike
	// differ; nil for others.
	Distance *int `json:"distance,omitempty"`
}

// FindingPlace is where the other record of a duplicate lies.
type FindingPlace struct {
	Path   string `json:"path"`
	Split  string `json:"split,omitempty"`
	Record int64  `json:"record"`
	Offset int64  `json:"offset"`
	Key    string `json:"key"`
}

// DeepReport is what Verify saw in the records.
type DeepReport struct {
	// Records that were looked at: those with whole frames, or the sample of them.
	Records int64 `json:"records"`
	// Messages counts them by what they hold; "unknown" for others than Message
	// has. Of those that are neither Examples nor SequenceExamples nothing but
	// duplicates is known.
	Messages map[string]int64 `json:"messages"`
	// Images that were found, and how many of them were decoded whole.
	Pictures int64 `json:"pictures"`
	Decoded  int64 `json:"decoded"`
	// Labels that were held to a vocabulary, or to each other.
	Labels []DeepLabels `json:"labels"`
	// Duplicates counts records that repeat one before them.
	Duplicates DuplicateCounts `json:"duplicates"`
	// Near counts images that look like one before them; nil when that was not
	// asked for.
	Near *NearCounts `json:"near,omitempty"`
	// Findings in the order of the files and records.
	Findings []Finding `json:"findings"`
	// Counts is how many findings there are of each kind, and Omitted how many
	// of them are not listed.
	Counts  map[FindingKind]int64 `json:"counts"`
	Omitted int64                 `json:"omitted"`
	// NotChecked says what could not be looked at, for people.
	NotChecked []string `json:"not_checked"`

	bad      bool            // some findings, listed or not, are faults
	badFiles map[string]bool // of those that are found in all files together
}

// DeepLabels is a feature of labels, and what its values were held to.
type DeepLabels struct {
	Feature string `json:"feature"`
	// Path of the directory whose records have it.
	Path string `json:"path"`
	// Names is the size of the vocabulary; 0 when there is none.
	Names int `json:"names"`
	// From says where the vocabulary is from: "manifest.json", the name of one of
	// TFDS's files, or "records" where only texts beside the labels say what they
	// are.
	From string `json:"from"`
}

// DuplicateCounts says how often records are the same: the same image, for
// those that hold any, else the same bytes.
type DuplicateCounts struct {
	Records   int64 `json:"records"`   // that repeat one before them
	Groups    int64 `json:"groups"`    // of records that are the same
	Conflicts int64 `json:"conflicts"` // of Records, with another label
	Leaks     int64 `json:"leaks"`     // of Records, with one in another split
	// Variants are augmented copies that are the same as another of the same
	// image and split; they are in none of the others, and not listed.
	Variants int64 `json:"variants"`
}

// NearCounts says how many images look alike.
type NearCounts struct {
	// Distance is the largest that counts.
	Distance int   `json:"distance"`
	Records  int64 `json:"records"` // that look like one before them, and are not the same
	Leaks    int64 `json:"leaks"`   // of Records, with one in another split
	Variants int64 `json:"variants"`
	// Flat are images with too little in them to be told apart by a hash; they
	// are not compared.
	Flat int64 `json:"flat"`
	// Cut are images that resemble so many that not all were compared: they may
	// look like further ones. All others are compared with all that could be
	// within Distance.
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
	d.Near = d.Near && d.Picture != nil
	return &d
}
