package convert

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// labelsFromFile replaces the listing by the pictures that a CSV names: a path
// below the source and a label in each row, in the columns path and label, or
// in the first two when there is no such header. Rows that name no usable file
// become bad samples. Pictures that no row names are skipped files.
func (l *listing) labelsFromFile(src string, o *ImageOptions) error {
	f, err := storage.Open(context.Background(), o.LabelFile)
	if err != nil {
		return fmt.Errorf("--labels: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && st.Size() > maxLabelFile {
		err = fmt.Errorf("%s: larger than %d bytes", o.LabelFile, maxLabelFile)
	}
	if err != nil {
		return fmt.Errorf("--labels: %w", err)
	}
	in := &rowReader{in: f}
	rows := csv.NewReader(in)
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true

	found := make(map[string]int, len(l.pictures))
	for i, p := range l.pictures {
		found[p.path] = i
	}
	t := labelTable{src: src, follow: o.FollowSymlinks || storage.Remote(src), file: storage.Base(o.LabelFile), labelColumn: 1, lines: map[string]int{}}
	w := &walker{o: o}
	var pictures []picture
	named, left := 0, int64(0)
	for first := true; ; first = false {
		in.left = maxLabelRow
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("--labels %s: %w", o.LabelFile, err)
		}
		line, _ := rows.FieldPos(0)
		if first {
			row[0] = strings.TrimPrefix(row[0], "\ufeff")
			if t.header(row) {
				continue
			}
		}
		p := t.picture(row, line)
		if p.bad == nil && !w.wanted(p.path) {
			left++
			continue
		}
		if p.bad == nil {
			if i, ok := found[p.path]; ok {
				p.size, p.modTime, p.version = l.pictures[i].size, l.pictures[i].modTime, l.pictures[i].version
				named++
			} else if t.find(&p, line); p.bad == nil {
				l.skipped-- // the walk took it for some other file
			}
		}
		pictures = append(pictures, p)
	}
	if left > 0 {
		o.note("%s of %s left out by --include and --exclude", plural(left, "row"), o.LabelFile)
	}
	if len(pictures) == 0 {
		return fmt.Errorf("--labels %s: no rows to use: want a path and a label in each", o.LabelFile)
	}
	if n := int64(len(l.pictures) - named); n > 0 {
		l.skipped += n
		o.note("%s not named in %s were left alone", plural(n, "picture"), o.LabelFile)
	}
	slices.SortStableFunc(pictures, func(a, b picture) int { return strings.Compare(a.path, b.path) })
	l.pictures = pictures
	return nil
}

// Limits of a label file in bytes: of all of it, which is held in memory, and of a row.
const (
	maxLabelFile = 1 << 30
	maxLabelRow  = 1 << 20
)

// rowReader fails when one row takes more bytes than are left for it.
type rowReader struct {
	in   io.Reader
	left int
}

func (r *rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d bytes: is a quote missing?", maxLabelRow)
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// labelTable reads the rows of a label file.
type labelTable struct {
	src, file               string
	follow                  bool // symbolic links
	pathColumn, labelColumn int
	lines                   map[string]int // where a path was named first
}

// header reports whether a row is a header, and takes its columns.
func (t *labelTable) header(row []string) bool {
	column := func(name string) int {
		return slices.IndexFunc(row, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
	}
	p, l := column("path"), column("label")
	if p < 0 || l < 0 {
		return false
	}
	t.pathColumn, t.labelColumn = p, l
	return true
}

// picture makes a sample of a row. What is wrong with the row is in its bad.
func (t *labelTable) picture(row []string, line int) picture {
	p := picture{path: fmt.Sprintf("%s:%d", t.file, line)} // the key of a row without a path
	bad := func(format string, args ...any) picture {
		p.bad = &shard.BadSample{
			Key: shard.Readable(p.path), Source: t.file, Line: int64(line), Stage: "read", Reason: fmt.Sprintf(format, args...),
		}
		return p
	}
	if len(row) <= max(t.pathColumn, t.labelColumn) {
		return bad("the row has %d fields: want a path and a label", len(row))
	}
	p.label = row[t.labelColumn]
	name := row[t.pathColumn]
	if name == "" {
		return bad("the path is empty")
	}
	if p.label == "" {
		return bad("%s has an empty label", shard.Readable(name))
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		p.path = name
		return bad("the path leads out of the source folder")
	}
	p.path = path.Clean(name)
	if before, ok := t.lines[p.path]; ok {
		p.path = fmt.Sprintf("%s:%d", t.file, line)
		return bad("%s is named twice, first on line %d", shard.Readable(name), before)
	}
	t.lines[p.path] = line
	return p
}

// find looks for a picture that the listing lacks: one whose name does not
// look like a picture's is taken all the same, for the row names it.
func (t *labelTable) find(p *picture, line int) {
	full := storage.Join(t.src, p.path)
	st, err := storage.Stat(full)
	reason := ""
	switch {
	case err == nil && !t.follow && t.linked(p.path):
		reason = "reached by a symbolic link (--follow-symlinks follows it): " + shard.Readable(p.path)
	case err != nil:
		reason = "no such file in the source folder: " + shard.Readable(p.path)
	case !st.Mode().IsRegular():
		reason = "not a file: " + shard.Readable(p.path)
	default:
		p.size, p.modTime = st.Size(), st.ModTime().UnixNano()
		if o, remote := st.Sys().(storage.Object); remote {
			p.version = o.Version
		}
		return
	}
	p.bad = &shard.BadSample{Key: shard.Readable(p.path), Source: t.file, Line: int64(line), Stage: "read", Reason: reason}
}

// linked reports whether a path below the source leads through a symbolic link.
func (t *labelTable) linked(rel string) bool {
	for dir := rel; dir != "."; dir = path.Dir(dir) {
		st, err := os.Lstat(filepath.Join(t.src, filepath.FromSlash(dir)))
		if err != nil || st.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
