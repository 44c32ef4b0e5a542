package emit

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"slices"
	"sync"
	"text/template"

	"github.com/tfrec/tfrec/internal/jsontext"
)

// Target is the language or framework of a program.
type Target string

// The targets.
const (
	TF    Target = "tf"    // TensorFlow: tf.data
	TFDS  Target = "tfds"  // TensorFlow Datasets
	Torch Target = "torch" // PyTorch and NumPy, without TensorFlow
	Go    Target = "go"    // package reader of this module
)

// ParseTarget reads the name of a target.
func ParseTarget(s string) (Target, error) {
	switch t := Target(s); t {
	case TF, TFDS, Torch, Go:
		return t, nil
	}
	return "", fmt.Errorf("want tf, tfds, torch or go")
}

// ErrCannot means that no program for this target can read such a set.
var ErrCannot = errors.New("no program for this set")

//go:embed templates
var templates embed.FS

// parsed returns the templates. They are parsed when they are used: every command would wait for
// them at its start.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"py": pythonString, "go": goString,
	}).ParseFS(templates, "templates/*.tmpl"))
})

// Program returns the program for a target: the text of a file, the same for the same Dataset. If
// the target cannot read such a set, the error unwraps to ErrCannot and suggests a remedy.
func Program(t Target, d *Dataset) ([]byte, error) {
	if err := d.readable(t); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	var err error
	switch t {
	case Go:
		if err = parsed().ExecuteTemplate(&b, "main.go.tmpl", newGoView(d)); err == nil {
			return format.Source(b.Bytes())
		}
	default:
		err = parsed().ExecuteTemplate(&b, string(t)+".py.tmpl", newPythonView(d))
	}
	if err != nil {
		return nil, fmt.Errorf("emit %s: %w", t, err)
	}
	return b.Bytes(), nil
}

// readable returns an error if a target cannot read the set.
func (d *Dataset) readable(t Target) error {
	cannot := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", t, ErrCannot, fmt.Sprintf(format, args...))
	}
	switch {
	case t != Go && d.Compression == "zstd":
		return cannot("zstd is tfrec's own; `tfrec reshard IN OUT --compression gzip` makes a set that others read")
	case t != Go && d.Compression == mixedCompression:
		return cannot("some files are compressed otherwise than others; `tfrec reshard IN OUT --compression none` makes one set of them")
	case (t == TFDS || t == Torch) && d.Sequences:
		return cannot("the records are tf.train.SequenceExamples; --emit tf and --emit go can")
	case t == Go && d.Sequences && len(d.Lists) == 0:
		return cannot("the records are tf.train.SequenceExamples, and none of their lists can be parsed; --emit tf can")
	case t == Go && d.twice() != "":
		return cannot("%q is a feature of the context and a feature list; --emit tf can", jsontext.Readable(d.twice()))
	case len(d.Features)+len(d.Lists) == 0 && len(d.Left) > 0:
		return cannot("none of its features can be parsed, such as %q: %s", jsontext.Readable(d.Left[0].Key), d.Left[0].Why)
	case len(d.Features)+len(d.Lists) == 0:
		return cannot("its records have no features with values")
	case t != Go:
		for _, list := range [][]Feature{d.Features, d.Lists} {
			for _, f := range list {
				if f.Stray {
					return cannot("the key %q is not UTF-8; `tfrec features rename` gives it another, or --emit go", f.Key)
				}
			}
		}
	}
	return nil
}

// twice returns a key that is both a feature and a feature list; empty if there is none.
func (d *Dataset) twice() string {
	for _, f := range d.Lists {
		if slices.ContainsFunc(d.Features, func(g Feature) bool { return g.Key == f.Key }) {
			return f.Key
		}
	}
	return ""
}
