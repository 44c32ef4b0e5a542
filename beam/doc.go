// Package beam runs tfrec's conversions on engines for Apache Beam pipelines. Its
// command is tfrec-beam (cmd/tfrec-beam): tfrec's own with object storage, whose convert
// and reshard hand their shards to a runner.
//
// # Who does what
//
// The process that was called, the driver, plans as every run does and writes the
// plan into the output directory (convert.Job). The pipeline is as small as can be: the
// numbers of the shards that are not up to date, dealt out, and one function that makes
// a shard by its number. What travels to workers is that number, the command's
// arguments and the plan's name. A worker plans once more, from the same input, holds
// its plan to the one in the directory, once in the life of its process, and then puts
// shards in place there as a task of an array job does, with nothing to send back but
// counters. When the runner says that the job is done, the driver makes a set of what
// lies in the directory, and that, not the runner's word, decides whether all is there.
//
// So nothing is lost or spoilt by a runner that runs a shard twice, at the same time
// too, or again after a failure: what is in place and has the right fingerprint is
// kept. A runner that gives up leaves the finished shards to the next run.
//
// # Reshard
//
// A reshard moves records from any input to any shard, and what brings them there is
// Beam's GroupByKey (reshard.go). The driver makes a reshape.ReshardPlan and leaves it in
// the output directory. Workers read parts of the inputs and emit batches of records,
// each with its place, by the number of the shard that they go to; what comes
// together under a number is put in order and written. The rest is as above.
//
// # Paths
//
// Workers need the input and the output directory under the same paths or URLs as the
// driver, and the clouds' credentials in their own environment: no credential is in
// the arguments or in the pipeline's options.
//
// # Runners
//
// Prism, Beam's own runner, is linked in and runs within the process. Flink, Spark and
// others are asked through their job servers (--endpoint). In all of these, the
// program submits the job itself (runner.go) rather than through the SDK's runners, to
// cancel it when it is interrupted, and to show what its counters say. Dataflow goes
// through the SDK's.
//
// Workers are the driver itself (--environment_type=LOOPBACK, the default for prism),
// processes that the runner starts (PROCESS, whose command is this program), a pool, or
// containers, into which the SDK brings this program.
package beam
