// Package exports has a name of each kind, exported and not.
package exports

const (
	A, a = iota, iota
	B    = A
)

var V, v = 0, a

type T struct{ Field int }

func (*T) M() {}
func (T) m()  {}

type G[K, W any] struct{}

func (g *G[K, W]) M() {}

type I interface{ Method() }

type hidden struct{}

func (hidden) M() {}

func F() {}
func f() { T{}.m(); f(); _ = v; _ = hidden{} }
