// Package beam runs tfrec's conversions on engines for Apache Beam pipelines. Its
// command is tfrec-beam (cmd/tfrec-beam): tfrec's own, whose convert hands shards to
// a runner.
package beam
