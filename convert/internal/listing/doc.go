// Package listing finds the images of a source with everything that is known before an image is read.
//
// [List] is the entry, and list.go reads downward from there. A walk finds the images (package walk); labels,
// splits, masks and annotations, which the source or other files state, are joined to them by name
// (classes.go, splits.go, masks.go, annotated.go). Files that hold images also state these by themselves
// (archives.go, records.go, rows.go). The resulting [Listing] also has the account of the parts of the
// source that are not used.
package listing
