// Package stated collects what a source states about its images: splits, by the names of files or a
// column, labels, and the columns that become features.
//
// The walkers of packed sources and the reader of label tables share it. Package listing decides which
// of several statements counts.
package stated
