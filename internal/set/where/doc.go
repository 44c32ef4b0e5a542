// Package where is the expression of `tfrec filter --where`: a condition on
// the features of an Example, with types that are checked before the first
// record is read.
//
//	x, err := where.Compile(`label == 3 && width > 200`, []where.Feature{
//		{Key: "image/class/label", Kind: tfrecord.KindInt64},
//		{Key: "image/width", Kind: tfrecord.KindInt64},
//	})
//	for record := range records {
//		if err := example.Parse(record); err != nil { ... }
//		keep, err := x.Match(ctx, &example.Features)
//	}
//
// The language is github.com/expr-lang/expr: comparisons, && || !, arithmetic, in, matches,
// any(list, # > 0), and so on, but without features whose result depends on the time. Without
// loops, it always ends. The work for a record is bounded (meter.go): conditions on each value
// always fit, and conditions on all pairs of values fit for lists of some 3,000.
//
// A feature is named by its key, by the part after the key's last slash if that is unique, or as
// f["any/key"]. Its type is
//
//   - int, float or string when a record has one value of it; the string of a
//     bytes feature is its bytes, whatever they are,
//   - a list of these when a record may have any number; a list is empty for records without the
//     feature. list("key") is a list in any case.
//
// boxes is the list of the boxes of a record of TensorFlow's Object Detection API (package
// objects), each with xmin, ymin, xmax, ymax, width, height, area, label, text, difficult,
// truncated and crowd: any(boxes, .text == "dog" && .area > 0.1). It is made when the expression
// comes to it.
//
// A record does not match if it has no value of a feature that the evaluation needs and that is not
// a list: that is [ErrMissing], for the caller to count. has("key") checks first: !has("width") ||
// width > 200. && and || evaluate their right side only when the left one leaves the result open.
//
// Floats are float32 in a record and are compared as float64, exactly: 0.1 as written here is not a
// float32, so score == 0.1 is never true. Use < and >.
package where
