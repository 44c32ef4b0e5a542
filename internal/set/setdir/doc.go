// Package setdir implements shard.Dir: an output directory of a set, local or in an object store.
// It handles files but not the content of manifests: see package shard.
//
//	dir, err := setdir.Open(ctx, "out", setdir.Options{})
//	w, err := dir.Create("train-00000-of-00001.tfrecord", setdir.WriterOptions{})
//	info, err := w.Commit()
//	err = dir.Shards().PutDone(&setdir.Done{Shard: info})
//	err = dir.PutSet(m)
//
// Each part uses those below it:
//
//	Open, Settle     complete the journal of a killed process
//	OpenOut, Forget  begin and end a run in a new directory
//	Staged           a new version of the set, and its publication
//	Journal          the renames that replace a set, in one step
//	Shards           the records of finished shards
//	State            the state of runs, as files of JSON under .tfrec
//	Writer           a shard with its index
//	Dir              names, bytes and locks
//	place            where the files are: a disk or an object store
//
// A set is never replaced file by file, except by a journal that the next process completes. State
// never makes a set correct: deleting it costs only time.
package setdir
