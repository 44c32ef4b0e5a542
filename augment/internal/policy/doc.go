// Package policy reads policies, from text or YAML, and draws from them.
//
//	text or YAML ─► calls: words with their positions ─► Policy ─► steps.Draw
//
// What may stand in a policy is defined by package operation. An error points at the word that is
// wrong, and a policy never changes after it was read.
package policy
