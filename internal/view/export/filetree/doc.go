// Package filetree makes the files of an export, in a directory or below a name in an object store.
//
//	err := filetree.Export(ctx, "out", func(ctx context.Context, files filetree.Files) error {
//		err := files.Put("train/1.jpg", data)
//		return errors.Join(err, files.Finish())
//	}, &o, report)
//
// Names and bytes flow in. On a disk they are written next to the output and renamed when they are
// complete; in a store a marker lasts until the export is. Where the output exists, the same names
// and bytes are compared with it, and the first difference is compare.ErrDiffers.
//
// Nothing is ever written outside the output, whatever the names, and a format never knows whether
// its files are written or compared.
package filetree
