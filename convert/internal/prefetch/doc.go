// Package prefetch requests images of an object store, and their masks, ahead of the workers that
// decode them: as many at a time as storage.Limited allows, in the order of their use.
package prefetch
