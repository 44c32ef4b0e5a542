// Package emulated holds the command for other processors to this one's: it converts images and
// tables with tfrec as built for this machine, and as built for arm64 and run by qemu-user, and
// compares the sets.
//
// It has tests only, which need both commands:
//
//	make arm64-test
package emulated
