package overview

// Internal functions, exported for tests.
var (
	Pack      = pack
	Principal = principal
	Spread    = spread
)
