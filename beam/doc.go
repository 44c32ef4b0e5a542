// Package beam runs tfrec's conversions on engines for Apache Beam pipelines. Its command is
// tfrec-beam (cmd/tfrec-beam): tfrec's own with object storage, whose convert and reshard hand
// their shards to a runner.
//
//	tfrec-beam convert images photos out --shards 64 --runner prism
//
// # Who does what
//
// The process that was called, the driver, plans as every run does and writes the plan into the
// output directory (convert.Job). The pipeline is minimal: the numbers of the shards that are not
// up to date, distributed to workers, and one function that makes a shard by its number. Workers
// are sent that number, the command's arguments and the plan's name. Once in the life of its
// process, a worker plans again from the same input and compares its plan with the one in the
// directory. Then it publishes shards there as a task of an array job does, and sends back only
// counters. When the runner reports that the job is done, the driver completes the set from the
// contents of the directory, and they, not the runner's word, decide whether all shards exist.
//
// So a runner may run a shard twice, even at the same time, or again after a failure: a published
// shard that has the right fingerprint is kept. A runner that gives up leaves the finished shards
// to the next run.
//
// # Reshard
//
// A reshard moves records from any input to any shard, with Beam's GroupByKey (reshard.go). The
// driver makes a reshape.ReshardPlan and leaves it in the output directory. Workers read parts of
// the inputs and emit batches of records, each with its position, keyed by the number of their
// shard; the records of a shard are sorted and written. Everything else is as above.
//
// # Paths
//
// Workers need the input and the output directory under the same paths or URLs as the driver, and
// the clouds' credentials in their own environment: no credential is in the arguments or in the
// pipeline's options.
//
// # Runners
//
// Prism, Beam's own runner, is linked in and runs within the process. Flink, Spark and others are
// reached through their job servers (--endpoint). In all of these, the program submits the job
// itself (runner.go) instead of through the SDK's runners, so that it can cancel the job when it is
// interrupted and show its counters. Dataflow uses the SDK's.
//
// Workers are the driver itself (--environment_type=LOOPBACK, the default for prism), processes
// that the runner starts (PROCESS, whose command is this program), those that a pool starts
// (EXTERNAL), or containers, into which the SDK copies this program. The pool is pool.go: tfrec-beam
// --worker_pool on a machine of workers, and within the driver for processes on prism, which would
// not notice that one has died.
package beam
