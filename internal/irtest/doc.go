// Package irtest makes random row programs and launches of them, and computes these one number at a
// time, as a reader takes a program to mean: what every way to compute them is tested with.
//
//	p := irtest.Random(rng)
//	l := irtest.Draw(p, rng, 3, 40, 1)
//	want := l.Run()
package irtest
