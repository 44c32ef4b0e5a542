// Package cputime measures work in tests by the CPU time that it takes, which depends less than
// elapsed time on what else the machine does.
package cputime
