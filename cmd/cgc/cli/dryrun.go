package cli

import (
	"context"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/internal/memory"
)

// dryRun prints the expected size, memory and time of a condensation without running it. It opens the graph, but does
// not read the features of a mapped file. Measuring the machine takes two seconds.
func (c *command) dryRun(ctx context.Context, name string, flags *configFlags) error {
	methods, err := flags.methods()
	if err != nil {
		return err
	}
	if _, is := methods[0].(auto.Method); is {
		c.progress.note("this is for --method cgc: auto condenses by several methods, and takes several times as long")
		flags.names[0] = flags.config.Name()
	} else if _, is := methods[0].(cgc.Config); !is {
		return usagef("--dry-run: what %s takes is not known, must be one of cgc's methods", methods[0].Name())
	}
	defer memory.Bounded(flags.config.Memory)()
	g, seconds, err := c.open(ctx, name, flags)
	if err != nil {
		return err
	}
	opened := peakRSS() // reading may need more memory than condensing
	config, err := flags.methods()
	if err != nil {
		return err
	}
	// Report mistakes in the size before the measurement.
	if _, err := bench.Predict(g, config[0].(cgc.Config), bench.Ceilings{}); err != nil {
		return flags.mistake(err)
	}
	ceilings, err := c.ceilings(ctx)
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
