// Package tables makes records of the rows of tables, one record a row.
//
// A run opens and scans the files (package tablefile), decides which features the columns become
// ([TableOptions], columns.go), assigns rows to shards by their numbers (plan.go), and reads the chunks
// again. Their rows are encoded straight into the frames of a piece (rows.go, encode.go), or dealt to
// shards in a random order (shuffle.go). Rows that differ from those scanned end the run.
package tables
