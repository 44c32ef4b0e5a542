package options

import (
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
)

// LabelSpec configures the source of the labels of images.
type LabelSpec struct {
	// File is a table with the path of an image, relative to the source, and its label in each row:
	// CSV with any usual delimiter, a list with spaces, JSON lines or Parquet, plain or compressed
	// with gzip or zstd. Only images with a row become samples. Absolute paths below the source and
	// backslashes are understood. Labels that are all integers, such as 3 or 3.0, are ids as they
	// are, and others are names; a row without a label is not a sample. Default: all images; the
	// label is the name of the first directory.
	File string
	// PathColumn and Column name the columns of File with paths and labels, case-insensitively.
	// Default: path, file, filename, file_name, image, image_path or id; and label, class, target,
	// category or tags. A column whose cells are paths of images, and the only other one, need no
	// such names. Column also names the label column of a source of Parquet or Arrow files, with
	// the same meaning of labels.
	PathColumn, Column string
	// PathSuffix is appended to paths in File that do not end in it, such as ".jpg" to ids.
	// Default: none.
	PathSuffix string
	// SplitColumn names the column of File, or of Parquet and Arrow files, with the split of each
	// image. Default: split, subset or partition, if one of its values names train, val or test as
	// a directory may (training, dev, test2017). Options.Splits replaces it.
	SplitColumn string
	// Separator separates the labels of a row, such as "|". An image then has a list of labels, in
	// the order of the row, which may be empty; spaces around them do not count. A column of lists
	// is not split. Default: one label a row.
	Separator string
	// Strict makes it an error if images would be left out, such as those that File does not name,
	// or in formats that are not read, or if files that may state splits or labels are not read.
	// Default: they are in Summary.LeftOut.
	Strict bool
	// Classes is a file with the names of all labels, in the order of their ids, one a line. In a
	// line "DIRECTORY name", with a space or a tab, DIRECTORY is the label in the source, and name
	// its text: such a line is not a label as a whole, and its first word is one. Records then have
	// DIRECTORY as image/class/synset. Lines that each begin with a different integer state the
	// ids, unless such an integer is itself the name of a label, and so does a label map of
	// TensorFlow's Object Detection API. Labels that are integers and not names are ids of the
	// file. Labels that are not in the file are an error, except -1, which means no label.
	//
	// Default: labels that are integers from 0 to 1,000,000 are ids, and ids between them are named
	// by their numbers; other integers have no names. Names are sorted. Directories are
	// names, too, but sort as numbers if they are all integers, so that 0 to N-1 map to themselves.
	Classes string
	// None stores no labels. With File, ImageOptions.Features are required.
	None bool
	// Offset is the number of background names to put before the labels.
	Offset int
}

// check returns an error for invalid fields. features reports that File has further columns to use,
// columns that the source itself may have a column of labels.
func (l *LabelSpec) check(features, columns bool) error {
	switch {
	case l.None && l.Offset != 0:
		return plan.OptionErrorf(optname.LabelSpecOffset, "cannot be combined with %s", optname.LabelSpecNone)
	case l.None && l.Classes != "":
		return plan.OptionErrorf(optname.LabelSpecClasses, "cannot be combined with %s", optname.LabelSpecNone)
	case l.None && l.Column != "":
		return plan.OptionErrorf(optname.LabelSpecColumn, "cannot be combined with %s", optname.LabelSpecNone)
	case l.None && l.Separator != "":
		return plan.OptionErrorf(optname.LabelSpecSeparator, "cannot be combined with %s", optname.LabelSpecNone)
	case l.File == "" && l.SplitColumn != "" && !columns:
		return plan.OptionErrorf(optname.LabelSpecSplitColumn, "is for %s, and for images in Parquet or Arrow files", optname.LabelSpecFile)
	case l.File != "" && l.None && !features && l.SplitColumn == "":
		return plan.OptionErrorf(optname.LabelSpecFile, "cannot be combined with %s, unless %s or %s name columns", optname.LabelSpecNone, optname.ImageOptionsFeatures, optname.LabelSpecSplitColumn)
	case l.File == "" && l.PathColumn != "":
		return plan.OptionErrorf(optname.LabelSpecPathColumn, "is for %s", optname.LabelSpecFile)
	case l.File == "" && l.Column != "" && !columns:
		return plan.OptionErrorf(optname.LabelSpecColumn, "is for %s, and for images in Parquet or Arrow files", optname.LabelSpecFile)
	case l.File == "" && l.PathSuffix != "":
		return plan.OptionErrorf(optname.LabelSpecPathSuffix, "is for %s", optname.LabelSpecFile)
	case l.File == "" && l.Separator != "":
		return plan.OptionErrorf(optname.LabelSpecSeparator, "is for %s", optname.LabelSpecFile)
	case strings.Contains(l.PathSuffix, "/"):
		return plan.OptionErrorf(optname.LabelSpecPathSuffix, "%q: want a file name suffix, such as .jpg", l.PathSuffix)
	case l.Offset < 0 || l.Offset > 1<<20:
		return plan.OptionErrorf(optname.LabelSpecOffset, "%d is not between 0 and %d", l.Offset, 1<<20)
	}
	return nil
}

// mode returns the source of labels, as manifests record it. Column reports whether it is a column of
// the source.
func (l *LabelSpec) mode(column bool) string {
	switch {
	case column:
		return "column"
	case l.None:
		return "none"
	case l.File != "":
		return "file"
	}
	return "folders"
}

// Several reports whether a record has a list of labels.
func (l *LabelSpec) Several() bool { return l.Separator != "" }
