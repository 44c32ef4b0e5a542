//go:build race

package command

// moments is small here: a process under the race detector starts slowly, and reports no races if
// it is killed.
const moments = 4
