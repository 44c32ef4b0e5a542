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
	"github.com/tfrec/tfrec/internal/storage"
)

const (
	maxYAML = 1 << 20   // bytes
	maxList = 256 << 20 // bytes
)

const sets = "ImageSets"

// MayState reports whether a file may state splits, by its path in a source of images: it is one of
// those in the source itself, or in a directory ImageSets anywhere.
func MayState(file string) bool {
	dir, base := path.Split(file)
	if dir == "" {
		return isYAML(base) || annotation.HasExt(base, ".data") || isPlain(base)
	}
	return annotation.HasExt(base, ".txt") && rootOf(file) != ""
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

// finder reads the lists of a directory.
type finder struct {
	ctx   context.Context
	root  storage.Location
	below string   // where root is in the source of images
	files []string // below root
	lists []List
}

// Read returns the lists among files, which are below root, the source of images, and which MayState.
// A file that is something else, such as a train.txt that has no paths, is no list.
func Read(ctx context.Context, root storage.Location, files []string) ([]List, error) {
	by := map[string][]string{}
	for _, file := range files {
		dir := cmp.Or(rootOf(file), ".")
		by[dir] = append(by[dir], strings.TrimPrefix(file, dir+"/"))
	}
	var lists []List
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		f := &finder{ctx: ctx, root: root.Join(dir), files: by[dir]}
		if dir != "." {
			f.below = dir
		} else {
			f.root = root
		}
		if err := f.read(); err != nil {
			return nil, err
		}
		lists = append(lists, f.lists...)
	}
	return lists, nil
}

// Find returns the lists in a directory that is not in the source of images. One that cannot be
// listed has none.
func Find(ctx context.Context, root storage.Location) ([]List, error) {
	f := &finder{ctx: ctx, root: root}
	for _, dir := range []string{"", sets, sets + "/Main", sets + "/Segmentation", sets + "/Layout"} {
		entries, err := root.Join(dir).ReadDir(ctx)
		if storage.Missing(err) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if file := path.Join(dir, e.Name()); !e.IsDir() && MayState(file) {
				f.files = append(f.files, file)
			}
		}
	}
	err := f.read()
	return f.lists, err
}

// read reads the lists of the first form that there is: the others say the same again.
func (f *finder) read() error {
	slices.Sort(f.files)
	for _, read := range []func() error{f.yaml, f.darknet, f.plain, f.imageSets} {
		if err := read(); err != nil || len(f.lists) > 0 {
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
		text, err := f.text(name, maxYAML)
		if err != nil {
			return err
		}
		var document map[string]yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			return fmt.Errorf("%s: it cannot be read as YAML: %w", f.root.Join(name).Path(), err)
		}
		root := ""
		if n, ok := document["path"]; ok && n.Kind == yaml.ScalarNode {
			root = n.Value
		}
		for key, n := range document {
			split := imagetree.Split(key)
			if split == "" || n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" {
				continue
			}
			l := f.list(split, name)
			entries := []*yaml.Node{&n}
			if n.Kind == yaml.SequenceNode {
				entries = n.Content
			}
			for _, entry := range entries {
				if entry.Kind != yaml.ScalarNode {
					return fmt.Errorf("%s: line %d: %s is not a path", f.root.Join(name).Path(), entry.Line, key)
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
					return fmt.Errorf("%s: line %d: %w", f.root.Join(name).Path(), entry.Line, err)
				}
			}
			f.lists = append(f.lists, l)
		}
		slices.SortFunc(f.lists, func(a, b List) int { return strings.Compare(a.Split, b.Split) })
	}
	return nil
}

// darknet reads FILE.data: lines such as "train = data/train.txt".
func (f *finder) darknet() error {
	for _, name := range f.those(func(base string) bool { return annotation.HasExt(base, ".data") }) {
		text, err := f.text(name, maxYAML)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(line, "=")
			split := imagetree.Split(strings.TrimSpace(key))
			if value = strings.TrimSpace(value); !ok || split == "" || value == "" {
				continue
			}
			l := f.list(split, name)
			if err := f.addNames(&l, "", value); err != nil {
				return fmt.Errorf("%s: %s: %w", f.root.Join(name).Path(), strings.TrimSpace(key), err)
			}
			f.lists = append(f.lists, l)
		}
	}
	return nil
}

// plain reads train.txt and the like, if their lines are paths of images.
func (f *finder) plain() error {
	for _, name := range f.those(isPlain) {
		lines, err := f.lines(f.root.Join(name))
		if err != nil {
			return err
		}
		if len(lines) == 0 || slices.ContainsFunc(lines, func(line string) bool { return !imagetree.IsImage(line) }) {
			continue
		}
		l := f.list(imagetree.Split(strings.TrimSuffix(name, path.Ext(name))), name)
		l.Names = lines
		f.lists = append(f.lists, l)
	}
	return nil
}

// imageSets reads the lists of the first directory of ImageSets that has some.
func (f *finder) imageSets() error {
	for _, dir := range []string{"/Main", "/Segmentation", "/Layout", ""} {
		byName := map[string]List{}
		for _, file := range f.files {
			base := path.Base(file)
			split := strings.TrimSuffix(base, path.Ext(base))
			if path.Dir(file) != sets+dir || !naming.IsSplit(split) {
				continue
			}
			lines, err := f.lines(f.root.Join(file))
			if err != nil {
				return err
			}
			// Lists of a class, such as dog_train.txt, have 1, 0 or -1 after each name.
			if len(lines) == 0 || slices.ContainsFunc(lines, func(line string) bool { return strings.ContainsAny(line, " \t") }) {
				continue
			}
			l := f.list(cmp.Or(imagetree.Split(split), split), file)
			l.Names, l.Bare = lines, true
			byName[split] = l
		}
		if has(byName, "train") || has(byName, "val") {
			delete(byName, "trainval") // both again
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			f.lists = append(f.lists, byName[name])
		}
		if len(f.lists) > 0 {
			return nil
		}
	}
	return nil
}

// list returns a list that a file states.
func (f *finder) list(split, file string) List {
	return List{Split: split, Source: path.Join(f.below, file), File: f.root.Join(file).Path(), Below: f.below}
}

func has(lists map[string]List, name string) bool {
	_, ok := lists[name]
	return ok
}

// addNames adds the paths in a file, which is named from a root on another machine. One that is not
// here counts as a name of no image: data.yaml often names lists that were left out.
func (f *finder) addNames(l *List, root, file string) error {
	parts := names(path.Join(root, file))
	for ; len(parts) > 0; parts = parts[1:] {
		at := f.root.Join(strings.Join(parts, "/"))
		if st, err := at.Stat(f.ctx); err != nil || !st.Mode().IsRegular() {
			continue
		}
		lines, err := f.lines(at)
		l.Names = append(l.Names, lines...)
		l.Reads = append(l.Reads, path.Join(f.below, strings.Join(parts, "/")))
		return err
	}
	l.Names = append(l.Names, file) // which is no image either
	return nil
}

// text reads a file below root.
func (f *finder) text(name string, limit int64) ([]byte, error) {
	at := f.root.Join(name)
	data, err := at.ReadFile(f.ctx, limit)
	if err != nil {
		return nil, err
	}
	text, err := annotation.Text(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.Path(), err)
	}
	return text, nil
}

// lines returns the lines of a file that are not blank, without spaces around them.
func (f *finder) lines(at storage.Location) (lines []string, err error) {
	data, err := at.ReadFile(f.ctx, maxList)
	if err != nil {
		return nil, err
	}
	text, err := annotation.TrimMark(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.Path(), err)
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	return lines, nil
}
