package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
)

// Files that tfds.builder_from_directory reads, in addition to a list of label names per label
// feature.
const (
	TFDSInfoFile     = "dataset_info.json"
	TFDSFeaturesFile = "features.json"
)

// tfdsVersion is the dataset's version in dataset_info.json. Our sets have no versions, but TFDS
// requires one.
const tfdsVersion = "1.0.0"

// TFDSFiles returns the names of the files for TFDS of a set with these features, relative to the
// set's directory. Not every set has all of these files: see EncodeTFDS.
func TFDSFiles(features []Feature) []string {
	files := []string{TFDSInfoFile, TFDSFeaturesFile}
	for _, f := range features {
		if f.Class == ClassLabel {
			files = append(files, labels.FileName(f.Key))
		}
	}
	return files
}

// EncodeTFDS returns the content, by name, of the files that tfds.builder_from_directory needs. It
// is deterministic. It returns nil for sets that TFDS cannot read: compressed ones, sets with
// unknown features, and sets with shard names that no TFDS template matches.
func EncodeTFDS(m *Manifest) (map[string][]byte, error) {
	if m.Compression != tfrecord.CompressionNone.String() || len(m.Features) == 0 || m.Nameless() != "" {
		return nil, nil
	}
	files := make(map[string][]byte)
	var err error
	if files[TFDSInfoFile], err = EncodeTFDSFile(m.TFDSInfo(), "  "); err != nil {
		return nil, err
	}
	if files[TFDSFeaturesFile], err = EncodeTFDSFile(m.tfdsFeatures(), "    "); err != nil {
		return nil, err
	}
	if names := tfdsLabelNames(m.Labels); names != nil {
		for _, f := range m.Features {
			if f.Class == ClassLabel {
				files[labels.FileName(f.Key)] = names
			}
		}
	}
	return files, nil
}

// Object is a JSON object; its keys are encoded in sorted order.
type Object = map[string]any

func EncodeTFDSFile(o Object, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(o); err != nil {
		return nil, fmt.Errorf("TFDS metadata: %w", err)
	}
	return b.Bytes(), nil
}

// TFDSInfo returns dataset_info.json: the DatasetInfo message in protobuf's JSON mapping, which
// writes 64-bit integers as strings.
func (m *Manifest) TFDSInfo() Object {
	splits := []any{}
	for _, s := range m.Splits {
		var size int64
		lengths := make([]string, len(s.Shards))
		for i, info := range s.Shards {
			size += info.Bytes
			lengths[i] = strconv.FormatInt(info.Records, 10)
		}
		template, _ := tfdsTemplate(m.Name, s)
		splits = append(splits, Object{
			"name":             s.Name,
			"filepathTemplate": template,
			"numBytes":         strconv.FormatInt(size, 10),
			"shardLengths":     lengths,
		})
	}
	info := Object{"name": m.Name, "version": tfdsVersion, "fileFormat": "tfrecord", "splits": splits}
	if m.Supervised != nil {
		// A key may contain slashes: only this form keeps it whole.
		info["supervisedKeys"] = Object{"tuple": Object{"items": []Object{
			{"featureKey": m.Supervised.Input}, {"featureKey": m.Supervised.Target},
		}}}
	}
	return info
}

const tfdsPackage = "tensorflow_datasets.core.features."

// tfdsFeatures returns features.json: a FeaturesDict in protobuf's JSON mapping.
func (m *Manifest) tfdsFeatures() Object {
	features := Object{}
	for _, f := range m.Features {
		one := f.tfds(len(m.Labels))
		if f.isSequence() {
			one = Object{
				"pythonClassName": tfdsPackage + "sequence_feature.Sequence",
				"sequence":        Object{"feature": one, "length": "-1"},
			}
		}
		features[f.Key] = one
	}
	return Object{
		"pythonClassName": tfdsPackage + "features_dict.FeaturesDict",
		"featuresDict":    Object{"features": features},
	}
}

// isSequence reports whether the feature is a sequence to TFDS: a list of labels or texts, or an
// optional feature, whose absence is an empty sequence. A vector of variable length is one already.
func (f Feature) isSequence() bool {
	switch f.Class {
	case ClassLabel, ClassText:
		return f.Optional || f.sizesThatVary() > 0
	case ClassVector:
		return f.Optional && f.sizesThatVary() == 0
	}
	return f.Optional
}

// tfds describes the feature to TFDS, or one of the sequence that it is.
func (f Feature) tfds(labels int) Object {
	switch f.Class {
	case ClassLabel:
		return Object{
			"pythonClassName": tfdsPackage + "class_label_feature.ClassLabel",
			"classLabel":      Object{"numClasses": strconv.Itoa(labels)},
		}
	case ClassText:
		return Object{"pythonClassName": tfdsPackage + "text_feature.Text", "text": Object{}}
	case ClassImage:
		image := Object{"dtype": cmp.Or(f.DType, "uint8"), "shape": tfdsShape(f.Shape)}
		if f.Encoding != "" {
			image["encodingFormat"] = f.Encoding
		}
		return Object{"pythonClassName": tfdsPackage + "image_feature.Image", "image": image}
	case ClassTensor:
		if f.sizesThatVary() <= 1 {
			return tfdsTensor("tensor_feature.Tensor", f.DType, "bytes", f.Shape)
		}
		// TFDS stores a variable shape in a separate feature, named differently from ours, so only
		// the bytes can be exposed.
		return tfdsTensor("scalar.Scalar", "string", "none", nil)
	case ClassVector:
		shape := f.Shape
		if f.sizesThatVary() > 1 {
			shape = []int{-1} // all that TFDS can infer from the values alone
		}
		return tfdsTensor("tensor_feature.Tensor", f.tfdsType(), "none", shape)
	default:
		return tfdsTensor("scalar.Scalar", f.tfdsType(), "none", nil)
	}
}

func (f Feature) sizesThatVary() int {
	n := 0
	for _, size := range f.Shape {
		if size < 0 {
			n++
		}
	}
	return n
}

// tfdsType returns the element type of a feature that is stored as values.
func (f Feature) tfdsType() string {
	switch f.Kind {
	case "float":
		return "float32"
	case "bytes":
		return "string"
	default:
		return "int64"
	}
}

func tfdsTensor(class, dtype, encoding string, shape []int) Object {
	return Object{
		"pythonClassName": tfdsPackage + class,
		"tensor":          Object{"dtype": dtype, "encoding": encoding, "shape": tfdsShape(shape)},
	}
}

func tfdsShape(shape []int) Object {
	if len(shape) == 0 {
		return Object{}
	}
	sizes := make([]string, len(shape))
	for i, n := range shape {
		sizes[i] = strconv.Itoa(n)
	}
	return Object{"dimensions": sizes}
}

// tfdsLabelNames returns a list of label names as TFDS reads it: one name per line, trimmed,
// without blank lines. An id without a name has itself as its name, unless another id has that.
// Names that would not survive reading are quoted. It returns nil if the resulting names are not
// distinct: TFDS would refuse the set, while without names it shows the ids.
func tfdsLabelNames(labels []string) []byte {
	if len(labels) == 0 {
		return nil
	}
	lines := make([]string, len(labels))
	named := slices.Sorted(slices.Values(labels))
	for i, name := range labels {
		if id := strconv.Itoa(i); name == "" {
			if _, taken := slices.BinarySearch(named, id); !taken {
				name = id
			}
		}
		name = jsontext.Readable(name)
		if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl) {
			name = strconv.Quote(name)
		}
		lines[i] = name
	}
	sorted := slices.Sorted(slices.Values(lines))
	if len(slices.Compact(sorted)) != len(lines) {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
