// Package export writes the records of a set as files that other programs
// read: images in class directories, and CSV, JSON lines, Parquet or NumPy's .npz
// for any features.
//
//	report, err := export.Export(ctx, []string{"out"}, "photos", export.Options{Format: export.Directories})
//
// Everything is written next to OUT under a name that begins with a dot, and renamed when it is
// complete: a failed run leaves nothing.
//
// Names in records are text of strangers. What they become is a name that
// every system takes, below OUT (see package safename); besides, all files are made
// through an [os.Root], by which the system itself refuses to leave the directory.
package export
