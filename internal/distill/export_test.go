package distill

var (
	Narrow   = narrow
	FitRidge = fitRidge
)
