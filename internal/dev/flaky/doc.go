// Command flaky runs tests many times on an overloaded machine and lists those that failed at least
// once. It is `make flaky`.
//
//	go run ./internal/dev/flaky -n 20 -run TestSome ./reader ./shard/...
//
// Each package is built once plain and once with the race detector, and runs -n times: in turns
// plain and under the race detector, with GOMAXPROCS 1 and 4, and with the tests in an order of its
// own each time. The race detector takes the short form of the tests (-short). Meanwhile processes
// that only compute keep the cores busy; they end with flaky, however it ends.
//
// A line for each package follows its runs. The report at the end has for each failed test how often
// it failed, a command that runs it in the same way, and the file with the output. The exit status is
// then 1. Otherwise the last line is "ok".
package main
