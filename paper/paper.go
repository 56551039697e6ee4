// Package paper repeats the tables and figures of the paper (Gao et al., WWW 2025), next to the numbers it printed.
package paper
