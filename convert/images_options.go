package convert

import (
	"github.com/tfrec/tfrec/convert/internal/options"
)

// ImageOptions configure how images become records. The zero value stores the images of class
// directories unchanged. They embed Options.
//
// The source:
//   - ArchiveFormat is the meaning of the members of archives. Default: AutoFormat.
//   - ImageKey is the feature of TFRecords, or the column of Parquet and Arrow files, with the
//     image.
//   - Select chooses the files that become samples. Default: all images.
//   - Labels configures the source of labels. Default: the names of the first directories.
//   - Features are columns of a table, or keys of JSON members, that become features.
//   - Annotations configure objects and masks of the images. Default: nothing.
//
// The records:
//   - Augment makes variants of the images. Default: none.
//   - Resize is the size of stored images, with its filter and fit. Default: the size of the source
//     image.
//   - ExactPixels decodes at full size and to RGB before resizing, even where planes or a reduced
//     decode would do.
//   - Encode configures the stored form of images, and Codec their decoding.
//   - Rename maps the keys of features to other ones.
//
// The run:
//   - Memory bounds the samples in progress, in bytes. Default: a quarter of the available memory.
//   - Backend draws, resizes and normalises decoded images, with the same bytes as augment.CPU, the
//     default; BackendDecodes lets it decode common JPEGs, which makes another set.
type ImageOptions = options.ImageOptions

// SelectSpec chooses the files of a source that become samples: by globs (Include, Exclude), by
// kind and whether to detect it ByContent, by size (MinSize, MaxAspect), and whether to
// FollowSymlinks.
type SelectSpec = options.SelectSpec

// LabelSpec configures the source of the labels of images: the names of the first directories or,
// of another column or a table, File with PathColumn, Column, PathSuffix, SplitColumn and
// Separator. Classes gives the order of ids, Offset shifts them, None stores none, and Strict
// returns an error if images would be left out.
type LabelSpec = options.LabelSpec

// FeatureSpec names a value that comes with an image and becomes a feature of its record: the Name of a
// column of a table, or of a key of a JSON object, and the Type of its values.
type FeatureSpec = options.FeatureSpec

// ParseFeatures parses "NAME[:TYPE],...". Only a type may follow the last colon of a name, so that
// a column named a:b is "a:b:bytes".
func ParseFeatures(s string) ([]FeatureSpec, error) { return options.ParseFeatures(s) }

// AnnotationSpec names the files that describe the contents of images: objects with boxes and
// regions, or a class for each pixel. Records then have the features of TensorFlow's Object
// Detection API and of DeepLab.
//
//   - Files have the objects of the images, all of one Format (coco, csv, voc, yolo, kitti,
//     labelme; default: auto).
//   - InstanceMasks stores the region of each object, as a PNG of the size of the stored image.
//   - MinVisibility drops objects of which cropping leaves less than this share of their box, 0 to
//     1.
//   - DropEmpty leaves out records without objects, KeepUnannotated keeps images that Files do not
//     list.
//   - Masks is a directory with a mask for each image, and MaskFill the class of pixels outside of
//     the image. Default: 255.
type AnnotationSpec = options.AnnotationSpec

// AnnotationFile is the Path of a file of annotations, or of a directory of them, and the Split of the
// images that it annotates: all files have one, or none has.
type AnnotationFile = options.AnnotationFile

// ParseAnnotationFile parses "PATH" or "SPLIT=PATH". In a path with "=", write "./PATH".
func ParseAnnotationFile(s string) (AnnotationFile, error) { return options.ParseAnnotationFile(s) }

// AugmentSpec configures the variants of images: Copies of the images in Splits, by default one of
// each image in "train", by Policy, and whether to KeepOriginal.
type AugmentSpec = options.AugmentSpec

// EncodeSpec configures the stored form of images: the Format, Channels, and for JPEG Quality and
// Subsampling, for Float32 Normalize, for Keep whether to skip the check for damage (NoCheck).
type EncodeSpec = options.EncodeSpec

// Encoding is the storage format of an image in a record.
type Encoding = options.Encoding

// The encodings. Raw is uint8, Float32 is normalised little-endian float32; both are arrays of
// height x width x channels.
const (
	Keep    = options.Keep // "keep": RGB and grayscale JPEG and PNG unchanged, others as PNG
	JPEG    = options.JPEG
	PNG     = options.PNG
	Raw     = options.Raw
	Float32 = options.Float32
)

// ArchiveFormat is the meaning of the members of archives.
type ArchiveFormat = options.ArchiveFormat

// The formats of archives.
const (
	// AutoFormat ("auto") is WebDataset if an archive has a .cls or .json member with the name of
	// an image, and Files otherwise.
	AutoFormat = options.AutoFormat
	// Files ("files") are the files of a directory tree.
	Files = options.Files
	// WebDataset ("webdataset") has samples of several members KEY.EXT: KEY is everything up to the
	// first dot of the base name or, where that leaves no image, to the last. The label is the integer
	// in .cls, which is its own id. Members other than the image become bytes features EXT; with
	// ImageOptions.Features, keys of .json do instead of it.
	WebDataset = options.WebDataset
)
