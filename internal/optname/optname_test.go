package optname

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// with runs a function in a state of the process.
func with(s int32, f func()) {
	defer state.Store(state.Swap(s))
	f()
}

func TestNames(t *testing.T) {
	errGone := Errorf("gone; %s again", ConvertFinalize)
	text := func() string {
		return fmt.Sprintf("%s, %v, %s, %s, %v", OptionsOverwrite, ImageOptionsBackend.With(ImageOptionsBackendDecodes),
			ConvertImages.With(ImageOptionsResize), Textf("100%% of %s", DropFeaturesKeys), errGone)
	}
	const inGo = "Options.Overwrite, ImageOptions.Backend with ImageOptions.BackendDecodes, convert.Images with ImageOptions.Resize, 100% of reshape.DropFeatures.keys, gone; convert.Finalize again"
	with(undecided, func() {
		if got := text(); got != inGo {
			t.Errorf("a program says %q", got)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a text was made before ForCommand, which goes on")
				}
			}()
			ForCommand()
		}()
		if got := text(); got != inGo {
			t.Errorf("then it says %q", got)
		}
	})
	with(undecided, func() {
		ForCommand()
		ForCommand()
		if got := text(); got != "--overwrite, --gpu on --gpu-decode, tfrec convert images --resize, 100% of --keys, gone; tfrec finalize again" {
			t.Errorf("the command says %q", got)
		}
		if err := fmt.Errorf("x: %w", errGone); !errors.Is(err, errGone) {
			t.Error(err)
		}
	})
}

// TestTable: the variables are called as the names are in Go, without the package of an argument.
func TestTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		v, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if want := variable(All()[n].Go); v.Names[0].Name != want {
			t.Errorf("%s is called %s, want %s", All()[n].Go, v.Names[0].Name, want)
		}
		n++
		return false
	})
	if n != len(All()) {
		t.Errorf("%d variables of %d names", n, len(All()))
	}
}

// variable returns the variable of a name in Go.
func variable(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) == 3 {
		parts = parts[1:]
	}
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}
