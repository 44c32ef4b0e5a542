package objects

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/tfrecord"
)

// parse encodes a record with what fill adds, and parses its objects.
func parse(t *testing.T, fill func(b *tfrecord.Builder)) (*Objects, bool, error) {
	t.Helper()
	var b tfrecord.Builder
	b.Reset()
	fill(&b)
	var e tfrecord.Example
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	o := &Objects{Labels: []int64{7}, Boxes: make([][4]float32, 2)} // of another record
	err := o.Parse(&e.Features)
	return o, Present(&e.Features), err
}

func boxes(b *tfrecord.Builder, n int) {
	for i, key := range sideKeys {
		var values []float32
		for k := range n {
			values = append(values, float32(i)+float32(k)/8)
		}
		b.Float(key, values...)
	}
}

func TestParse(t *testing.T) {
	o, present, err := parse(t, func(b *tfrecord.Builder) {
		boxes(b, 2)
		b.Int64(KeyLabel, 3, -1)
		b.String(KeyText, "a", "")
		b.Float(KeyArea, 2.5, float32(math.Inf(1)))
		b.Int64(KeyCrowd)
	})
	if err != nil || !present || o.Len() != 2 {
		t.Fatal(o, present, err)
	}
	if diff := cmp.Diff([][4]float32{{0, 1, 2, 3}, {0.125, 1.125, 2.125, 3.125}}, o.Boxes); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(o.Labels, []int64{3, -1}) || len(o.Texts) != 2 || string(o.Texts[0]) != "a" || len(o.Crowd) != 0 || len(o.Area) != 2 {
		t.Errorf("%+v", o)
	}
}

func TestParseWithoutObjects(t *testing.T) {
	for name, fill := range map[string]func(*tfrecord.Builder){
		"none":  func(b *tfrecord.Builder) { b.Int64("image/width", 3) },
		"empty": func(b *tfrecord.Builder) { boxes(b, 0); b.Int64(KeyLabel) },
	} {
		o, present, err := parse(t, fill)
		if err != nil || o.Len() != 0 || len(o.Labels) != 0 || present != (name == "empty") {
			t.Error(name, o, present, err)
		}
	}
}

func TestParseRefusesWhatDoesNotFit(t *testing.T) {
	for want, fill := range map[string]func(*tfrecord.Builder){
		KeyYMax + " 0":                         func(b *tfrecord.Builder) { b.Float(KeyXMin, 1); b.Float(KeyYMin, 1); b.Float(KeyXMax, 1) },
		KeyLabel + " has 1 values for 2 boxes": func(b *tfrecord.Builder) { boxes(b, 2); b.Int64(KeyLabel, 1) },
		KeyMask + " has 1 values for 0 boxes":  func(b *tfrecord.Builder) { b.String(KeyMask, "x") },
		KeyArea + " is int64: want float":      func(b *tfrecord.Builder) { boxes(b, 1); b.Int64(KeyArea, 1) },
		KeyXMin + " is bytes: want float":      func(b *tfrecord.Builder) { b.String(KeyXMin, "1") },
	} {
		if _, _, err := parse(t, fill); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
