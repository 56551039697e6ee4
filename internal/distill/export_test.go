package distill

var Narrow = narrow
