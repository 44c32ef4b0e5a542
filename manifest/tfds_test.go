package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncodeTFDSAsTFDSWrote compares with what TFDS 4.9 wrote for the same set.
func TestEncodeTFDSAsTFDSWrote(t *testing.T) {
	const golden = "../testdata/tfds"
	m := &Manifest{
		Name: "bf", Compression: "none", Labels: []string{"a", "b"},
		Features: []Feature{
			{Key: "image/class/label", Kind: "int64", Class: ClassLabel},
			{Key: "image/class/text", Kind: "bytes", Class: ClassText},
			{Key: "image/encoded", Kind: "bytes", Class: ClassImage, Shape: []int{-1, -1, 3}, DType: "uint8", Encoding: "png"},
			{Key: "image/height", Kind: "int64", Class: ClassScalar},
		},
		Splits: []Split{
			{Name: "train", Records: 6, Shards: []Shard{{File: "bf-train.tfrecord-00000-of-00001", Records: 6, Bytes: 1076}}},
			{Name: "val", Records: 2, Shards: []Shard{{File: "bf-val.tfrecord-00000-of-00001", Records: 2, Bytes: 354}}},
		},
	}
	got, err := EncodeTFDS(m)
	check(t, err)
	for _, name := range TFDSFiles(m.Features) {
		want, err := os.ReadFile(filepath.Join(golden, name))
		check(t, err)
		if strings.HasSuffix(name, ".json") {
			if diff := cmp.Diff(parseJSON(t, want), parseJSON(t, got[name])); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		} else if string(want) != string(got[name]) {
			t.Errorf("%s: %q, TFDS wrote %q", name, got[name], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d files", len(got))
	}
}

func parseJSON(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	check(t, json.Unmarshal(data, &v))
	delete(v, "moduleName") // of the program that defined the dataset
	return v
}

// TestTFDSFeatures covers each form that was tested with TFDS 4.9.10.
func TestTFDSFeatures(t *testing.T) {
	scalar := func(dtype string) string {
		return `{"pythonClassName":"tensorflow_datasets.core.features.scalar.Scalar","tensor":{"dtype":"` + dtype + `","encoding":"none","shape":{}}}`
	}
	tensor := func(dtype, encoding, dimensions string) string {
		return `{"pythonClassName":"tensorflow_datasets.core.features.tensor_feature.Tensor","tensor":{"dtype":"` + dtype + `","encoding":"` + encoding + `","shape":{"dimensions":[` + dimensions + `]}}}`
	}
	image := func(encoding, dimensions string) string {
		return `{"image":{"dtype":"uint8",` + encoding + `"shape":{"dimensions":[` + dimensions + `]}},"pythonClassName":"tensorflow_datasets.core.features.image_feature.Image"}`
	}
	sequence := func(of string) string {
		return `{"pythonClassName":"tensorflow_datasets.core.features.sequence_feature.Sequence","sequence":{"feature":` + of + `,"length":"-1"}}`
	}
	for _, test := range []struct {
		name    string
		feature Feature
		want    string
	}{
		{"int64", Feature{Kind: "int64", Class: ClassScalar}, scalar("int64")},
		{"float", Feature{Kind: "float", Class: ClassScalar}, scalar("float32")},
		{"bytes", Feature{Kind: "bytes", Class: ClassScalar}, scalar("string")},
		{"optional", Feature{Kind: "float", Class: ClassScalar, Optional: true}, sequence(scalar("float32"))},
		{"vector", Feature{Kind: "float", Class: ClassVector, Shape: []int{28}}, tensor("float32", "none", `"28"`)},
		{"optional vector", Feature{Kind: "int64", Class: ClassVector, Shape: []int{3}, Optional: true}, sequence(tensor("int64", "none", `"3"`))},
		{"vector of any length", Feature{Kind: "int64", Class: ClassVector, Shape: []int{-1}, Optional: true}, tensor("int64", "none", `"-1"`)},
		{"vector of any shape", Feature{Kind: "int64", Class: ClassVector, Shape: []int{-1, -1}}, tensor("int64", "none", `"-1"`)},
		{"raw pixels", Feature{Kind: "bytes", Class: ClassTensor, DType: "uint8", Shape: []int{2, 3, 3}}, tensor("uint8", "bytes", `"2","3","3"`)},
		{"raw pixels of any height", Feature{Kind: "bytes", Class: ClassTensor, DType: "float32", Shape: []int{-1, 3, 3}}, tensor("float32", "bytes", `"-1","3","3"`)},
		{"raw pixels of any size", Feature{Kind: "bytes", Class: ClassTensor, DType: "uint8", Shape: []int{-1, -1, 3}}, scalar("string")},
		{"jpeg of a size", Feature{Kind: "bytes", Class: ClassImage, Encoding: "jpeg", Shape: []int{224, 224, 3}}, image(`"encodingFormat":"jpeg",`, `"224","224","3"`)},
		{"picture files as they are", Feature{Kind: "bytes", Class: ClassImage, Shape: []int{-1, -1, 3}}, image("", `"-1","-1","3"`)},
	} {
		test.feature.Key = "k"
		m := &Manifest{Name: "n", Compression: "none", Features: []Feature{test.feature}}
		files, err := EncodeTFDS(m)
		check(t, err)
		got := parseJSON(t, files[TFDSFeaturesFile])["featuresDict"].(map[string]any)["features"].(map[string]any)["k"]
		var want any
		check(t, json.Unmarshal([]byte(test.want), &want))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestEncodeTFDSSupervised(t *testing.T) {
	m := &Manifest{Name: "n", Compression: "none", Features: []Feature{{Key: "a/b", Kind: "int64"}}, Supervised: &Supervised{"a/b", "c/d"}}
	files, err := EncodeTFDS(m)
	check(t, err)
	want := map[string]any{"tuple": map[string]any{"items": []any{map[string]any{"featureKey": "a/b"}, map[string]any{"featureKey": "c/d"}}}}
	if diff := cmp.Diff(want, parseJSON(t, files[TFDSInfoFile])["supervisedKeys"]); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeTFDSLabelNames(t *testing.T) {
	for _, test := range []struct {
		labels []string
		want   string
	}{
		{[]string{"background", "a b", "ü", "<&>"}, "background\na b\nü\n<&>\n"},
		{[]string{"", "a", "", "b"}, "0\na\n2\nb\n"}, // TFDS wants distinct names
		{[]string{"", "0"}, "\"\"\n0\n"},
		{[]string{" x", "a\nb", "\xff"}, "\" x\"\n\"a\\nb\"\n\\xff\n"}, // TFDS would drop, trim and split them
		{[]string{"\xff", `\xff`}, ""},                                 // equal to TFDS, which would refuse the set
		{nil, ""},
	} {
		m := &Manifest{Name: "n", Compression: "none", Labels: test.labels, Features: []Feature{{Key: "a/b", Kind: "int64", Class: ClassLabel}}}
		files, err := EncodeTFDS(m)
		check(t, err)
		if got := string(files["a.b.labels.txt"]); got != test.want {
			t.Errorf("%q: %q, want %q", test.labels, got, test.want)
		}
	}
}

func TestEncodeTFDSNothing(t *testing.T) {
	for _, m := range []*Manifest{
		{Name: "n", Compression: "gzip", Features: []Feature{{Key: "k", Kind: "int64"}}},
		{Name: "n", Compression: "none"},
	} {
		if files, err := EncodeTFDS(m); err != nil || len(files) != 0 {
			t.Errorf("%+v: %v, %v", m, files, err)
		}
	}
}
