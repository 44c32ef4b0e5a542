package convert

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestRelabelledMixtures: a mixed set that gets other labels, or none, keeps no soft labels, whose
// ids are those of the labels before.
func TestRelabelledMixtures(t *testing.T) {
	set, dir := t.TempDir(), directories(t, 6)
	mustImages(t, dir, set, ImageOptions{Augment: AugmentSpec{Policy: policy(t, "mixup")}})
	var table strings.Builder
	table.WriteString("path,label\n")
	for name := range records(t, set, "train") {
		table.WriteString(name + ",x\n")
	}
	put(t, dir, "t.csv", []byte(table.String()))
	for name, labels := range map[string]LabelSpec{"others": {File: filepath.Join(dir, "t.csv")}, "none": {None: true}, "kept": {}} {
		out := t.TempDir()
		s := mustImages(t, set, out, ImageOptions{Labels: labels})
		for _, e := range examples(t, out, "train") {
			if (e[imagekey.MixLabel] != nil) != (name == "kept") || (e[imagekey.MixWeight] != nil) != (name == "kept") {
				t.Errorf("%s: soft labels %v %v", name, e[imagekey.MixLabel], e[imagekey.MixWeight])
			}
		}
		report, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}})
		if err != nil || !report.OK || s.Records != 6 {
			t.Errorf("%s: %v %+v %+v", name, err, report, s)
		}
	}
}

// TestMixturesOfRecords mixes the images of records: with one label each, or none, or others that a
// table gives. Several labels, and soft ones, would be lost, and are refused.
func TestMixturesOfRecords(t *testing.T) {
	dir, plain, mixed := directories(t, 6), t.TempDir(), t.TempDir()
	mustImages(t, dir, plain, ImageOptions{})
	mustImages(t, dir, mixed, ImageOptions{Augment: AugmentSpec{Policy: policy(t, "mixup"), KeepOriginal: true}})
	files := t.TempDir()
	labelled := func(name string, labels ...[]int64) string {
		var all [][]byte
		for i, ids := range labels {
			features := map[string]any{imagekey.Encoded: [][]byte{pngOf(i)}}
			if ids != nil {
				features[imagekey.Label] = ids
			}
			all = append(all, exampleOf(features))
		}
		path := filepath.Join(files, name+".tfrecord")
		writeRecords(t, path, tfrecord.CompressionNone, all...)
		return path
	}
	o := ImageOptions{Augment: AugmentSpec{Policy: policy(t, "cutmix"), KeepOriginal: true}}
	for name, c := range map[string]struct {
		src  string
		none bool
		soft int    // labels of a mixture; 0 without
		want string // of the error
	}{
		"plain":             {plain, false, 2, ""},
		"plain, no labels":  {plain, true, 0, ""},
		"mixed":             {mixed, false, 0, "mixed already"},
		"mixed, no labels":  {mixed, true, 0, ""},
		"several":           {labelled("several", []int64{0, 1}, []int64{1, 2}), false, 0, "not one label"},
		"several, left out": {filepath.Join(files, "several.tfrecord"), true, 0, ""},
		"some":              {labelled("some", []int64{0}, nil), false, 0, "not one label"},
		"below 0":           {labelled("below", []int64{-1}, []int64{1}), false, 0, "not one label"},
		"without":           {labelled("without", nil, nil), false, 0, ""},
		"empty":             {labelled("empty", []int64{}, []int64{}), false, 0, ""},
	} {
		out := filepath.Join(t.TempDir(), "out")
		o.Labels.None = c.none
		if c.want != "" {
			if _, err := Images(context.Background(), c.src, out, o); !ofOption(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		mustImages(t, c.src, out, o)
		for _, e := range examples(t, out, "train") {
			want := c.soft
			if sample.MixtureOf(drawOf(t, e)) == nil {
				want = min(want, 1)
			}
			labels, _ := e[imagekey.MixLabel].([]int64)
			weights, _ := e[imagekey.MixWeight].([]float32)
			if len(labels) != want || len(weights) != want {
				t.Errorf("%s: soft labels %v %v, want %d", name, labels, weights, want)
			}
		}
	}
}
