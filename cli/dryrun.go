package cli

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/report"
)

// dryRun prints what condensing a graph would make and take, and writes nothing. It opens the graph, as condensing
// does: features of a mapped file are not read. Then it measures the ceilings of the machine, which takes two seconds.
func (c *command) dryRun(ctx context.Context, name string, flags *configFlags) error {
	methods, err := flags.methods()
	if err != nil {
		return err
	}
	if _, is := methods[0].(cgc.Config); !is {
		return usagef("--dry-run: what %s takes is not known, want one of cgc's methods", methods[0].Name())
	}
	defer memory.Bounded(flags.config.Memory)()
	g, seconds, err := c.open(ctx, name, flags)
	if err != nil {
		return err
	}
	opened := peakRSS() // reading may take more than condensing does
	config, err := flags.methods()
	if err != nil {
		return err
	}
	// Mistakes in the size come before the measurement.
	if _, err := bench.Predict(g, config[0].(cgc.Config), bench.Ceilings{}); err != nil {
		return flags.mistake(err)
	}
	c.progress.step("measuring the machine")
	ceilings, err := bench.Measure(ctx, rand.NewPCG(0, 0))
	if err != nil {
		return err
	}
	ceilings.File = openedRate(g, seconds)
	f, err := bench.Predict(g, config[0].(cgc.Config), ceilings)
	if err != nil {
		return flags.mistake(err)
	}
	if f.File == 0 {
		f.Memory = max(f.Memory, opened)
	}
	if limit, by := memory.Limit(); limit > 0 && f.Memory > limit {
		c.progress.note("%s %s: less than %s. Without --memory, condensing is done in blocks if these fit, or refused", by,
			report.Bytes(limit), report.Bytes(f.Memory))
	}
	return c.print(f, f.Document())
}
