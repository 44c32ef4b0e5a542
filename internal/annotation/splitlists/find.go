package splitlists

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// MaxList is the maximum size of a list in bytes.
const MaxList = 256 << 20

const maxYAML = 1 << 20 // bytes

const sets = "ImageSets"

// MayState reports whether a file may state splits, by its path in a source of images: a list in a
// directory ImageSets anywhere, and otherwise of the directory that it is in, if that has all images.
func MayState(file string) bool {
	dir, base := path.Split(file)
	return isYAML(base) || dir == "" && annotation.HasExt(base, ".data") || isPlain(base) || annotation.HasExt(base, ".txt") && rootOf(file) != ""
}

// Root returns the directory of the images that a file which MayState is of, "" for the source itself,
// and whether it is of these if there are others. A list in a directory without images, such as
// meta/train.txt, is of those next to that. Holds reports whether a directory has images.
func Root(file string, holds func(dir string) bool) (dir string, among bool) {
	if dir = rootOf(file); dir != "" {
		return strings.TrimPrefix(dir, "."), true
	}
	dir, base := path.Dir(file), path.Base(file)
	if dir != "." && isPlain(base) && !holds(dir) {
		dir = path.Dir(dir)
	}
	return strings.TrimPrefix(dir, "."), false
}

func isYAML(base string) bool {
	return strings.EqualFold(base, "data.yaml") || strings.EqualFold(base, "data.yml")
}

func isPlain(base string) bool {
	return annotation.HasExt(base, ".txt") && imagetree.Split(strings.TrimSuffix(base, path.Ext(base))) != ""
}

// rootOf returns the directory with ImageSets that a file is in, or in a directory of; "" without.
func rootOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) != sets {
		dir = path.Dir(dir)
	}
	if path.Base(dir) != sets {
		return ""
	}
	return path.Dir(dir)
}

// Options select the lists to find.
type Options struct {
	// Segmentation uses the lists in ImageSets/Segmentation before those in ImageSets/Main, for
	// images with a mask.
	Segmentation bool
	// Holds reports whether a directory of the source has images. Default: all have.
	Holds func(dir string) bool
	// Wants, if not nil, reports whether Find takes a file, by its path in the directory.
	Wants func(file string) bool
}

// finder reads the lists of a directory.
type finder struct {
	ctx   context.Context
	in    Files
	o     *Options
	below string   // the directory, in the source of images
	files []string // in the directory and below
	lists []List
	form  int
}

// Read returns the lists among files of the source of images, each of which MayState. A file with
// other contents, such as a train.txt of sentences, is left out, or returned as a list that Assign
// does not use.
func Read(ctx context.Context, in Files, files []string, o Options) ([]List, error) {
	if o.Holds == nil {
		o.Holds = func(string) bool { return true }
	}
	by := map[string][]string{}
	for _, file := range files {
		dir, _ := Root(file, o.Holds)
		by[dir] = append(by[dir], strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"))
	}
	var lists []List
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		f := &finder{ctx: ctx, in: in, o: &o, below: dir, files: by[dir]}
		if err := f.read(); err != nil {
			return nil, err
		}
		lists = append(lists, f.lists...)
	}
	return lists, nil
}

// Find returns the lists in a directory that is not in the source of images. One that cannot be
// listed has none.
func Find(ctx context.Context, root storage.Location, o Options) ([]List, error) {
	f := &finder{ctx: ctx, in: Directory(root), o: &o}
	for _, dir := range []string{"", sets, sets + "/Main", sets + "/Segmentation", sets + "/Layout"} {
		entries, err := root.Join(dir).ReadDir(ctx)
		if storage.Missing(err) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if file := path.Join(dir, e.Name()); !e.IsDir() && MayState(file) && (o.Wants == nil || o.Wants(file)) {
				f.files = append(f.files, file)
			}
		}
	}
	err := f.read()
	return f.lists, err
}

// read reads the lists, in the order in which forms are used.
func (f *finder) read() error {
	slices.Sort(f.files)
	directories := []string{"/Main", "/Segmentation", "/Layout", ""}
	if f.o.Segmentation {
		directories[0], directories[1] = directories[1], directories[0]
	}
	forms := []func() error{f.yaml, f.darknet, f.plain}
	for _, dir := range directories {
		forms = append(forms, func() error { return f.imageSets(sets + dir) })
	}
	for form, read := range forms {
		f.form = form
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// those returns the files in root, without its directories, that a function accepts.
func (f *finder) those(accept func(base string) bool) (names []string) {
	for _, name := range f.files {
		if !strings.Contains(name, "/") && accept(name) {
			names = append(names, name)
		}
	}
	return names
}

// yaml reads data.yaml.
func (f *finder) yaml() error {
	for _, name := range f.those(isYAML) {
		text, err := f.text(name)
		if err != nil {
			return err
		}
		var document map[string]yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			return fmt.Errorf("%s: it cannot be read as YAML: %w", f.path(name), err)
		}
		root := ""
		if n, ok := document["path"]; ok && n.Kind == yaml.ScalarNode {
			root = n.Value
		}
		var lists []List
		for key, n := range document {
			split := imagetree.Split(key)
			if n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" {
				continue
			}
			if split == "" {
				if !IsYAMLKey(key) && naming.IsSplit(key) && n.Kind == yaml.ScalarNode && path.Base(n.Value) == key && n.Value != key {
					l := f.list(key, name)
					l.Directories, l.Optional = []string{n.Value}, true
					lists = append(lists, l)
				}
				continue
			}
			l := f.list(key, name)
			entries := []*yaml.Node{&n}
			if n.Kind == yaml.SequenceNode {
				entries = n.Content
			}
			for _, entry := range entries {
				if entry.Kind != yaml.ScalarNode {
					return fmt.Errorf("%s: line %d: %s is not a path", f.path(name), entry.Line, key)
				}
				if imagetree.IsImage(entry.Value) {
					l.Names = append(l.Names, entry.Value)
					continue
				}
				if !annotation.HasExt(entry.Value, ".txt") {
					l.Directories = append(l.Directories, strings.TrimSuffix(entry.Value, "/"))
					continue
				}
				if err := f.addNames(&l, root, entry.Value); err != nil {
					return fmt.Errorf("%s: line %d: %w", f.path(name), entry.Line, err)
				}
			}
			lists = append(lists, l)
		}
		slices.SortFunc(lists, func(a, b List) int { return strings.Compare(a.Split, b.Split) })
		f.lists = append(f.lists, lists...)
	}
	return nil
}

// IsYAMLKey reports whether a key has a meaning in data.yaml other than a split.
func IsYAMLKey(key string) bool {
	return slices.Contains([]string{"path", "names", "nc", "download", "kpt_shape", "flip_idx", "kpt_names", "channels"}, key)
}

// darknet reads FILE.data: lines such as "train = data/train.txt".
func (f *finder) darknet() error {
	for _, name := range f.those(func(base string) bool { return annotation.HasExt(base, ".data") }) {
		text, err := f.text(name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(line, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if !ok || imagetree.Split(key) == "" || value == "" {
				continue
			}
			l := f.list(key, name)
			if err := f.addNames(&l, "", value); err != nil {
				return fmt.Errorf("%s: %s: %w", f.path(name), key, err)
			}
			f.lists = append(f.lists, l)
		}
	}
	return nil
}

// plain reads train.txt and the like. If some lines do not have the extension of an image, or the file
// is in a directory without images, each must name one.
func (f *finder) plain() error {
	for _, name := range f.files {
		base := path.Base(name)
		if rootOf(name) != "" || !isPlain(base) {
			continue
		}
		lines, err := f.lines(name)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			continue
		}
		l := f.list(strings.TrimSuffix(base, path.Ext(base)), name)
		l.Names, l.Tentative = lines, base != name || slices.ContainsFunc(lines, func(line string) bool { return !namesImage(line) })
		f.lists = append(f.lists, l)
	}
	return nil
}

// imageSets reads the lists of a directory of ImageSets.
func (f *finder) imageSets(dir string) error {
	byName := map[string]List{}
	for _, file := range f.files {
		base := path.Base(file)
		split := strings.TrimSuffix(base, path.Ext(base))
		if path.Dir(file) != dir || !naming.IsSplit(split) {
			continue
		}
		lines, err := f.lines(file)
		if err != nil {
			return err
		}
		if known := imagetree.Split(split) != "" || split == trainval; len(lines) == 0 || !known && areOfClass(lines) {
			continue
		}
		l := f.list(split, file)
		l.Names = lines
		byName[split] = l
	}
	// Usually trainval has the images of train and val again.
	both := map[string]bool{}
	for name, l := range byName {
		if split := imagetree.Split(name); split == "train" || split == "val" {
			for _, line := range l.Names {
				both[line] = true
			}
		}
	}
	if slices.ContainsFunc(byName[trainval].Names, func(line string) bool { return both[line] }) {
		delete(byName, trainval)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.lists = append(f.lists, byName[name])
	}
	return nil
}

const trainval = "trainval"

// areOfClass reports whether lines list images for a class, as in dog_train.txt: with 1, 0 or -1
// after each name.
func areOfClass(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool {
		fields := strings.Fields(line)
		last := fields[len(fields)-1]
		return len(fields) < 2 || last != "1" && last != "0" && last != "-1"
	})
}

// list returns a list that a file states for the split of a name.
func (f *finder) list(name, file string) List {
	return List{Split: cmp.Or(imagetree.Split(name), name), As: name, Source: path.Join(f.below, file), File: f.path(file), Below: f.below, form: f.form}
}

// path returns the path of a file in messages.
func (f *finder) path(file string) string { return f.in.Path(path.Join(f.below, file)) }

// addNames adds the paths in a file, which is named from a root on another machine. One that is not
// here counts as a name of no image: data.yaml often names lists that were left out.
func (f *finder) addNames(l *List, root, file string) error {
	parts := names(path.Join(root, file))
	for ; len(parts) > 0; parts = parts[1:] {
		at := strings.Join(parts, "/")
		lines, err := f.lines(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l.Names = append(l.Names, lines...)
		l.Reads = append(l.Reads, path.Join(f.below, at))
		return err
	}
	l.Names = append(l.Names, file) // not the name of an image either
	return nil
}

// text reads a file.
func (f *finder) text(file string) ([]byte, error) {
	data, err := f.in.ReadFile(f.ctx, path.Join(f.below, file), maxYAML)
	if err != nil {
		return nil, err
	}
	text, err := annotation.Text(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path(file), err)
	}
	return text, nil
}

// lines returns the lines of a file that are not blank, without spaces around them.
func (f *finder) lines(file string) (lines []string, err error) {
	data, err := f.in.ReadFile(f.ctx, path.Join(f.below, file), MaxList)
	if err != nil {
		return nil, err
	}
	text, err := annotation.TrimMark(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path(file), err)
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	return lines, nil
}
