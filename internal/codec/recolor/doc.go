// Package recolor changes the colours of pixels where they are: luminance, mixtures, tables of
// levels and turns of the hue.
//
//	row ─► tables of levels ─► mix with luminance, gray or turn ─► row
//
// A [Recoloring] takes several changes and applies all of them to a row while it is in the cache.
// The result is the same, byte by byte, as of one change after the other. Assembly (rows_amd64.s,
// rows_arm64.s) has a reference implementation in rows.go and hue_row.go. A pixel never depends on
// its neighbours.
package recolor
