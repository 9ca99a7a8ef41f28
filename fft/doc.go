// Package fft is discrete Fourier transforms, of any length, with gradients. Its functions are those
// of torch.fft, and torch.stft and torch.istft, by their names.
//
//	spectrum := fft.RFFT(signal, -1)           // [..., n] to [..., n/2 + 1, 2]
//	back := fft.IRFFT(spectrum, -1)            // [..., n]
//	frames := fft.STFT(signal, 512, fft.STFTOptions{Window: hann})
//
// Complex numbers are pairs on the last axis, the real part before the imaginary one: a node of shape
// [..., 2]. Where a function takes an axis of complex numbers, the pairs' axis does not count: −1 is
// the axis before it. Operands are of float32 or float64, and computed in their type; convert others
// with To. All functions can be recorded. Gradients are transforms, and have gradients themselves.
//
// A length with factors up to 31 is transformed by stages; one with a larger prime factor as a
// convolution, by the way of Bluestein: by three transforms of twice the length or more.
package fft
