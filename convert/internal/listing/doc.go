// Package listing finds the images of a source and what is known of them before one is read.
//
// A [Listing] has the images with their sizes, labels and splits, what is beside them (columns of a
// table, annotations, masks), and the account of what the source has and the set will not. A walker for
// each kind of origin finds the images; labels, splits and annotations are then joined to them by name.
package listing
