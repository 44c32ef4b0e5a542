package walk

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// otherFile is a file of the source without an image's extension. Its content may be an image.
type otherFile struct {
	path    string
	version string // in a store, as size and modTime; on disk a call to Stat gets them
	size    int64
	modTime int64
}

// noImages are extensions of files that are looked into only with SelectSpec.ByContent, in
// lower case.
var noImages = []string{
	".bin", ".cfg", ".cls", ".css", ".csv", ".db", ".h5", ".hdf5", ".htm", ".html", ".ini", ".ipynb", ".js", ".json", ".jsonl", ".labels",
	".lock", ".log", ".mat", ".md", ".md5", ".mdb", ".names", ".ndjson", ".npy", ".npz", ".onnx", ".pickle", ".pkl", ".pt", ".pth", ".py",
	".rst", ".sh", ".sha256", ".sqlite", ".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml",
}

// leave counts a file that does not have the name of an image, or that the globs leave out.
func (w *treeWalker) leave(f otherFile) {
	w.Skipped++
	if w.mayState(f.path) {
		w.Stating = append(w.Stating, StatingFile{f.path, w.uses(f.path)}) // counted once it is known whether they are used
		return
	}
	switch {
	case w.uses(f.path):
	case imagetree.IsImage(f.path):
		w.explain(account.Excluded, f.path)
	case w.o.Select.Wants(f.path) && (w.o.Select.ByContent || perhapsImage(f.path)):
		w.others = append(w.others, f)
	default:
		w.explainByName(f.path)
	}
}

// perhapsImage reports whether a file without an image's extension is looked into.
func perhapsImage(rel string) bool {
	return account.OfFile(rel) == account.Other && !slices.Contains(noImages, strings.ToLower(path.Ext(rel)))
}

// looks bounds the number of files of an extension that are looked into, unless one of them is an
// image; fewer in a store, where each is a request.
const (
	looks       = 8
	looksRemote = 2
)

// mostLooks bounds the number of files looked into in all, unless SelectSpec.ByContent is set: each
// may have an extension of its own.
const (
	mostLooks       = 1 << 13
	mostLooksRemote = 1 << 7
)

// lookInto looks into the other files: those that are images by their content are samples with
// SelectSpec.ByContent, and otherwise counted by themselves.
func (w *treeWalker) lookInto(root storage.Location) error {
	byExt := map[string][]otherFile{}
	for _, f := range w.others {
		ext := strings.ToLower(path.Ext(f.path))
		byExt[ext] = append(byExt[ext], f)
	}
	most, left := looks, mostLooks
	if root.Remote() {
		most, left = looksRemote, mostLooksRemote
	}
	for _, ext := range slices.Sorted(maps.Keys(byExt)) {
		files := byExt[ext]
		all := w.o.Select.ByContent || len(files) <= most
		for i := 0; i < most && !all && left > 0; i++ {
			left--
			is, err := w.isImage(root, files[i*len(files)/most])
			if err != nil {
				return err
			}
			all = is
		}
		for _, f := range files {
			is := false
			if all && (left > 0 || w.o.Select.ByContent) {
				left--
				var err error
				if is, err = w.isImage(root, f); err != nil {
					return err
				}
			}
			switch {
			case is && w.o.Select.ByContent:
				w.Skipped--
				if err := w.addOther(root, f); err != nil {
					return err
				}
			case is:
				w.explain(account.ByContent, f.path)
			default:
				w.explainByName(f.path)
			}
		}
	}
	w.others = nil
	return nil
}

// addOther adds an image without an image's extension.
func (w *treeWalker) addOther(root storage.Location, f otherFile) error {
	if !root.Remote() {
		st, err := root.Join(f.path).Stat(w.ctx)
		if err != nil {
			return fmt.Errorf("list source: %w", err)
		}
		f.size, f.modTime, f.version = st.Size(), st.ModTime().UnixNano(), origin.ChangeVersion(storage.Change(st))
	}
	w.images.add(f.path, f.version, f.size, f.modTime)
	return nil
}

// headSize is the number of bytes in which an image is recognized.
const headSize = 32

// beginsImage reports whether the first bytes of a file are the beginning of an image.
func beginsImage(head []byte) bool {
	format := augment.Sniff(head)
	// BM alone is the beginning of texts, too.
	return format != "" && (format != augment.BMP || recordscan.ImageFormat(head) == string(augment.BMP))
}

// isImage reports whether a file begins like an image. With SelectSpec.ByContent it is an error if the
// file cannot be read.
func (w *treeWalker) isImage(root storage.Location, f otherFile) (bool, error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	in, err := root.Join(f.path).Open(w.ctx)
	if err == nil {
		defer in.Close()
		head := make([]byte, headSize)
		n, _ := in.ReadAt(head, 0)
		return beginsImage(head[:n]), nil
	}
	if w.o.Select.ByContent && !origin.LeadsNowhere(err) {
		return false, fmt.Errorf("list source: %w", err)
	}
	return false, nil
}

// findUsed finds the files and directories below root that the run reads for something other than
// images.
func (w *treeWalker) findUsed(root storage.Location, reads []string) {
	of := append([]string{w.o.Annotations.Masks, w.o.Labels.File, w.o.Labels.Classes}, reads...)
	for _, f := range w.o.Annotations.Files {
		of = append(of, f.Path)
	}
	for _, p := range of {
		if p == "" {
			continue
		}
		at := storage.Parse(p)
		if _, ok := origin.Below(at, root); ok {
			w.used = append(w.used, "")
		} else if rel, ok := origin.Below(root, at); ok {
			w.used = append(w.used, rel)
		}
	}
}

// uses reports whether the run reads a file of the source for something other than images.
func (w *treeWalker) uses(rel string) bool {
	return slices.ContainsFunc(w.used, func(used string) bool {
		return rel == used || (used == "" || table.Within(rel, used)) && slices.Contains(annotationExtensions, strings.ToLower(path.Ext(rel)))
	})
}

// annotationExtensions are the extensions of files that are read in directories of annotations or
// masks.
var annotationExtensions = []string{".xml", ".json", ".txt", ".yaml", ".yml", ".names", ".labels", ".png"}
