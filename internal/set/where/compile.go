package where

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// Expression is a compiled condition. It is safe for concurrent use.
type Expression struct {
	text     string
	steps    int // baseSteps; tests change it
	program  *vm.Program
	features []Feature // those that it names
	machines sync.Pool
}

// Error is a fault of an expression, with its position.
type Error struct {
	Expression string
	Column     int // of the word at fault, in runes from 1
	Message    string
}

// Error gives the message, and the expression with a mark under the word.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s\n  %s\n  %*s", e.Column, e.Message, e.Expression, e.Column, "^")
}

// allowed are the built-in functions that give the same result for the same record. len is ours,
// since expr's counts the runes of a string.
var allowed = []string{
	"all", "any", "none", "one", "count", "filter", "map", "sum", "min", "max", "mean", "median",
	"abs", "ceil", "floor", "round", "int", "float", "string", "trim", "lower", "upper",
	"hasPrefix", "hasSuffix", "indexOf", "first", "last", "bitand", "bitor", "bitxor", "bitnot", "bitshl", "bitshr",
}

// Words with a meaning of ours, and the functions that names of features become, which cannot occur
// in an expression.
const (
	index        = "f"
	hasFunction  = "has"
	lenFunction  = "len"
	listFunction = "list"

	hasFeature    = "has feature"
	intFeature    = "int feature"
	floatFeature  = "float feature"
	stringFeature = "string feature"
	listOf        = "s" // after the three above
	boxesFeature  = "boxes feature"
)

// Compile checks an expression against the features that records have. Faults of it are returned as
// an [*Error].
func Compile(expression string, features []Feature) (*Expression, error) {
	// Errors have one line.
	expression = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, expression)
	x := &Expression{text: expression, steps: baseSteps}
	declared := declarations{}
	r := &resolver{names: newNames(features), declared: declared, boxed: haveBoxes(features), slots: map[int]int{}, calls: map[*ast.CallNode]int{}, indexed: map[ast.Node]bool{}}
	counted := new(meter)
	options := []expr.Option{
		expr.Env(new(record)), expr.AsBool(), expr.Patch(declared), expr.Patch(r), expr.Patch(counted), expr.DisableAllBuiltins(),
		expr.Function(lenFunction, length, new(func(string) int), new(func([]int64) int), new(func([]float64) int), new(func([]string) int), new(func([]box) int), new(func([]any) int)),
		expr.Function(boxesFeature, boxValues, new(func(*record) []box)),
		expr.Function(stepFunction, step, new(func(*record) bool)),
		expr.Function(hasFeature, hasValue, new(func(*record, int) bool)),
		expr.Function(intFeature, intValue, new(func(*record, int) int64)),
		expr.Function(floatFeature, floatValue, new(func(*record, int) float64)),
		expr.Function(stringFeature, stringValue, new(func(*record, int) string)),
		expr.Function(intFeature+listOf, intValues, new(func(*record, int) []int64)),
		expr.Function(floatFeature+listOf, floatValues, new(func(*record, int) []float64)),
		expr.Function(stringFeature+listOf, stringValues, new(func(*record, int) []string)),
	}
	for _, f := range metered {
		options = append(options, expr.Function(f.function, meterOperand, f.signature))
	}
	for _, name := range allowed {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(expression, options...)
	switch {
	case r.err != nil: // before it came to types
		r.err.Expression = expression
		return nil, r.err
	case err != nil:
		return nil, explain(expression, err, r.boxes)
	}
	x.program, x.features = program, r.named
	x.machines.New = func() any {
		return &machine{record: record{
			features: x.features, values: make([]value, len(x.features)),
			boxes: boxList{label: r.label, text: r.text}, budget: budget{nodes: counted.nodes},
		}}
	}
	return x, nil
}

// explain turns an error of expr into one of ours. boxes reports whether the expression uses boxes.
func explain(expression string, err error, boxes bool) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return &Error{expression, 1, err.Error()}
	}
	message := at.Message
	switch {
	case strings.HasPrefix(message, "unexpected token EOF"):
		message = "the expression ends too early"
	case message == `unexpected token Operator("=")`:
		message = "== compares two values, = does not"
	}
	if boxes && (strings.Contains(message, "mismatched types") || strings.Contains(message, boxType)) {
		message = strings.ReplaceAll(message, boxType, "box") + "; " + boxFields
	}
	return &Error{expression, at.Column + 1, message}
}

// Keys returns the keys of the features that the expression names.
func (x *Expression) Keys() []string {
	keys := make([]string, len(x.features))
	for i, f := range x.features {
		keys[i] = f.Key
	}
	return keys
}

// declarations are the names that an expression itself gives (let x = ...).
type declarations map[string]bool

// Visit implements ast.Visitor.
func (d declarations) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		d[n.Name] = true
	}
}

// resolver puts calls in the place of names of features.
type resolver struct {
	*names
	declared declarations
	named    []Feature
	slots    map[int]int           // features in named by places in features
	calls    map[*ast.CallNode]int // the calls for names, and the features' places
	indexed  map[ast.Node]bool     // the nodes for the name f, which may be about to be indexed
	err      *Error                // the first

	boxed       bool // records have boxes
	boxes       bool // the expression names them
	label, text bool // and these of their fields
}

// Visit implements ast.Visitor. The parts of a node come before the node.
func (r *resolver) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		r.identifier(node, n)
	case *ast.MemberNode:
		// f["key"], also when there is a feature f.
		key, ok := n.Property.(*ast.StringNode)
		switch {
		case !ok:
		case r.indexed[n.Node]:
			r.put(node, key.Value, key)
		case key.Value == "label":
			r.label = true
		case key.Value == "text":
			r.text = true
		}
	case *ast.CallNode:
		callee, _ := n.Callee.(*ast.IdentifierNode)
		switch {
		case callee == nil:
		case callee.Value == hasFunction:
			r.has(node, n)
		case callee.Value == listFunction:
			r.list(node, n)
		case callee.Value == lenFunction:
			// Its type was settled while its argument was a mere name: begin again.
			ast.Patch(node, &ast.CallNode{Callee: callee, Arguments: n.Arguments})
		}
	}
}

func (r *resolver) identifier(node *ast.Node, n *ast.IdentifierNode) {
	switch n.Value {
	case hasFunction, lenFunction, listFunction:
		return
	case index:
		if _, err := r.find(index); err != nil {
			r.indexed[n] = true
			return // for f["key"]; expr refuses it alone
		}
	case boxesName:
		if _, err := r.find(boxesName); err == nil || r.declared[boxesName] {
			break
		}
		if !r.boxed {
			r.fail(n, "no feature %q, and no boxes: the records have no %s and so on", n.Value, objects.KeyXMin)
			return
		}
		r.boxes = true
		ast.Patch(node, call(boxesFeature))
		return
	case "$env":
		r.fail(n, "no feature %q", n.Value)
		return
	}
	if !r.declared[n.Value] {
		r.put(node, n.Value, n)
		r.indexed[*node] = n.Value == index
	}
}

// put replaces a node by the call that gives the feature's values.
func (r *resolver) put(node *ast.Node, name string, word ast.Node) {
	feature, err := r.find(name)
	if err != nil {
		r.fail(word, "%v", err)
		return
	}
	r.putValues(node, feature, r.features[feature].List, word)
}

// putValues replaces a node by the call that gives the value of a feature, or
// the list of them.
func (r *resolver) putValues(node *ast.Node, feature int, list bool, word ast.Node) {
	f := r.features[feature]
	var function string
	switch f.Kind {
	case tfrecord.KindInt64:
		function = intFeature
	case tfrecord.KindFloat:
		function = floatFeature
	case tfrecord.KindBytes:
		function = stringFeature
	default:
		r.fail(word, "feature %q has values of more than one kind, or of none: only has(%q) can be asked", f.Key, f.Key)
		return
	}
	if list {
		function += listOf
	}
	ast.Patch(node, r.call(function, feature))
}

// has replaces has("key") and has(name).
func (r *resolver) has(node *ast.Node, n *ast.CallNode) {
	if feature, ok := r.argument(n); ok {
		ast.Patch(node, r.call(hasFeature, feature))
	}
}

// list replaces list("key") and list(name).
func (r *resolver) list(node *ast.Node, n *ast.CallNode) {
	if feature, ok := r.argument(n); ok {
		r.putValues(node, feature, true, n)
	}
}

// argument returns the feature that is the one argument of a call: a key, or a
// name, which has become a call by now.
func (r *resolver) argument(n *ast.CallNode) (feature int, ok bool) {
	function := n.Callee.(*ast.IdentifierNode).Value
	if len(n.Arguments) != 1 {
		r.fail(n, "%s wants one key, as in %[1]s(\"image/width\")", function)
		return 0, false
	}
	switch argument := n.Arguments[0].(type) {
	case *ast.StringNode:
		feature, err := r.find(argument.Value)
		if err != nil {
			r.fail(argument, "%v", err)
		}
		return feature, err == nil
	case *ast.CallNode:
		if feature, ok := r.calls[argument]; ok {
			return feature, true
		}
	}
	r.fail(n.Arguments[0], "%s wants a key, as in %[1]s(\"image/width\")", function)
	return 0, false
}

// call is a call of a function for the feature at a place.
func (r *resolver) call(function string, feature int) *ast.CallNode {
	slot, known := r.slots[feature]
	if !known {
		slot = len(r.named)
		r.slots[feature] = slot
		r.named = append(r.named, r.features[feature])
	}
	node := call(function, &ast.IntegerNode{Value: slot})
	r.calls[node] = feature
	return node
}

func (r *resolver) fail(word ast.Node, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Column: word.Location().From + 1, Message: fmt.Sprintf(format, args...)}
	}
}
