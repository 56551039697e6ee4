package kernel

import (
	"fmt"
	"math"
)

// Points holds N points: the coordinates of point i begin at Data[i·Stride]. Norms holds their squared norms.
type Points struct {
	Data   []float32
	Stride int
	N      int
	Norms  []float32
}

// Nearest finds for each point of x, of d coordinates, the nearest centre c: nearest[i] is its index and
//
//	dist[i] = max(0, ‖x_i‖² − 2·x_i·c + ‖c‖²)
//
// its squared distance. Ties in ‖c‖² − 2·x·c go to the lowest index. A point with a NaN gets index 0.
//
// The matrix of products is never written: each tile is folded into the running minima. Splitting x over several calls
// gives the same bits. Each call packs the centres anew, so it should have at least a thousand points.
func Nearest(nearest []int32, dist []float32, x, centres Points, d int) {
	Rows(x.Data, x.Stride).check("x", x.N, d)
	Rows(centres.Data, centres.Stride).check("the centres", centres.N, d)
	k, n := centres.N, x.N
	if k < 1 || len(centres.Norms) < k || len(nearest) < n || len(dist) < n || len(x.Norms) < n {
		panic(fmt.Sprintf("kernel: %d centres with %d norms; %d rows with %d norms and results for %d and %d",
			k, len(centres.Norms), n, len(x.Norms), len(nearest), len(dist)))
	}
	best.nearest(nearest, dist, x, centres, d)
}

// lanes is the number of running minima of a row: centre j is compared in lane j mod lanes. lanes is a multiple or a
// divisor of the number of columns of a tile.
const lanes = 16

func (im *implementation) nearest(nearest []int32, dist []float32, points, centres Points, d int) {
	x, ldx, n, rowNorms := points.Data, points.Stride, points.N, points.Norms
	k := centres.N
	if n == 0 {
		return
	}
	if k <= fewCentres && d > 0 && im.few != nil {
		im.nearestOfFew(nearest, dist, points, centres, d)
		return
	}
	width := im.columns
	padded := roundUp(k, max(width, lanes))
	s := borrow()
	packed := s.take(padded * d)
	norms := s.take(padded)
	product := s.take(im.rows * width)
	value := s.take(im.height * lanes)
	infinite := s.take(im.height * lanes)
	var packedA []float32
	if im.packA {
		packedA = s.take(roundUp(im.height, im.rows) * d)
	}
	index := s.takeIndex(im.height * lanes)
	im.packColumns(packed, Rows(centres.Data, centres.Stride).T(), 0, d, 0, k)
	copy(norms, centres.Norms[:k])
	for _, none := range [][]float32{norms[k:], infinite} { // never the nearest
		for j := range none {
			none[j] = float32(math.Inf(1))
		}
	}
	a := Rows(x, ldx)
	for i0 := 0; i0 < n; i0 += im.height {
		i1 := min(i0+im.height, n)
		copy(value, infinite)
		clear(index)
		if im.packA {
			im.packRows(packedA, a, i0, i1, 0, d)
		}
		for j := 0; j < k; j += width {
			ahead := 0
			if j == 0 && d > 0 {
				ahead = im.aheadBytes(a, d)
			}
			columns := min(width, k-j) // the other columns of the tile are compared with infinite norms
			for i := i0; i < i1; i += im.rows {
				rows := min(im.rows, i1-i)
				switch {
				case d == 0:
					clear(product)
				case im.packA:
					im.tile(product, width, packedA[(i-i0)*d:], 1, im.rows, packed[j*d:], rows, columns, d, 0, false)
				default:
					im.tile(product, width, x[i*ldx:], ldx, 1, packed[j*d:], rows, columns, d, ahead, false)
				}
				im.closest(value[(i-i0)*lanes:], index[(i-i0)*lanes:], product, norms[j:], rows, int32(j))
			}
		}
		im.lowest(nearest[i0:], dist[i0:], value, index, i1-i0)
		for i := i0; i < i1; i++ {
			dist[i] = max(0, rowNorms[i]+dist[i])
		}
	}
	s.giveBack()
}

// fewCentres is the largest number of centres for which products are computed four at a time, along the coordinates,
// because a tile would be mostly empty.
const fewCentres = 8

// nearestOfFew is like nearest, for few centres. The bits of a row's products do not depend on the other rows.
func (im *implementation) nearestOfFew(nearest []int32, dist []float32, points, centres Points, d int) {
	x, ldx, n, rowNorms := points.Data, points.Stride, points.N, points.Norms
	k := centres.N
	s := borrow()
	packed := s.take(roundUp(k, 4) * d)
	product := s.take(8)
	for j := range k {
		copy(packed[j*d:(j+1)*d], centres.Data[j*centres.Stride:])
	}
	clear(packed[k*d:])
	for i := 0; i < n; i += 2 {
		other := min(i+1, n-1)
		low, at := [2]float32{float32(math.Inf(1)), float32(math.Inf(1))}, [2]int32{}
		for first := 0; first < k; first += 4 {
			im.few(product, x[i*ldx:], x[other*ldx:], packed[first*d:], d)
			for j, norm := range centres.Norms[first:min(first+4, k)] {
				for r := range 2 {
					if f := norm - 2*product[4*r+j]; f < low[r] {
						low[r], at[r] = f, int32(first+j)
					}
				}
			}
		}
		for r := range other - i + 1 {
			nearest[i+r], dist[i+r] = at[r], max(0, rowNorms[i+r]+low[r])
		}
	}
	s.giveBack()
}

func fewGeneric(product, x0, x1, centres []float32, d int) {
	for r, x := range [2][]float32{x0, x1} {
		x = x[:d]
		c0, c1, c2, c3 := centres[:d], centres[d:][:d], centres[2*d:][:d], centres[3*d:][:d]
		var s0, s1, s2, s3 float32
		for p, v := range x {
			s0 += float32(v * c0[p])
			s1 += float32(v * c1[p])
			s2 += float32(v * c2[p])
			s3 += float32(v * c3[p])
		}
		product[4*r], product[4*r+1], product[4*r+2], product[4*r+3] = s0, s1, s2, s3
	}
}

func lowestGeneric(nearest []int32, least, value []float32, index []int32, m int) {
	for i := range m {
		v, ix := value[i*lanes:][:lanes], index[i*lanes:][:lanes]
		low, at := v[0], ix[0]
		for l, f := range v {
			if f < low || f == low && ix[l] < at {
				low, at = f, ix[l]
			}
		}
		nearest[i], least[i] = at, low
	}
}

// closestGeneric compares tiles of 4 columns, from the lane of the first centre on.
func closestGeneric(value []float32, index []int32, product, norms []float32, m int, first int32) {
	norms = norms[:4]
	for i := range m {
		at := i*lanes + int(first)%lanes
		v, ix, p := value[at:][:4], index[at:][:4], product[4*i:][:4]
		for j, norm := range norms {
			if f := norm - 2*p[j]; f < v[j] {
				v[j], ix[j] = f, first+int32(j)
			}
		}
	}
}
