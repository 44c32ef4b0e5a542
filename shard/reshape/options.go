package reshape

import (
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// Options are the options common to all functions that make a new set from existing records:
// Reshard, Merge, Sample, Take and the others. The zero value has the defaults of the command.
//
// The set:
//   - Name is the name of the dataset, the first part of every shard's name. Default: the name that
//     all inputs share, else the base name of OUT in snake case.
//   - Shards is the number of shards in each split, SplitShards that number by split, ShardSize the
//     approximate size of a shard in bytes, and RecordsPerShard the number of records in each shard
//     of a split but the last: one of them may be given. Default: about 128 MiB per shard, but at
//     least min(16, records/64) shards.
//   - Compression is the compression of the shards, independent of the inputs. Default: none.
//   - Seed determines all random choices.
//   - Overwrite makes the set again if the directory already holds one, whatever its inputs and
//     options, and removes the old set's files, as listed in its manifest, once the new set is
//     complete. Default: an identical set is up to date, and a different one is an error. Overwrite
//     is an error in an object store, where a set cannot be replaced atomically.
//
// The inputs:
//   - Union allows inputs without a common schema: a feature that each record of one input has may
//     be missing in another. Default: an error.
//   - Partial reads the existing shards of input sets that are incomplete (see
//     [shard.ExpandOptions]).
//   - MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
//
// The work:
//   - Memory bounds the memory of sorting and shuffling, in bytes; beyond it, disk space in OUT is
//     used, or in the system's temporary directory if OUT is in an object store. In that case each
//     open shard, of which there are up to 16 or Workers, takes another 8 MiB, and uploads in
//     progress up to 128 MiB. A record larger than Memory is held once in addition. Minimum: 1 MB.
//     Default: 256 MiB.
//   - Workers is the number of goroutines that check and scan records. Default: GOMAXPROCS.
//
// Reports:
//   - Args are the arguments of the tfrec command, if this is one. They are recorded, and shown to
//     anyone who finds the set incomplete (see [shard.IncompleteError]).
//   - Progress, if not nil, is updated during the run.
//   - Note, if not nil, is called with a human-readable sentence about each choice made
//     automatically, from one goroutine at a time.
//   - Warn is called with a sentence about each input that is incomplete and used because of
//     Partial. Default: Note.
type Options = rearrange.Options

// Progress counts the work that a run has done so far: Planned is the number of records to process, or
// 0 while they are counted, Done the number of those processed, and Bytes their size with framing. A
// run that reads its input twice counts each record twice. The fields may be read during the run.
type Progress = source.Progress
