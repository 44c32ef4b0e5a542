// Package warp moves pixels along a straight line: affine maps and perspectives, with the
// arithmetic of Pillow's Image.transform.
//
//	m := warp.Matrix{1, 0, -5, 0, 1, 0} // from a place in the result to a place in the source
//	warp.Apply(&dst, &src, &m, resample.Nearest, black, &columns)
//
// A [Matrix] maps places of the result to the source, never the other way. No product is fused with
// a sum.
package warp
