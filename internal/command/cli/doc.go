// Package cli has the code that the verbs of the command share: exit codes, error messages, flags
// of the same kind, results as JSON, summaries, notes and progress. It does not depend on a verb.
package cli
