package shard

// Feature describes one feature of the Examples in a set.
type Feature struct {
	Key string `json:"key"`
	// Kind is the list in the Example: "bytes", "int64" or "float".
	Kind string `json:"kind"`
	// Class says what the values mean.
	Class FeatureClass `json:"class"`
	// Shape of one sample: none for a scalar, -1 for a size that varies.
	Shape []int `json:"shape,omitempty"`
	// DType of an encoded image or tensor: "uint8" or "float32".
	DType string `json:"dtype,omitempty"`
	// Encoding of an image: "jpeg" or "png".
	Encoding string `json:"encoding,omitempty"`
	// Optional says that a record may lack the feature.
	Optional bool `json:"optional,omitempty"`
}

// FeatureClass says what a feature's values mean.
type FeatureClass string

// The classes of features.
const (
	ClassScalar FeatureClass = "scalar" // one value of Kind
	ClassVector FeatureClass = "vector" // values of Kind in Shape
	ClassImage  FeatureClass = "image"  // an encoded image of Shape (height, width, channels)
	ClassTensor FeatureClass = "tensor" // the little-endian bytes of an array of Shape and DType
	ClassLabel  FeatureClass = "label"  // an id into Manifest.Labels
	ClassText   FeatureClass = "text"   // one string of bytes
)

// LabelKeys returns the keys of the features that are labels, nil when there are none.
func LabelKeys(features []Feature) []string {
	var keys []string
	for _, f := range features {
		if f.Class == ClassLabel {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// CopyKey is the feature that tells the copies which an augmentation made of a
// image, as `convert images` writes it.
const CopyKey = "augment/copy"
