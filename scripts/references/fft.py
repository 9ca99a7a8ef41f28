"""Fourier transforms. Complex numbers are pairs on the last axis."""
import numpy as np

from cases import INF, NAN, case, normal, torch, uniform


def of_parts(x):
    return torch.complex(x[..., 0], x[..., 1])


def pairs(f):
    """Returns the function of pairs that a function of complex numbers is."""
    return lambda x, *more: torch.view_as_real(f(of_parts(x), *more))


def transforms(operation, f, number):
    """Notes the cases of a transform of arrays that number makes."""
    last = lambda x: f(x)
    for name, shape in (("one", (2, 2)), ("two", (2, 3)), ("even", (3, 8)), ("odd", (2, 15)), ("prime", (2, 37)),
                        ("factors", (2, 21)), ("no batch", (0, 4))):
        # The inverse of real transforms has two numbers, or more, of each.
        case(operation, name, last, number(*shape) if name != "one" else number(2, 2 if operation == "fft.IRFFT" else 1))
    case(operation, "axis", lambda x: f(x, dim=0, norm="ortho"), number(7, 3))
    case(operation, "less", lambda x: f(x, n=5, dim=1, norm="forward"), number(2, 9, 2))
    case(operation, "more", lambda x: f(x, n=12), number(3, 5))
    special = np.zeros(number(3, 4).shape)
    special[0, 1] = INF
    special[1, 2] = NAN
    case(operation, "special", last, special[2:], grad=False)


complexes = lambda *shape: normal(*shape, 2)
of_pairs = lambda f: lambda x, **options: torch.view_as_real(f(of_parts(x), **options))
transforms("fft.FFT", of_pairs(torch.fft.fft), complexes)
transforms("fft.IFFT", of_pairs(torch.fft.ifft), complexes)
transforms("fft.RFFT", lambda x, **options: torch.view_as_real(torch.fft.rfft(x, **options)), normal)
transforms("fft.IRFFT", lambda x, **options: torch.fft.irfft(of_parts(x), **options), complexes)

case("fft.FFT2", "odd", pairs(torch.fft.fft2), complexes(2, 3, 5))
case("fft.FFT2", "sizes", pairs(lambda x: torch.fft.fft2(x, s=(3, 7), norm="ortho")), complexes(4, 5))
case("fft.FFT2", "special", pairs(torch.fft.fft2), np.zeros((2, 2, 2)), grad=False)
case("fft.FFTN", "odd", pairs(torch.fft.fftn), complexes(2, 3, 5))
case("fft.FFTN", "axes", pairs(lambda x: torch.fft.fftn(x, s=(4, 5), dim=(-1, 0), norm="forward")), complexes(3, 2, 6))
case("fft.FFTN", "special", pairs(torch.fft.fftn), [[[1.0, 0]]], grad=False)

for operation, f in (("fft.FFTShift", torch.fft.fftshift), ("fft.IFFTShift", torch.fft.ifftshift)):
    case(operation, "odd", pairs(f), complexes(3, 4))
    case(operation, "axis", pairs(lambda x: f(x, dim=-1)), complexes(2, 5))
    case(operation, "special", pairs(lambda x: f(x, dim=0)), [[INF, 1.0], [NAN, 2], [0, 3]], grad=False)


def stft(x, *more, **options):
    return torch.view_as_real(torch.stft(x, *more, return_complex=True, **options))


def istft(x, *more, **options):
    return torch.istft(of_parts(x), *more, **options)


ones = lambda x: torch.ones(x, dtype=torch.float64)
case("fft.STFT", "odd", lambda x: stft(x, 8, window=ones(8)), normal(2, 21))
case("fft.STFT", "window", lambda x, w: stft(x, 9, 4, 6, window=w, normalized=True, pad_mode="constant"), normal(23), uniform(0.5, 1, 6))
case("fft.STFT", "two-sided", lambda x, w: stft(x, 8, 3, window=w, center=False, onesided=False), normal(1, 17), uniform(0.5, 1, 8))
case("fft.STFT", "special", lambda x: stft(x, 4, window=ones(4)), np.zeros(5), grad=False)
case("fft.ISTFT", "odd", lambda x: istft(x, 8, window=ones(8)), complexes(2, 5, 6))
case("fft.ISTFT", "window", lambda x, w: istft(x, 9, 4, 8, window=w, normalized=True, length=20), complexes(5, 6), uniform(0.5, 1, 8))
case("fft.ISTFT", "two-sided", lambda x, w: istft(x, 8, 3, window=w, center=False, onesided=False), complexes(8, 4), uniform(0.5, 1, 8))
case("fft.ISTFT", "special", lambda x: istft(x, 4, window=ones(4)), np.zeros((3, 5, 2)), grad=False)
