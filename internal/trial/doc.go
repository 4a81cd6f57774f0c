// Package trial tries an office with many real processes at once, and with
// processes that are killed at any moment. It holds tests only: each one runs
// this test program again as its workers.
//
// BUREAU_LONG=1 runs the full counts, which take minutes.
package trial
