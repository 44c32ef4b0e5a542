// Package images exports images as files: in directories of their labels, or in WebDataset's tars.
//
//	err := images.WriteDirectories(ctx, in, files, &o)
//
// Rows flow in, files flow out. DirectoryWriter gives each image a path, for this room and for the
// formats of package boxes. The bytes of an encoded image never change, and a name from a record
// never becomes a path without package safename.
package images
