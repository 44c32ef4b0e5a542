package manifest

// Feature describes one feature of the Examples in a set.
type Feature struct {
	Key string `json:"key"`
	// Kind of the list in the Example: "bytes", "int64" or "float".
	Kind string `json:"kind"`
	// Class is the meaning of the values.
	Class FeatureClass `json:"class"`
	// Shape of one sample: empty for a scalar, -1 for a variable dimension. Labels and texts of
	// which a record has any number are of shape [-1].
	Shape []int `json:"shape,omitempty"`
	// DType of an encoded image or tensor: "uint8", "uint16" (images) or "float32" (tensors).
	DType string `json:"dtype,omitempty"`
	// Encoding of an image: "jpeg" or "png".
	Encoding string `json:"encoding,omitempty"`
	// Optional means that the feature may be missing from a record.
	Optional bool `json:"optional,omitempty"`
}

// FeatureClass is the meaning of a feature's values.
type FeatureClass string

// The classes of features.
const (
	ClassScalar FeatureClass = "scalar" // one value of Kind
	ClassVector FeatureClass = "vector" // values of Kind in Shape
	ClassImage  FeatureClass = "image"  // an encoded image of Shape (height, width, channels)
	ClassTensor FeatureClass = "tensor" // the little-endian bytes of an array of Shape and DType
	ClassLabel  FeatureClass = "label"  // an id into Manifest.Labels, or a list of them
	ClassText   FeatureClass = "text"   // one string of bytes, or a list of them
)

// Values returns how many values of Kind a record has, unless the feature is missing: -1 if that
// varies. An encoded image or tensor is one value.
func (f Feature) Values() int {
	if f.Class == ClassImage || f.Class == ClassTensor {
		return 1
	}
	n := 1
	for _, size := range f.Shape {
		if size < 0 {
			return -1
		}
		n *= size
	}
	return n
}

// LabelKeys returns the keys of the label features, nil if there are none.
func LabelKeys(features []Feature) []string {
	var keys []string
	for _, f := range features {
		if f.Class == ClassLabel {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// CopyKey is the feature that numbers the augmented copies of an image, as `convert images` writes
// it.
const CopyKey = "augment/copy"
