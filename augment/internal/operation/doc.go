// Package operation has the operations that a policy may contain, and draws steps from them.
//
//	definition: parameters with ranges ─► Settings ─► sampler ─► Drawing: steps with exact parameters
//
// The draws follow torchvision.transforms.v2. The numbers of a draw depend only on seed, key and
// copy, and never change: they define the meaning of seeds. No pixel is touched here. definition.go
// lists the operations; shape.go, color.go, degrade.go, mix.go and group.go have them by kind.
package operation
