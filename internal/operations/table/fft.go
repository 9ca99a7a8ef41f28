//go:build ignore

package table

//op:listed fft.FFT torch.fft.fft
//op:listed fft.IFFT torch.fft.ifft
//op:listed fft.RFFT torch.fft.rfft
//op:listed fft.IRFFT torch.fft.irfft
//op:listed fft.FFT2 torch.fft.fft2
//op:listed fft.FFTN torch.fft.fftn
//op:listed fft.FFTShift torch.fft.fftshift
//op:listed fft.IFFTShift torch.fft.ifftshift
//op:listed fft.STFT torch.stft
//op:listed fft.ISTFT torch.istft
