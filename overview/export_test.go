package overview

// What tests of the parts need.
var (
	Pack      = pack
	Principal = principal
	Spread    = spread
)
