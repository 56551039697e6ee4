package condense

// WithoutDataset exports withoutDataset.
var WithoutDataset = withoutDataset
