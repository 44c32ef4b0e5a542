package manifest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Limits of manifests, which are untrusted input. A manifest that reaches them takes a gigabyte of
// memory.
const (
	MaxSize          = 512 << 20 // bytes
	maxManifestValue = 32 << 20  // bytes of any single value, such as a shard, all options or all label names
	maxManifestShard = 1_000_000 // shards and splits
	maxManifestNames = 10_000    // members of an object, known or not
	maxManifestLabel = 16 << 20  // label counts of all shards together
	maxManifestItems = 2_000_000 // features
	maxSharedNames   = 1 << 16   // label names that shards share
)

// ErrForeign means that a file is the manifest of another tool.
var ErrForeign = errors.New("not a tfrec manifest")

// Read reads the manifest at path. A file that is not a manifest, or one of a newer
// version, is an error that says so; the error for a missing one unwraps to fs.ErrNotExist. The
// file is decoded in a stream, so that a wrong one is rejected early.
func Read(ctx context.Context, path string) (*Manifest, error) {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > MaxSize {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes: not a tfrec manifest", MaxSize)}
	}
	m, err := decodeManifest(io.LimitReader(f, MaxSize))
	if err != nil && recordscan.IsDamage(err) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// decodeManifest reads a manifest.
func decodeManifest(in io.Reader) (*Manifest, error) {
	d := newManifestDecoder(in)
	m := new(Manifest)
	err := d.object(reflect.ValueOf(m).Elem(), map[string]func() error{"splits": func() error {
		return d.list(func() { m.Splits = []Split{} }, func() error {
			var s Split
			err := d.object(reflect.ValueOf(&s).Elem(), map[string]func() error{"shards": func() error {
				return d.list(func() { s.Shards = []Shard{} }, func() error { return d.shard(&s) })
			}})
			m.Splits = append(m.Splits, s)
			if err == nil {
				err = d.count(0)
			}
			return err
		})
	}})
	object := err == nil
	if object {
		err = d.end()
	}
	switch {
	case err != nil && !recordscan.IsDamage(err):
		return nil, err
	case m.Format == Format && m.Version > Version:
		return nil, fmt.Errorf("manifest version %d: this tfrec reads version %d; use a newer one", m.Version, Version)
	case errors.Is(err, errLongValue) && m.Format != Format, err == nil && m.Format != Format:
		return nil, fmt.Errorf("%w: its format is %q, not %q", ErrForeign, m.Format, Format)
	case object && err != nil && m.Format != Format:
		return nil, fmt.Errorf("%w: it is JSON lines, or several JSON values in one file", ErrForeign)
	case err != nil:
		return nil, fmt.Errorf("not a manifest: %w", err)
	case m.Version != Version:
		return nil, fmt.Errorf("manifest version %d: this tfrec reads version %d; use a newer one", m.Version, Version)
	}
	return m, nil
}

// shard decodes the next shard and adds it to a split.
func (d *manifestDecoder) shard(s *Split) error {
	var info Shard
	if err := d.value(&info); err != nil {
		return err
	}
	// A manifest must not name files outside its directory.
	if info.File == "" || filepath.Base(info.File) != info.File || info.File == ".." || info.File == "." {
		return fmt.Errorf("split %s names a shard %q outside its directory", s.Name, info.File)
	}
	for name, records := range info.Labels {
		info.Labels[d.shared(name)] = records // which replaces the text of the key
	}
	s.Shards = append(s.Shards, info)
	return d.count(len(info.Labels))
}

// shared returns a label name as an earlier shard has it, so that a name takes memory once and not
// for each shard.
func (d *manifestDecoder) shared(name string) string {
	if have, ok := d.names[name]; ok {
		return have
	}
	if len(d.names) < maxSharedNames {
		d.names[name] = name
	}
	return name
}

// count counts a split, or a shard with its label counts, against the limits.
func (d *manifestDecoder) count(labels int) error {
	d.shards++
	d.labels += labels
	if d.shards > maxManifestShard || d.labels > maxManifestLabel {
		return fmt.Errorf("more than %d shards, or %d label counts in them", maxManifestShard, maxManifestLabel)
	}
	return nil
}

// manifestDecoder decodes JSON in pieces of bounded size.
type manifestDecoder struct {
	*json.Decoder
	in                    *valueReader
	shards, labels, items int
	names                 map[string]string // of labels
}

func newManifestDecoder(in io.Reader) *manifestDecoder {
	r := &valueReader{in: bufio.NewReaderSize(in, 64<<10)}
	return &manifestDecoder{Decoder: json.NewDecoder(r), in: r, names: map[string]string{}}
}

// value decodes the next value.
func (d *manifestDecoder) value(v any) error {
	d.in.left = maxManifestValue
	return d.Decode(v)
}

// token returns the next token, which must be the delimiter want unless want is 0.
func (d *manifestDecoder) token(want json.Delim) (json.Token, error) {
	d.in.left = maxManifestValue
	t, err := d.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && want != 0 && t != want {
		err = fmt.Errorf("%v instead of %v", t, want)
	}
	return t, err
}

// object decodes an object into the fields of a struct by their JSON names, except those with a
// function in own. Unknown members are skipped.
func (d *manifestDecoder) object(v reflect.Value, own map[string]func() error) error {
	if _, err := d.token('{'); err != nil {
		return err
	}
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = v.Field(i)
	}
	seen := map[string]bool{}
	for n := 0; d.More(); n++ {
		key, err := d.token(0)
		if err == nil && n == maxManifestNames {
			err = fmt.Errorf("more than %d members in an object", maxManifestNames)
		}
		if err != nil {
			return err
		}
		name, _ := key.(string)
		to, known := fields[name]
		if known && seen[name] { // a map would grow beyond maxManifestValue
			return fmt.Errorf("duplicate member %q in an object", name)
		}
		seen[name] = known
		switch {
		case own[name] != nil:
			err = own[name]()
		case to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Struct:
			err = d.decodeList(to)
		case to.IsValid():
			err = d.value(to.Addr().Interface())
		default:
			err = d.value(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	_, err := d.token('}')
	return err
}

// decodeList decodes a list of structs one by one.
func (d *manifestDecoder) decodeList(v reflect.Value) error {
	return d.list(func() { v.Set(reflect.MakeSlice(v.Type(), 0, 0)) }, func() error {
		if d.items++; d.items > maxManifestItems {
			return fmt.Errorf("more than %d features", maxManifestItems)
		}
		item := reflect.New(v.Type().Elem())
		err := d.value(item.Interface())
		v.Set(reflect.Append(v, item.Elem()))
		return err
	})
}

// list calls begin, then each for every element of the next list. It calls neither if the value is
// null.
func (d *manifestDecoder) list(begin func(), each func() error) error {
	t, err := d.token(0)
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%v instead of a list", t)
	}
	begin()
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err = d.token(']')
	return err
}

// end checks that no data follows.
func (d *manifestDecoder) end() error {
	d.in.left = maxManifestValue
	switch _, err := d.Token(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	return errors.New("there is data after its end")
}

// errLongValue means that a value is too long to be in a manifest.
var errLongValue = fmt.Errorf("a value of more than %d bytes", maxManifestValue)

// valueReader returns an error when a decoder reads more than left bytes for one value.
type valueReader struct {
	in   io.Reader
	left int
}

func (r *valueReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongValue
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
