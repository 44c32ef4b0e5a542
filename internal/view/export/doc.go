// Package export writes the records of a set as files for other programs: images in class
// directories, and CSV, JSON lines, Parquet or NumPy's .npz for any features.
//
//	report, err := export.Export(ctx, []string{"out"}, "photos", spec.Options{Format: spec.Directories})
//
// Package input reads records; tables, images and boxes have the formats, which write to a
// filetree; spec has the options and the report.
//
// Everything is written next to OUT under a name that begins with a dot, and renamed when it is
// complete: a failed run leaves nothing.
//
// Names in records are untrusted text. They become names that every system accepts, below OUT (see
// package safename). In addition, all files are made through an [os.Root], by which the system
// itself refuses to leave the directory.
package export
