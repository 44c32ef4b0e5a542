package where

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// known are the features that the tests' records have.
var known = []Feature{
	{Key: "image/class/label", Kind: tfrecord.KindInt64},
	{Key: "image/class/text", Kind: tfrecord.KindBytes},
	{Key: "image/width", Kind: tfrecord.KindInt64},
	{Key: "image/height", Kind: tfrecord.KindInt64},
	{Key: "image/encoded", Kind: tfrecord.KindBytes},
	{Key: "score", Kind: tfrecord.KindFloat},
	{Key: "object/label", Kind: tfrecord.KindInt64, List: true},
	{Key: "object/score", Kind: tfrecord.KindFloat, List: true},
	{Key: "object/name", Kind: tfrecord.KindBytes, List: true},
	{Key: "f", Kind: tfrecord.KindInt64, List: true},
	{Key: "Amount (USD)", Kind: tfrecord.KindFloat},
	{Key: "absent", Kind: tfrecord.KindInt64},
	{Key: "absent list", Kind: tfrecord.KindFloat, List: true},
	{Key: "mixed"},
	{Key: "len", Kind: tfrecord.KindInt64},
}

func sample(t testing.TB) *tfrecord.Example {
	t.Helper()
	var b tfrecord.Builder
	b.Int64("image/class/label", 3)
	b.String("image/class/text", "tulips")
	b.Int64("image/width", 500)
	b.Int64("image/height", 1<<60+1)
	b.Bytes("image/encoded", []byte{0xff, 0xd8, 0xff, 0xe0, 0})
	b.Float("score", 0.25)
	b.Int64("object/label", 7, 8, 9)
	b.Float("object/score", 0.5, -1)
	b.String("object/name", "dog", "cat")
	b.Int64("f", 11, 12)
	b.Float("Amount (USD)", 1e10)
	b.Float("absent list")
	b.String("mixed", "x")
	b.Int64("len", 5)
	e := new(tfrecord.Example)
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMatch(t *testing.T) {
	e := sample(t)
	for expression, want := range map[string]bool{
		`width == 500`: true,
		`width > 200 && f["image/class/label"] == 3`:                         true,
		`f['image/width'] in [1, 2, 500]`:                                    true,
		`width in 400..600`:                                                  true,
		`height == 1152921504606846977`:                                      true,
		`height == 1152921504606846976`:                                      false,
		`text == "tulips"`:                                                   true,
		`text matches "^tu.*s$"`:                                             true,
		`text startsWith "tu" and not (width < 500)`:                         true,
		`text in ["roses", "daisy"]`:                                         false,
		`f["score"] == 0.25`:                                                 true,
		`f["Amount (USD)"] >= 1e10`:                                          true,
		`len(encoded) == 5`:                                                  true, // bytes, not runes
		`len(f["object/label"]) == 3 && len(name) > 1`:                       true,
		`len(filter(f["object/label"], # > 7)) == len(1..2)`:                 true,
		`8 in f["object/label"]`:                                             true,
		`"cow" in name`:                                                      false,
		`any(f["object/score"], # < 0)`:                                      true,
		`all(f["object/score"], # < 0)`:                                      false,
		`count(f["object/label"], # > 7) == 2`:                               true,
		`sum(f["object/label"]) == 24`:                                       true,
		`max(f["object/label"]) == 9`:                                        true,
		`f[1] == 12`:                                                         true,
		`f["f"][0] == 11`:                                                    true,
		`f["len"] == 5`:                                                      true,
		`width % 7 == 3`:                                                     true,
		`width * 2 == 1000 && width / 8 == 62.5`:                             true,
		`let w = width; w > 499 && w < 501`:                                  true,
		`has("width") && has(width) && !has("absent")`:                       true,
		`has("mixed") && has("image/class/text")`:                            true,
		`!has("absent") || absent > 3`:                                       true,
		`width == 500 || absent > 3`:                                         true,
		`500 in list(width) && any(list("image/class/text"), # == "tulips")`: true,
		`len(list("absent")) == 0 && len(list(name)) == 2 && width == 500`:   true,
		`len(f["absent list"]) == 0`:                                         true,
		`any(f["absent list"], true)`:                                        false,
		`width == 500.0`:                                                     true,
		`width > 499.5 ? text == "tulips" : false`:                           true,
		"width >\n\t200":                                                     true,
	} {
		x, err := Compile(expression, known)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		for range 2 { // with a machine that was used, too
			if got, err := x.Match(context.Background(), &e.Features); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", expression, got, err, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		expression, message string
		column              int
	}{
		{`widht > 200`, `no feature "widht"; did you mean f["image/width"]?`, 1},
		{`width > 200 && f["image/heigth"] == 3`, `no feature "image/heigth"; did you mean f["image/height"]?`, 18},
		{`width > 2 && has("nope")`, `no feature "nope"; did you mean f["object/name"]?`, 18},
		{`width > 2 && label == 3`, `"label" may be any of f["image/class/label"], f["object/label"]: write the whole key`, 14},
		{`width == "500"`, `mismatched types int64 and string`, 7},
		{`text > 3`, `mismatched types string and int`, 6},
		{`width`, `expected bool, but got int64`, 1},
		{`name == "dog"`, `mismatched types []string and string`, 6},
		{`f["object/label"] > 3`, `mismatched types []int64 and int`, 19},
		{`any(name, # > 3)`, `mismatched types string and int`, 13},
		{`mixed == "x"`, `more than one kind`, 1},
		{`width >`, `ends too early`, 7},
		{``, `ends too early`, 1},
		{`width = 3`, `== compares two values`, 7},
		{`width > 3 && (`, ``, 14},
		{`now() > width`, `now`, 1},
		{`toJSON(width) == ""`, `toJSON`, 1},
		{`$env == 3`, `$env`, 1},
		{`$env["values"] == 3`, `$env`, 1},
		{`values == 3`, `no feature "values"`, 1},
		{`has(3)`, `has wants a key`, 5},
		{`has()`, `has wants one key`, 1},
		{`has(width + 1)`, `has wants a key`, 11},
		{`len(width) > 3`, `len`, 5},
		{`has`, `has`, 1},
		{`list() == 3`, `list wants one key`, 1},
		{`any(list("mixed"), # == 3)`, `more than one kind`, 5},
		{`list("nope") == 3`, `no feature "nope"`, 6},
		{`list(width) == 3`, `mismatched types []int64 and int`, 13},
		{`f[text] == 3`, ``, 3},
		{"`image/width` > 3", `mismatched types string and int`, 15},
	} {
		x, err := Compile(c.expression, known)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, %v; want an *Error", c.expression, x, err)
			continue
		}
		if !strings.Contains(e.Message, c.message) || c.column > 0 && e.Column != c.column {
			t.Errorf("%s: column %d: %s; want column %d: %s", c.expression, e.Column, e.Message, c.column, c.message)
		}
	}
}

// Errors show the expression with a mark under the word at fault.
func TestErrorPointsAtTheWord(t *testing.T) {
	_, err := Compile("width > 200 &&\nlabl == 3", known)
	want := "column 16: no feature \"labl\"; did you mean f[\"image/class/label\"], f[\"object/label\"]?\n" +
		"  width > 200 && labl == 3\n" +
		"                 ^"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func TestMissing(t *testing.T) {
	e := sample(t)
	for _, expression := range []string{`absent > 3`, `absent > 3 || width == 500`, `width == 500 && absent != 3`, `!(absent == 3)`} {
		x, err := Compile(expression, known)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.Match(context.Background(), &e.Features); got || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), `"absent"`) {
			t.Errorf("%s: %v, %v; want ErrMissing with the key", expression, got, err)
		}
	}
}

// The kinds given to Compile and those of a record may differ: that is always an error.
func TestMatchErrors(t *testing.T) {
	for _, c := range []struct {
		expression, message string
		features            func(*tfrecord.Builder)
	}{
		{`width > 3`, `"image/width" has bytes values; want int64`, func(b *tfrecord.Builder) { b.String("image/width", "x") }},
		{`width > 3`, `"image/width" has 2 values; want one`, func(b *tfrecord.Builder) { b.Int64("image/width", 1, 2) }},
		{`1 % width == 1`, `integer divide by zero`, func(b *tfrecord.Builder) { b.Int64("image/width", 0) }},
		{`len(1..width) > 3`, `too much memory for this record`, func(b *tfrecord.Builder) { b.Int64("image/width", 1<<40) }},
	} {
		x, err := Compile(c.expression, known)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		var b tfrecord.Builder
		c.features(&b)
		var e tfrecord.Example
		if err := e.Parse(b.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Match(context.Background(), &e.Features); got || err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v, %v; want an error with %q", c.expression, got, err, c.message)
		}
	}
}

func TestKeys(t *testing.T) {
	x, err := Compile(`width > 3 && has("absent") && width < 5`, known)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(x.Keys(), " "); got != "image/width absent" {
		t.Errorf("%q", got)
	}
}

func TestMatchIsSafeForConcurrentUse(t *testing.T) {
	x, err := Compile(`width > 100 && text == "tulips"`, known)
	if err != nil {
		t.Fatal(err)
	}
	var g sync.WaitGroup
	for i := range 4 {
		g.Go(func() {
			var b tfrecord.Builder
			b.Int64("image/width", int64(100+i%2))
			b.String("image/class/text", "tulips")
			var e tfrecord.Example
			if err := e.Parse(b.Append(nil)); err != nil {
				t.Error(err)
			}
			for range 100 {
				if got, err := x.Match(context.Background(), &e.Features); err != nil || got != (i%2 == 1) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	g.Wait()
}

// FuzzCompile wants neither a panic nor an endless evaluation of anything.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`label == 3 && width > 200`, `f["image/class/label"] in [1, 2] || has("score")`, `any(name, # matches "^d")`,
		`let x = width; x > 3 ? text == "a" : !(absent in 1..3)`, `len(f["object/label"]) == sum(map(f, # * 2))`, `f?.x ?? 3`, `{"a": width}.a == 1`,
		`width | max(3)`, `f[0:1]`, `"" < text; true`,
		`any(boxes, .text == "dog" && .area > 0.1)`, `boxes[0]?.label in map(boxes, #.label)`,
	} {
		f.Add(seed)
	}
	e := exampleOf(f, twoBoxes)
	f.Fuzz(func(t *testing.T, expression string) {
		x, err := Compile(expression, boxed)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Column < 1 {
				t.Errorf("%q: %v", expression, err)
			}
			return
		}
		got, err := x.Match(context.Background(), &e.Features)
		if got && err != nil {
			t.Errorf("%q matches, with the error %v", expression, err)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	e := sample(b)
	x, err := Compile(`f["image/class/label"] == 3 && width > 200`, known)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := x.Match(context.Background(), &e.Features); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
