// Package factor provides factorisations of symmetric and tall matrices: Gram matrices, Cholesky factors, eigenvalues,
// leading singular vectors, orthonormal bases and least-squares solutions of smallest norm.
//
// Which to use:
//
//	a system that is positive definite          Symmetric.Cholesky, then Cholesky.Solve
//	a system that may be singular               Symmetric.PseudoSolve
//	all eigenvalues of a small matrix           Symmetric.Eigen, Symmetric.EigenColumns
//	the largest eigenvalues of a larger one     LeadingEigen
//	left singular vectors                       LeftSingular
//	those of centred rows, read in blocks       CentredLeftByGram; for many columns CentredLeftByKrylov
//	a basis of a column space                   Orthonormal
//
// Gram matrices and factorisations are float64, because forming XᵀX squares the condition number. Bases are float32, as
// the matrices of package mat are. Results are bit-identical for any number of threads. Wrong shapes are bugs of the
// caller and cause a panic; the values in a matrix never do.
//
// The sources are Higham 1990 (Cholesky factorisation with complete pivoting), Halko, Martinsson and Tropp 2011
// (subspace iteration from random vectors), and Musco and Musco 2015 (block Krylov spaces).
package factor
