package records

import (
	"context"
	"io"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

func TestMain(m *testing.M) { memtemp.Main(m) }

func open(t testing.TB, path string, o pipeline.Options) *fileset.Set {
	t.Helper()
	o.PoisonRecycled = true // what is used too late is noticed
	set, err := fileset.OpenAll(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// started returns a source of a set at the start of epoch 0.
func started(t testing.TB, set *fileset.Set, source *pipeline.Link) pipeline.Stage {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run, err := pipeline.NewRun(ctx, set.Opts, set)
	if err != nil {
		t.Fatal(err)
	}
	run.Names = []string{""} // of the stage that is being opened
	s, err := source.Open(run, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		s.Stop()
	})
	if err := s.Start(ctx, 0, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// read returns what view makes of each record of a source.
func read(t testing.TB, set *fileset.Set, source *pipeline.Link, view func(pipeline.Record) string) (all []string) {
	t.Helper()
	s := started(t, set, source)
	for {
		b, err := s.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range b.Records {
			all = append(all, view(r))
		}
		b.Release()
	}
}
