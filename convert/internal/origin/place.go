package origin

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/textfile"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Place is the target of a source's path: a directory of images, archives, tables, or TFRecords.
type Place struct {
	At        storage.Location
	Directory os.FileInfo        // nil for files
	Archives  []storage.Location // itself, or those that match it as a glob
	Tables    []storage.Location // likewise
	Records   []shard.Source     // files of records
}

// PlaceOf inspects the target of a source's path. It detects tables by the content of the first
// file, and records by their names or that content and, in a directory, by its manifest or the
// names in it. If records is set, everything but tables is read as records.
func PlaceOf(ctx context.Context, src storage.Location, records bool) (Place, error) {
	p := Place{At: src}
	st, err := src.Stat(ctx)
	isDir := err == nil && st.IsDir()
	var files []storage.Location
	if !isDir && !isRecordName(src.Base()) {
		if files, err = filesAt(ctx, src, err); err == nil {
			table, framed := lookInto(ctx, files[0])
			if table {
				p.Tables = files
				return p, nil
			}
			records = records || framed
		}
	}
	switch {
	case records || !isDir && isRecordName(src.Base()) || isDir && isSet(ctx, src):
		if p.Records, err = shard.Expand(ctx, []string{src.Path()}, shard.ExpandOptions{}); err != nil {
			err = fmt.Errorf("source: %w", err)
		}
	case isDir:
		p.Directory = st
	default:
		p.Archives = files
	}
	return p, err
}

// filesAt returns a file, or the files that match it as a glob; err is the result of looking for
// the file.
func filesAt(ctx context.Context, src storage.Location, err error) ([]storage.Location, error) {
	switch {
	case err == nil:
		return []storage.Location{src}, nil
	case !storage.Missing(err) || !strings.ContainsAny(src.Path(), "*?["):
		return nil, fmt.Errorf("source: %w", err)
	}
	files, directories, err := storage.GlobKinds(ctx, src.Path())
	switch {
	case err != nil:
		err = fmt.Errorf("source: %w", err)
	case len(directories) > 0:
		err = fmt.Errorf("source %s matches the directory %s: give one directory, or a glob of archives or tables", src.Path(), directories[0].Path())
	case len(files) == 0:
		err = fmt.Errorf("source: no archive matches %s: %w", src.Path(), os.ErrNotExist)
	}
	return files, err
}

// lookInto reports whether a file is a table, of Parquet or Arrow, or has records, by its first
// bytes. A file with the name of an archive is not opened.
func lookInto(ctx context.Context, at storage.Location) (table, records bool) {
	if slices.Contains(archiveExtensions, extensionOf(at.Base())) {
		return false, false
	}
	f, err := textfile.Open(ctx, at.Path())
	if err != nil {
		return false, false // the next attempt to open it reports the error
	}
	_, frame := tfrecord.Framing{MaxRecord: 1 << 62}.Check(f.Head())
	format := tablefile.FormatOfHead(f.Head())
	return format == tablefile.Parquet || format == tablefile.Arrow, len(f.Head()) >= tfrecord.HeaderSize && frame != tfrecord.FrameBroken
}

// Extensions of archives and of tables, in lower case.
var (
	archiveExtensions = []string{".tar", ".tgz", ".zip"}
	tableExtensions   = []string{".parquet", ".arrow", ".feather"}
)

// extensionOf returns the extension of a name in lower case, ignoring the extension of a
// compression.
func extensionOf(name string) string {
	return path.Ext(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst"))
}

// isRecordName reports whether a file or a glob of this name is one of records: x.tfrecord,
// train.record-00000-of-00010, or a manifest.
func isRecordName(name string) bool {
	name = strings.ToLower(name)
	ext := extensionOf(name)
	return (strings.Contains(name, "tfrec") || strings.Contains(name, ".record")) && !slices.Contains(archiveExtensions, ext) && !slices.Contains(tableExtensions, ext) || path.Ext(name) == ".json"
}

// maxLook bounds the entries of a directory that are searched for names of shards.
const maxLook = 10_000

// isSet reports whether a directory has the manifest of a set or, on disk, shards. In a store it
// makes one request, unless there is a manifest.
func isSet(ctx context.Context, dir storage.Location) bool {
	file := dir.Join(manifest.File)
	if dir.Remote() {
		store, name, err := file.Store(ctx)
		if err != nil {
			return false
		}
		if _, err := storage.Look(ctx, store, name); err != nil {
			return false
		}
	}
	if _, err := manifest.Read(ctx, file.Path()); err == nil {
		return true
	}
	if dir.Remote() {
		return false
	}
	looked := 0
	for e, err := range dir.Entries(ctx) {
		if err != nil || looked == maxLook {
			return false
		}
		if _, ok := shard.ParseName(e.Name()); ok && !e.IsDir() {
			return true
		}
		looked++
	}
	return false
}
