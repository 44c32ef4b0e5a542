//go:build race

package command

// moments is small here: a process under the race detector starts slowly, and
// one that is killed has no races to tell.
const moments = 4
