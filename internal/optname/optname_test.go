package optname

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inState runs a function in a state of the process.
func inState(s int32, f func()) {
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
	inState(undecided, func() {
		if got := text(); got != inGo {
			t.Errorf("a program says %q", got)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a text was made before ForCommand, which goes on")
				}
			}()
			ForCommand(nil)
		}()
		if got := text(); got != inGo {
			t.Errorf("then it says %q", got)
		}
	})
	inState(undecided, func() {
		ForCommand(map[Name]string{"ImageOptions.Resize": "resize"})
		ForCommand(nil)
		if got := text(); got != "--overwrite, --gpu on --gpu-decode, tfrec convert images --resize, 100% of --keys, gone; tfrec finalize again" {
			t.Errorf("the command says %q", got)
		}
		if err := fmt.Errorf("x: %w", errGone); !errors.Is(err, errGone) {
			t.Error(err)
		}
	})
}

// TestVariables: each name is declared once, in a variable that is called as it is in Go, without the
// package of an argument.
func TestVariables(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []Name
	ast.Inspect(file, func(node ast.Node) bool {
		v, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name, err := strconv.Unquote(v.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
		if want := variable(name); err != nil || v.Names[0].Name != want {
			t.Errorf("%s is called %s, want %s (%v)", name, v.Names[0].Name, want, err)
		}
		names = append(names, Name(name))
		return false
	})
	slices.Sort(names)
	if !slices.Equal(names, All()) {
		t.Errorf("%d variables of %d names: %q", len(names), len(All()), names)
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
