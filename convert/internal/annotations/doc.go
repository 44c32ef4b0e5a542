// Package annotations reads the annotations that options name: the files of AnnotationSpec.Files, of
// whatever format, as one [Union] with common classes and keypoints, and the [Colors] of RGB masks.
//
// It also makes the ledger entries for annotations that cannot be used. Package listing matches the
// annotations with images.
package annotations
