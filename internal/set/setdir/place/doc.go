// Package place stores the files of a set's directory: on a local disk, or below a prefix of an
// object store. It knows names and bytes, and nothing about the content of files.
//
//	at, err := place.Open(ctx, storage.Parse("out"), place.Options{})
//	err = at.Put("manifest.json", data) // complete, or not there
//	err = at.Close()
//
// Package setdir puts a name and its bytes in; a Draft, for larger files, gets its name when it is
// complete. On a disk a file is written below .tfrec/tmp, synced and renamed, and a lock excludes
// other processes; in a store an object appears when it is complete, and claims replace locks.
//
// A file is never visible under its name in part. Nothing is written or removed through a symbolic
// link inside the directory, or outside it. A file that cannot be read is never reported as
// missing.
package place
