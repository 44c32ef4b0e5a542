package pipeline

import "fmt"

// MapOptions are the options of Map and MapWith; the zero value preserves the order.
type MapOptions struct {
	// Workers is the number of goroutines that call the function. Default: chosen as it runs, up to
	// the Parallelism of the set, or up to 64 with Waits.
	Workers int
	// Waits marks a function that mostly waits, as for a service or a disk: its workers then do not
	// count against the Parallelism of the set. More Workers than Parallelism imply it. If Workers
	// is not set, it is detected within a second on Linux.
	Waits bool
	// Unordered returns results as they are ready, each at most a few dozen per worker early. A
	// State then refers to the original order: resuming from it may repeat or omit those few.
	Unordered bool
	// Size returns the approximate memory of a result in bytes, without its record. With it results
	// count as in flight (see [Options]), and no more are made in advance than there is room for.
	// Default: they do not count, and are bounded only by some dozens per worker and the length of
	// a Prefetch.
	Size func(result any) int64
}

// MapDataOptions are the options of MapData. The order is always preserved, and the new data of the
// records count as in flight as others do.
type MapDataOptions struct {
	// Workers and Waits are as in MapOptions.
	Workers int
	Waits   bool
}

// MapWaits reports whether the workers need no processor of a set with this Parallelism.
func MapWaits(o MapOptions, parallelism int) bool { return o.Waits || o.Workers > parallelism }

// MapPortion is the maximum number of records that Map's workers share at once.
const MapPortion = 32

// PortionOf returns the number of records that Map's workers share at once: one if results are
// large enough for Size to be set.
func PortionOf(o MapOptions) int {
	if o.Size != nil {
		return 1
	}
	return MapPortion
}

func CheckWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("reader: %d workers: want 1 to %d, or 0 to let it be chosen", n, maxWorkers)
	}
	return nil
}
