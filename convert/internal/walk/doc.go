// Package walk finds the images of a source: [Tree] in a directory, [Archives], [Records] and [Rows] in
// files that hold images.
//
// All give what they have [Found]: an origin, the images that the options select, and an account of the
// others. Packed sources also give what they state about labels, splits and features. Matching all of
// this is the task of package listing.
package walk
