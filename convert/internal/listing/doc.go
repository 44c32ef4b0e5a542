// Package listing finds the images of a source with everything that is known before an image is read.
//
// A [Listing] has the images with their sizes, labels and splits, the data that come with them
// (columns of a table, annotations, masks), and the account of the parts of the source that are not
// used. A walker for each kind of origin finds the images; labels, splits and annotations are then
// joined to them by name.
package listing
