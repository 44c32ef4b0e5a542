// Package listing finds the images of a source with everything that is known before an image is read.
//
// [List] is the entry. A walk finds the images (package walk); labels, splits, masks and annotations,
// which the source or other files state, are joined to them by name (classes.go, splits.go, masks.go,
// annotated.go); files that hold images also state these by themselves (packed.go). The resulting
// [Listing] also has the account of the parts of the source that are not used.
package listing
