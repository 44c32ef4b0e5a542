// Package cli is what the verbs of the command have in common: exit codes and how errors are told, flags
// of the same kind, results as JSON, summaries, notes and progress. It knows no verb.
package cli
