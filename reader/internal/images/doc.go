// Package images makes batches of images of records: decoded, augmented and resized, each into its row
// of the tensor, with the labels, masks, objects, frames and columns of the records.
//
// [Batches] is a flow with workers of package flows. A worker decodes an image up to the policy, the
// resize and the normalisation, which a backend of package augment does for many images at once.
package images
