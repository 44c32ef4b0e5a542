// Package offload gives backends of this module what package augment does not export: how a task is
// done by a processor that knows nothing of policies and filters.
//
//	var p raster.Program
//	err := offload.Of(task).Lower(&p) // task is an *augment.Task
//
// Package augment sets [Of] when it is initialized.
package offload

import "github.com/tfrec/tfrec/internal/codec/raster"

// Task is an augment.Task as backends see it.
type Task interface {
	// Lower writes the task as a program of elementary operations. For tasks that have no such
	// program it returns a [NotLoweredError], and also for invalid ones: the CPU reports their
	// faults. The program reads and writes the task's images; Lower sets the size and the memory of
	// the result.
	Lower(p *raster.Program) error
	// Decode decodes the task's JPEG with its codec, at its full size, and makes that the task's
	// Image or Planes. It is for backends that do not decode the JPEG, and does nothing where the
	// task has an Image or Planes.
	Decode() error
}

// Of returns an *augment.Task as a backend sees it. It panics for any other type.
var Of func(task any) Task

// NotLoweredError means that only the CPU supports a task.
type NotLoweredError struct {
	// What is a step's name, or a word for an unusual property of the image.
	What string
}

// Error returns one line.
func (e *NotLoweredError) Error() string { return e.What + ": only the CPU does it" }
