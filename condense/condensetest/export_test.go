package condensetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
)

// Violations returns all violations, joined, or nil. Each error begins with the name of its rule.
func Violations(ctx context.Context, m condense.Method, claims ...Claim) error {
	var errs []error
	for _, r := range rules {
		if err := check(ctx, r, m, claims); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(errs...)
}
