//go:build !race

package command

// moments is at how many moments of a run it is killed.
const moments = 16
