package where

import (
	"context"
	"errors"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm"
)

// expr has no limit to the work of an evaluation: any(v, any(w, ...)) takes as many steps as the
// product of the lengths of both lists. meter puts calls into a program that count them, and end it
// when there are too many or when the context has ended.
//
// An evaluation of a predicate is a step. Operators and functions whose work grows with their
// operands take as many steps as the operands have elements or bytes. A program without nested
// predicates takes at most as many steps for each of its nodes as the record has values and bytes,
// so it always gets these; baseSteps is for all others.

// baseSteps is the number of steps that any record gets, a second or two of work.
const baseSteps = 10_000_000

// errSteps means that a program took too many steps.
var errSteps = errors.New("predicates in predicates, such as any(v, any(w, ...)), are for short lists")

// memoryMessage is the beginning of expr's error for lists with too many elements.
const memoryMessage = "memory budget exceeded"

// endedError means that the context has ended.
type endedError struct{ cause error }

func (e *endedError) Error() string { return e.cause.Error() }

// budget holds the remaining resources of an evaluation.
type budget struct {
	ctx     context.Context
	vm      *vm.VM
	nodes   int // of the program
	steps   int
	checked int // steps when ctx was last checked
}

// checkSteps is the number of steps from one look at the context to the next.
const checkSteps = 4096

func (b *budget) reset(ctx context.Context, machine *vm.VM, steps int) {
	b.ctx, b.vm, b.steps, b.checked = ctx, machine, steps, steps
	machine.MemoryBudget = conf.DefaultMemoryBudget
}

// grow adds the program's allowance for values that it names.
func (b *budget) grow(values, bytes int) {
	b.steps += b.nodes * (values + bytes)
	b.checked += b.nodes * (values + bytes)
	b.vm.MemoryBudget += uint(b.nodes * values)
}

func (b *budget) spend(steps int) error {
	b.steps -= steps
	if b.steps < 0 {
		return errSteps
	}
	if b.checked-b.steps >= checkSteps {
		b.checked = b.steps
		if b.ctx.Err() != nil {
			return &endedError{context.Cause(b.ctx)}
		}
	}
	return nil
}

// step is called before each evaluation of a predicate.
func step(args ...any) (any, error) {
	return true, args[0].(*record).budget.spend(1)
}

// meterOperand is called with each operand whose size is work, and returns it.
func meterOperand(args ...any) (any, error) {
	b := &args[0].(*record).budget
	return args[1], b.spend(workOf(args[1], b.steps))
}

// workOf returns the number of elements or bytes of a value. Beyond most it does not look further.
func workOf(v any, most int) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []int64:
		return len(v)
	case []float64:
		return len(v)
	case []string:
		n := len(v)
		for _, s := range v {
			n += len(s)
		}
		return n
	case []box:
		return len(v)
	case []int:
		return len(v)
	case []any:
		n := len(v)
		for i := 0; i < len(v) && n <= most; i++ {
			n += workOf(v[i], most-n)
		}
		return n
	}
	return 1
}

// The names of the functions. They cannot occur in an expression.
const (
	stepFunction = "count step"
	meterPrefix  = "meter "
)

// metered are the types of operands whose size is work. Each has a function of its own, for expr
// to know the type of the result.
var metered = map[reflect.Type]struct {
	function  string
	signature any
}{
	reflect.TypeFor[string]():    {meterPrefix + "string", new(func(*record, string) string)},
	reflect.TypeFor[[]int64]():   {meterPrefix + "int64s", new(func(*record, []int64) []int64)},
	reflect.TypeFor[[]float64](): {meterPrefix + "floats", new(func(*record, []float64) []float64)},
	reflect.TypeFor[[]string]():  {meterPrefix + "strings", new(func(*record, []string) []string)},
	reflect.TypeFor[[]box]():     {meterPrefix + "boxes", new(func(*record, []box) []box)},
	reflect.TypeFor[[]int]():     {meterPrefix + "ints", new(func(*record, []int) []int)},
	reflect.TypeFor[[]any]():     {meterPrefix + "list", new(func(*record, []any) []any)},
	reflect.TypeFor[any]():       {meterPrefix + "value", new(func(*record, any) any)},
}

// meter puts the calls into an expression, and counts its nodes.
type meter struct{ nodes int }

// Visit implements ast.Visitor. The parts of a node come before the node.
func (m *meter) Visit(node *ast.Node) {
	m.nodes++
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		ast.Patch(&n.Node, &ast.SequenceNode{Nodes: []ast.Node{call(stepFunction), n.Node}})
	case *ast.BinaryNode:
		switch n.Operator {
		case "==", "!=", "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith", "+":
			operand(&n.Left)
			operand(&n.Right)
		}
	case *ast.BuiltinNode:
		last := len(n.Arguments) - 1
		if last >= 0 {
			if _, ok := n.Arguments[last].(*ast.PredicateNode); ok {
				return // its evaluations are counted
			}
		}
		for i := range n.Arguments {
			operand(&n.Arguments[i])
		}
	}
}

// operand meters an operand. Constants do not grow with the record, and elements of new lists have
// been counted.
func operand(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.StringNode, *ast.ConstantNode, *ast.ArrayNode, *ast.NilNode:
		return
	case *ast.BinaryNode:
		if n.Operator == ".." {
			return
		}
	case *ast.BuiltinNode:
		if n.Name == "filter" || n.Name == "map" {
			return
		}
	}
	if f, ok := metered[(*node).Type()]; ok {
		ast.Patch(node, call(f.function, *node))
	}
}

// call is a call of a function with the record and arguments.
func call(function string, args ...ast.Node) *ast.CallNode {
	return &ast.CallNode{
		Callee: &ast.IdentifierNode{Value: function}, Arguments: append([]ast.Node{&ast.IdentifierNode{Value: "$env"}}, args...),
	}
}
