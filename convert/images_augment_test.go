package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/imagekey"
)

func policy(t *testing.T, spec string) *augment.Policy {
	t.Helper()
	p, err := augment.ParsePolicy(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// variant is the metadata in a record of an augmented set.
type variant struct {
	name string
	copy int64
	ops  string
}

// variantsOf reads the records of a split in order.
func variantsOf(t *testing.T, dir, split string) []variant {
	t.Helper()
	var all []variant
	for _, m := range examples(t, dir, split) {
		if m[imagekey.Copy] == nil || m[imagekey.Ops] == nil {
			t.Fatalf("a record of an augmented set lacks %s or %s", imagekey.Copy, imagekey.Ops)
		}
		all = append(all, variant{string(m[imagekey.Filename].([][]byte)[0]), m[imagekey.Copy].([]int64)[0], string(m[imagekey.Ops].([][]byte)[0])})
	}
	return all
}

func TestVariantsOfTheTrainSplit(t *testing.T) {
	src := directories(t, 40)
	o := ImageOptions{
		Options: Options{Shards: 3, Seed: 5, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}},
		Augment: AugmentSpec{Policy: policy(t, "hflip:0.5|color_jitter:0.4,0.4,0.4,0.1"), Copies: 3, KeepOriginal: true},
		Encode:  EncodeSpec{Format: PNG},
	}
	var want map[string]string
	for _, workers := range []int{1, 4} {
		out := t.TempDir()
		o.Workers = workers
		s := mustImages(t, src, out, o)
		train, val := variantsOf(t, out, "train"), variantsOf(t, out, "val")
		if len(train)%4 != 0 || len(train)/4+len(val) != 40 || s.Samples != int64(len(train)+len(val)) {
			t.Fatalf("%d train and %d val records, summary %+v", len(train), len(val), s)
		}
		copies, drawn, neighbours := map[string]int{}, map[string]bool{}, 0
		for i, v := range train {
			copies[v.name] |= 1 << v.copy
			var ops []map[string]any
			if err := json.Unmarshal([]byte(v.ops), &ops); err != nil || (v.copy == 0) != (len(ops) == 0) {
				t.Errorf("%s#%d: ops %s, %v", v.name, v.copy, v.ops, err)
			}
			if v.copy > 0 {
				drawn[v.ops] = true
			}
			if i > 0 && train[i-1].name == v.name {
				neighbours++
			}
		}
		for name, set := range copies {
			if set != 0b1111 {
				t.Errorf("%s has the copies %b", name, set)
			}
		}
		if len(drawn) != len(train)/4*3 {
			t.Errorf("%d different draws for %d variants", len(drawn), len(train)/4*3)
		}
		if neighbours > len(train)/8 {
			t.Errorf("%d of %d variants lie beside one of their own picture", neighbours, len(train))
		}
		for _, v := range val {
			if v.copy != 0 || v.ops != "[]" || copies[v.name] != 0 {
				t.Errorf("val holds %+v", v)
			}
		}
		got := contents(t, out)
		if want == nil {
			want = got
		}
		sameSet(t, got, want)
	}
}

func TestVariantsInPlaceOfTheOriginal(t *testing.T) {
	src, out := directories(t, 6), t.TempDir()
	put(t, src, "c0/bad.png", []byte("no picture"))
	s := mustImages(t, src, out, ImageOptions{
		Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 2}},
		Augment: AugmentSpec{Policy: policy(t, "vflip:1"), Copies: 2},
		Encode:  EncodeSpec{Format: PNG},
	})
	if s.Records != 12 || s.Errors != 2 || s.Samples != 14 {
		t.Errorf("%+v", s)
	}
	for _, v := range variantsOf(t, out, "train") {
		if v.copy < 1 || v.copy > 2 || !strings.Contains(v.ops, "vflip") {
			t.Errorf("%+v", v)
		}
	}
	if ledger := contents(t, out)["errors.jsonl"]; !strings.Contains(ledger, `"c0/bad.png#1"`) || !strings.Contains(ledger, `"c0/bad.png#2"`) {
		t.Errorf("ledger %s", ledger)
	}
}

// A variant's draw depends on the seed, its key and its number, not on the rest of the set.
func TestDrawsDoNotDependOnTheSet(t *testing.T) {
	src := directories(t, 10)
	o := ImageOptions{Options: Options{Shards: 1}, Augment: AugmentSpec{Policy: policy(t, "rotate:30"), Copies: 2}, Encode: EncodeSpec{Format: PNG}}
	draws := func() map[string]string {
		out := t.TempDir()
		mustImages(t, src, out, o)
		m := map[string]string{}
		for _, v := range variantsOf(t, out, "train") {
			m[fmt.Sprint(v.name, v.copy)] = v.ops
		}
		return m
	}
	before := draws()
	put(t, src, "c1/another.png", pngOf(500))
	o.Limit, o.Shards = 8, 2
	for key, ops := range draws() {
		if was, ok := before[key]; ok && was != ops {
			t.Errorf("%s: %s, then %s", key, was, ops)
		}
	}
	o.Seed = 1
	same := 0
	for key, ops := range draws() {
		if before[key] == ops {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d draws do not depend on the seed", same)
	}
}

func TestOptionsAboutVariants(t *testing.T) {
	src := directories(t, 3)
	for _, o := range []ImageOptions{
		{Augment: AugmentSpec{Copies: 2}},
		{Augment: AugmentSpec{KeepOriginal: true}},
		{Augment: AugmentSpec{Splits: []string{"val"}}},
		{Augment: AugmentSpec{Policy: policy(t, "hflip"), Copies: -1}},
		{Augment: AugmentSpec{Policy: policy(t, "hflip"), Copies: options.MaxCopies + 1}},
		{Augment: AugmentSpec{Policy: policy(t, "hflip")}, Encode: EncodeSpec{Format: Keep}},
	} {
		if _, err := Images(context.Background(), src, t.TempDir(), o); !ofOption(err) {
			t.Errorf("%+v: %v, want a wrong option", o, err)
		}
	}
	_, err := Images(context.Background(), src, t.TempDir(), ImageOptions{Augment: AugmentSpec{Policy: policy(t, "hflip"), Splits: []string{"test"}}})
	if err == nil || !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("a split that is not there: %v", err)
	}
}
