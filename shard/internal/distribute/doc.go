// Package distribute divides a run among machines that share the output directory.
//
//	Begin ──► Plan, stored in the directory
//	            │
//	  Read(part) ──► batches of records, by shard ──► Write(shard)      on any machine, in any order
//	            │        (moved and grouped by the caller's system)
//	  Finish or Abandon                                                 where Begin was called
//
// A batch has the number of its records and their positions in the split, all as varints, followed by
// their frames. The set has the same bytes as one that a single machine makes.
//
// A part or a shard may be processed twice, also at the same time, and the result is that of one. An
// error of any machine is stored in the directory (failure.go), for the machine that reports it. No
// machine needs anything but the directory and the ID of the plan.
package distribute
