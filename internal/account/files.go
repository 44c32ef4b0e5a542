package account

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/imagetree"
)

// byExtension are the reasons by extension, in lower case.
var byExtension = map[string]Reason{}

func init() {
	for reason, extensions := range map[Reason]string{
		HEIC: ".heic .heif .hif", AVIF: ".avif", JPEGXL: ".jxl", JPEG2000: ".jp2 .j2k .jpf .jpx .jpm", PSD: ".psd .psb", SVG: ".svg .svgz", PDF: ".pdf",
		RAW:         ".arw .cr2 .cr3 .dng .nef .nrw .orf .pef .raf .raw .rw2 .srw",
		ImageFormat: ".bpg .dcm .dds .exr .hdr .ico .jls .pbm .pcx .pgm .pnm .ppm .qoi .tga .xcf",
		Video:       ".3gp .avi .flv .m4v .mkv .mov .mp4 .mpeg .mpg .webm .wmv", Audio: ".aac .flac .m4a .mp3 .ogg .opus .wav",
		Archive: ".7z .bz2 .rar .tar .tgz .zip .tzst", Records: ".arrow .feather .parquet .record .tfrecord .tfrecords",
	} {
		for ext := range strings.FieldsSeq(extensions) {
			byExtension[ext] = reason
		}
	}
}

// byName are the reasons by the whole name of a file, in lower case.
var byName = map[string]Reason{
	"dataset_info.json": Metadata, "metadata.json": Metadata, "sample_submission.csv": Metadata,
	"data.yaml": Splits, "data.yml": Splits, "dataset.yaml": Splits, "dataset.yml": Splits, "obj.data": Splits,
	"_classes.csv": Labels, "metadata.parquet": Labels,
}

var (
	// lists and tables are the extensions of files that may state splits and labels.
	lists  = []string{".list", ".lst", ".txt"}
	tables = []string{".csv", ".json", ".jsonl", ".mat", ".ndjson", ".npy", ".npz", ".pickle", ".pkl", ".tsv", ".xls", ".xlsx"}
	// annotations are the extensions of files with the labels of one image.
	annotations = []string{".cls", ".json", ".txt", ".xml"}

	// documents are words in the names of files that are about something else.
	documents = []string{"config", "configs", "history", "licence", "license", "log", "logs", "readme", "requirements", "results"}
	// splitWords are words in the names of files that state splits, in addition to the names of
	// splits.
	splitWords = []string{"fold", "folds", "partition", "partitions", "split", "splits", "subset", "subsets", "trainval"}
	// labelWords are words in the names of files that state labels.
	labelWords = []string{
		"annot", "annotation", "annotations", "annots", "attr", "attributes", "bbox", "bboxes", "boxes", "caption", "captions", "instances", "label", "labels", "metadata",
		"panoptic", "keypoints", "stuff", "tags", "target", "targets",
	}
	// labelDirectories are the names of directories of files with the labels of one image each.
	labelDirectories = []string{"annotation", "annotations", "annots", "label", "labels", "xmls"}
)

// OfFile returns the reason for a file that is not an image, by its name.
func OfFile(name string) Reason {
	base := path.Base(name)
	for _, compression := range []string{".gz", ".zst"} {
		if bare, ok := strings.CutSuffix(strings.ToLower(base), compression); ok && path.Ext(bare) != "" {
			base = base[:len(bare)]
		}
	}
	lower := strings.ToLower(base)
	if r, ok := byName[lower]; ok {
		return r
	}
	if ListsClasses(base) {
		return Metadata
	}
	if strings.Contains("/"+name, "/ImageSets/") {
		return Splits
	}
	if r, ok := byExtension[path.Ext(lower)]; ok {
		return r
	}
	if strings.Contains(lower, ".tfrecord-") || strings.Contains(lower, ".record-") {
		return Records
	}
	return stating(path.Dir(name), base)
}

// ListsClasses reports whether a file lists the names of classes, by its name. It is metadata, as it
// does not state the label of an image.
func ListsClasses(base string) bool {
	base = strings.ToLower(base)
	switch path.Ext(base) {
	case ".names", ".pbtxt":
		return true
	case ".txt":
		return slices.Contains([]string{"classes.txt", "labelmap.txt", "labels.txt"}, base) || strings.HasSuffix(base, ".labels.txt") // of TFDS
	}
	return false
}

// stating returns the reason for a file that may state splits or labels by the words in its name,
// or by its directory; Other for all others.
func stating(dir, base string) Reason {
	ext := strings.ToLower(path.Ext(base))
	list, table := slices.Contains(lists, ext), slices.Contains(tables, ext)
	words := wordsOf(strings.TrimSuffix(base, path.Ext(base)))
	has := func(known []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(known, word) })
	}
	splits := has(splitWords) || slices.ContainsFunc(words, namesSplit)
	inLabels := slices.ContainsFunc(strings.Split(strings.ToLower(dir), "/"), func(name string) bool { return slices.Contains(labelDirectories, name) })
	switch {
	case has(documents):
		return Other
	case inLabels && (list || table || slices.Contains(annotations, ext)):
		return Labels
	case list && splits:
		return Splits
	case (list || table) && has(labelWords), table && splits:
		return Labels
	}
	return Other
}

// namesSplit reports whether a word names a split, or a list of one: trainlist.
func namesSplit(word string) bool {
	for _, of := range []string{"list", "set", "split"} {
		if bare, ok := strings.CutSuffix(word, of); ok {
			word = bare
		}
	}
	return imagetree.Split(word) != ""
}

// wordsOf returns the words of a name in lower case: a word is of letters, and another begins at a
// capital after a small letter.
func wordsOf(name string) (words []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && len(word) > 0 && unicode.IsLower(word[len(word)-1]) {
			flush()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
	}
	flush()
	return words
}

// MayAnnotate reports whether a file may have the labels of the image that is named like it, but for
// the extension.
func MayAnnotate(name string) bool {
	return slices.Contains(annotations, strings.ToLower(path.Ext(name)))
}
