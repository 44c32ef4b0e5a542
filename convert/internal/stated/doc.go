// Package stated finds the splits, labels and features that a source states for its images: splits by
// directories, lists, the names of files or a column; labels and features by columns of tables.
//
// Package walk and package labeltable collect them while they list images. Package listing decides
// which of several statements counts.
package stated
