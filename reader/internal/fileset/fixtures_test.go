package fileset

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

func TestMain(m *testing.M) { memtemp.Main(m) }

func open(t testing.TB, path string, o pipeline.Options) *Set {
	t.Helper()
	set, err := OpenAll(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
