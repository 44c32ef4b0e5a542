// Package exact has functions of package math with the same bits on every processor. What package
// math computes may differ in the last bit from one architecture to the next, and Go may fuse a
// product with a sum. Here every product is converted explicitly, so that it is rounded; no
// function calls one of package math that is not exact itself.
//
//	sin, cos := exact.SinCos(exact.Radians(30))
package exact
