// Package doctor measures the speed of reading a set for training on this machine, and reports the
// bottleneck and how to remove it: `tfrec doctor`.
//
//	report, err := doctor.Run(ctx, []string{"out"}, doctor.Options{Batch: 32, BatchTime: 50 * time.Millisecond})
//	if err != nil {
//		return err
//	}
//	fmt.Println(report.Verdict.Text)
//
// Each step is measured alone and for a bounded time, on a sample of the records and with the code
// that package reader runs. [Diagnose] draws conclusions from the figures and nothing else.
package doctor
