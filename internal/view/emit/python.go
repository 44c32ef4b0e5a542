package emit

import (
	"fmt"
	"slices"
	"strings"
)

// pythonView is a Dataset for the templates of programs in Python.
type pythonView struct{ *Dataset }

func newPythonView(d *Dataset) pythonView { return pythonView{d} }

// CompressionType is TensorFlow's name of the compression.
func (v pythonView) CompressionType() string {
	if v.Compression == "none" {
		return ""
	}
	return strings.ToUpper(v.Compression)
}

// FilesOf returns an expression for the names of a split's files.
func (v pythonView) FilesOf(s Split) string { return pythonFiles(&s) }

// Cycle returns the number of files to read in turn.
func (v pythonView) Cycle() int {
	n := 1
	for _, s := range v.Splits {
		n = max(n, len(s.Files))
	}
	return min(n, 16)
}

// choose returns the features for which is says so.
func (v pythonView) choose(is func(f *Feature) bool) []Feature {
	var chosen []Feature
	for i := range v.Features {
		if is(&v.Features[i]) {
			chosen = append(chosen, v.Features[i])
		}
	}
	return chosen
}

// Images are the features that hold one encoded image each.
func (v pythonView) Images() []Feature {
	return v.choose(func(f *Feature) bool { return f.Image != "" })
}

// Varying are the images of several sizes.
func (v pythonView) Varying() []Feature { return v.choose((*Feature).Varies) }

// Fixed returns an image feature whose size is the same in all records; nil if there is none.
func (v pythonView) Fixed() *Feature {
	fixed := v.choose(func(f *Feature) bool { return f.Image != "" && f.varyingSides() == 0 })
	if len(fixed) == 0 {
		return nil
	}
	return &fixed[0]
}

// Arrays are the features that hold the bytes of one array each.
func (v pythonView) Arrays() []Feature {
	return v.choose(func(f *Feature) bool { return f.DType != "" })
}

// Decodes reports whether records are more than values.
func (v pythonView) Decodes() bool { return len(v.Images())+len(v.Arrays()) > 0 || v.Boxes() }

// Named are the labels whose names are known.
func (v pythonView) Named() []Feature {
	return v.choose(func(f *Feature) bool { return len(f.Names) > 0 })
}

// Ragged reports whether anything is of varying length.
func (v pythonView) Ragged() bool {
	return slices.ContainsFunc(v.Features, func(f Feature) bool { return f.Ragged })
}

// Uneven reports whether a batch has values of varying shape, resized images
// aside.
func (v pythonView) Uneven() bool {
	return v.Sequences || v.Ragged() || slices.ContainsFunc(v.Arrays(), func(f Feature) bool { return f.varyingSides() > 0 })
}

// Texts are the features whose bytes are UTF-8.
func (v pythonView) Texts() []Feature {
	return v.choose(func(f *Feature) bool { return f.Kind == "bytes" && f.Text })
}

// Absent are the features with a default.
func (v pythonView) Absent() []Feature {
	return v.choose(func(f *Feature) bool { return !f.Ragged && f.Missing > 0 })
}

// Default returns the value, in Python, for records without the feature.
func (f Feature) Default() string {
	switch {
	case f.Kind == "float":
		return `float("nan")`
	case f.Kind == "bytes":
		return `b""`
	case f.Int == -1:
		return "-1"
	}
	return "-(2**63)"
}

var tfTypes = map[string]string{"bytes": "tf.string", "float": "tf.float32", "int64": "tf.int64"}

// TFType is the feature's type in TensorFlow.
func (f Feature) TFType() string { return tfTypes[f.Kind] }

// brackets writes a shape as a list.
func brackets(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

// TF returns the expression with which TensorFlow parses the feature.
func (f Feature) TF() string {
	switch {
	case f.Ragged:
		return fmt.Sprintf("tf.io.RaggedFeature(%s)", f.TFType())
	case f.Missing > 0:
		return fmt.Sprintf("tf.io.FixedLenFeature([], %s, default_value=%s)", f.TFType(), f.Default())
	}
	return fmt.Sprintf("tf.io.FixedLenFeature(%s, %s)", brackets(f.Shape), f.TFType())
}

// TFList returns the expression with which TensorFlow parses the feature list.
func (f Feature) TFList() string {
	if f.Ragged {
		return fmt.Sprintf("tf.io.RaggedFeature(%s)", f.TFType())
	}
	return fmt.Sprintf("tf.io.FixedLenSequenceFeature(%s, %s, allow_missing=True)", brackets(f.Shape), f.TFType())
}

// TFDS returns the feature's TFDS type. A feature that some records do not have is a sequence of
// any length there.
func (f Feature) TFDS() string {
	if f.Ragged || f.Missing > 0 {
		return fmt.Sprintf("tfds.features.Sequence(%s)", f.TFType())
	}
	switch {
	case f.Image == "jpeg", f.Image == "png":
		return fmt.Sprintf("tfds.features.Image(shape=%s, encoding_format=%q)", pythonTuple(f.Size), f.Image)
	case f.Image != "":
		return fmt.Sprintf("tfds.features.Image(shape=%s)", pythonTuple(f.Size))
	case f.DType != "" && f.varyingSides() < 2:
		return fmt.Sprintf("tfds.features.Tensor(shape=%s, dtype=tf.%s, encoding=%q)", pythonTuple(f.Size), f.DType, "bytes")
	case len(f.Shape) > 0:
		return fmt.Sprintf("tfds.features.Tensor(shape=%s, dtype=%s)", pythonTuple(f.Shape), f.TFType())
	case len(f.Names) > 0:
		return fmt.Sprintf("tfds.features.ClassLabel(num_classes=%d)", len(f.Names))
	case f.Kind == "bytes" && f.Text:
		return "tfds.features.Text()"
	}
	return fmt.Sprintf("tfds.features.Scalar(%s)", f.TFType())
}

func (f Feature) varyingSides() (n int) {
	for _, side := range f.Size {
		if side < 0 {
			n++
		}
	}
	return n
}

// Sides is the size of an array for a reshape: -1 for the one side that
// varies. It is empty when more than one does.
func (f Feature) Sides() string {
	if f.varyingSides() > 1 {
		return ""
	}
	return brackets(f.Size)
}

// Torch is the kind and the shape of the feature for the program's own parser.
func (f Feature) Torch() string {
	switch {
	case f.Ragged:
		return fmt.Sprintf("(%q, None)", f.Kind)
	case len(f.Shape) == 0:
		return fmt.Sprintf("(%q, ())", f.Kind)
	}
	return fmt.Sprintf("(%q, %s)", f.Kind, pythonTuple(f.Shape))
}

// Decode is the call with which TensorFlow decodes the image, up to its
// arguments, and Exactly those arguments.
func (f Feature) Decode() string {
	switch f.Image {
	case "jpeg", "png":
		return "tf.io.decode_" + f.Image
	}
	return "tf.io.decode_image"
}

// Exactly are further arguments of Decode.
func (f Feature) Exactly() string {
	switch f.Image {
	case "jpeg":
		return `, dct_method="INTEGER_ACCURATE"`
	case "png":
		return ""
	}
	return ", expand_animations=False"
}

// Channels of the image.
func (f Feature) Channels() int { return f.Size[2] }

// Mode is Pillow's name for images with these channels, as a literal; None leaves the samples of a
// mask, or its indexes of a palette, as they are.
func (f Feature) Mode() string {
	switch {
	case f.Mask:
		return "None"
	case f.Size[2] == 1:
		return `"L"`
	case f.Size[2] == 4:
		return `"RGBA"`
	}
	return `"RGB"`
}

// Shaped is the shape of the image for tf.ensure_shape.
func (f Feature) Shaped() string { return pythonTuple(f.Size) }
