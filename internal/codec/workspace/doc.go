// Package workspace has the memory that work on images reuses from image to image. Functions take a
// [Scratch], which may be nil, and borrow one from a pool then:
//
//	scratch, free := workspace.Take(scratch)
//	defer free()
//	rows := &workspace.Of(scratch).Resizing
//
// What a large image made grow is freed by Trim, and never kept for the next one. Nothing in it has
// a meaning after the function that wrote it has returned.
package workspace
