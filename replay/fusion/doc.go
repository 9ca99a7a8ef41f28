// Package fusion is how a package teaches recorded steps a fusion: to find launches that it has a
// better way for, and what to launch in their place. docs/recording.md says how, and
// examples/customfusion is a module with one.
//
//	func init() {
//		fusion.Register(fusion.Fusion{
//			Name: "gated-sum", Doc: "makes one launch of silu(x)·y and its sum over the rows",
//			Match: func(s fusion.Step) []fusion.Match { return find(s.Launches()) },
//		})
//	}
//
// A fusion sees what launches compute, as [kernels.Op]s over views of memory, and proposes a
// [Match]. Package replay decides: it does what a match says only where nothing else reads the
// temporaries that go, where the new launches can stand, where they pay, and where they compute what
// they replace. It says why not as a [Refusal].
package fusion
