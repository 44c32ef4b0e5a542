package other

import "testing"

func ExampleNothing() {}

func BenchmarkNothing(b *testing.B) {}
