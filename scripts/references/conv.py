"""Convolutions, pooling and interpolation."""
from cases import F, INF, NAN, case, ints, normal, torch, uniform

case("Conv", "one", lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=3, dilation=2), normal(2, 3, 11), normal(4, 3, 3), normal(4))
case("Conv", "two", lambda x, w, b: F.conv2d(x, w, b, padding=2), normal(2, 3, 7, 9), normal(5, 3, 5, 5), normal(5))
case("Conv", "strided", lambda x, w: F.conv2d(x, w, stride=(2, 3), padding=(1, 2), dilation=(2, 1)), normal(1, 4, 9, 10), normal(6, 4, 3, 4))
case("Conv", "grouped", lambda x, w, b: F.conv2d(x, w, b, groups=2, stride=2), normal(2, 6, 5, 7), normal(4, 3, 2, 2), normal(4))
case("Conv", "depthwise", lambda x, w: F.conv2d(x, w, groups=5, padding=1), normal(2, 5, 6, 5), normal(10, 1, 3, 3))
case("Conv", "three", lambda x, w, b: F.conv3d(x, w, b, padding=1, stride=(1, 2, 1)), normal(1, 2, 3, 4, 5), normal(3, 2, 3, 2, 3), normal(3))
case("Conv", "image", lambda x, w: F.conv2d(x, w), normal(3, 5, 6), normal(2, 3, 5, 1))
case("Conv", "same", lambda x, w: F.conv2d(x, w, padding="same"), normal(1, 2, 5, 6), normal(3, 2, 4, 2))
case("Conv", "empty", lambda x, w, b: F.conv2d(x, w, b), normal(0, 3, 5, 5), normal(2, 3, 3, 3), normal(2))
case("Conv", "special", lambda x, w: F.conv1d(x, w, padding=1), [[[INF, 1, 2, NAN, 3, -INF, 0, 1e30, -0.0]]], [[[1.0, 2, 3]], [[-1, 0.5, 1]]], grad=False)

case("ConvTranspose", "one", lambda x, w, b: F.conv_transpose1d(x, w, b, stride=3, padding=1, output_padding=2), normal(2, 3, 5), normal(3, 4, 4), normal(4))
case("ConvTranspose", "two", lambda x, w: F.conv_transpose2d(x, w, stride=(2, 1), dilation=(1, 3), padding=(0, 2)), normal(2, 4, 3, 5), normal(4, 3, 3, 2))
case("ConvTranspose", "grouped", lambda x, w, b: F.conv_transpose2d(x, w, b, groups=2, stride=2, output_padding=1), normal(1, 4, 3, 2), normal(4, 3, 2, 3), normal(6))
case("ConvTranspose", "three", lambda x, w: F.conv_transpose3d(x, w, stride=2), normal(1, 2, 2, 3, 2), normal(2, 2, 2, 1, 3))
case("ConvTranspose", "image", lambda x, w: F.conv_transpose1d(x, w, dilation=2), normal(3, 5), normal(3, 2, 3))
case("ConvTranspose", "special", lambda x, w: F.conv_transpose1d(x, w, stride=2), [[[1, -INF, 2, NAN, 0.0, 1e30]]], [[[1.0, 2, -3]]], grad=False)

TIES = [[[1, 3, 3, 2, 5, -1, 0.0], [NAN, 1, 2, NAN, 0, -INF, -INF], [-INF, -INF, 7, 7, INF, 2, 1], [1, 2, 3, 4, 5, -INF, -INF], [1, 1, 1, 1, 1, -INF, -INF]]]
for index in ("", "WithIndex"):
    also = bool(index)
    name = f"MaxPool{index}"
    case(name, "one", lambda x: F.max_pool1d(x, 3, return_indices=also), normal(2, 3, 11))
    case(name, "two", lambda x: F.max_pool2d(x, (2, 3), stride=(1, 2), padding=1, return_indices=also), normal(2, 3, 5, 7))
    case(name, "dilated", lambda x: F.max_pool2d(x, 2, stride=3, dilation=(2, 3), return_indices=also), normal(1, 2, 8, 9))
    case(name, "ceil", lambda x: F.max_pool2d(x, 3, stride=2, padding=(0, 1), ceil_mode=True, return_indices=also), normal(1, 2, 6, 8))
    case(name, "three", lambda x: F.max_pool3d(x, (2, 1, 2), stride=1, return_indices=also), normal(1, 2, 3, 4, 5))
    case(name, "empty", lambda x: F.max_pool2d(x, 2, return_indices=also), normal(0, 2, 4, 4), grad=False)
    case(name, "special", lambda x: F.max_pool2d(x, 2, stride=1, return_indices=also), TIES)
    name = f"AdaptiveMaxPool{index}"
    case(name, "one", lambda x: F.adaptive_max_pool1d(x, 4, return_indices=also), normal(2, 3, 11))
    case(name, "two", lambda x: F.adaptive_max_pool2d(x, (3, 5), return_indices=also), normal(2, 3, 7, 4))
    case(name, "whole", lambda x: F.adaptive_max_pool2d(x, 1, return_indices=also), normal(2, 3, 7, 4))
    case(name, "three", lambda x: F.adaptive_max_pool3d(x, (2, 2, 1), return_indices=also), normal(1, 2, 3, 4, 5))
    case(name, "special", lambda x: F.adaptive_max_pool2d(x, (2, 3), return_indices=also), TIES)

case("AvgPool", "one", lambda x: F.avg_pool1d(x, 3, stride=2, padding=1), normal(2, 3, 11))
case("AvgPool", "two", lambda x: F.avg_pool2d(x, (2, 3), padding=(1, 1), count_include_pad=False), normal(2, 3, 5, 7))
case("AvgPool", "ceil", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True), normal(1, 2, 6, 8))
case("AvgPool", "ceil inside", lambda x: F.avg_pool2d(x, 3, stride=(2, 4), padding=1, ceil_mode=True, count_include_pad=False), normal(1, 2, 6, 8))
case("AvgPool", "divisor", lambda x: F.avg_pool2d(x, 2, stride=1, divisor_override=3), normal(2, 4, 5))
case("AvgPool", "three", lambda x: F.avg_pool3d(x, (2, 1, 2), stride=1), normal(1, 2, 3, 4, 5))
case("AvgPool", "empty", lambda x: F.avg_pool2d(x, 2), normal(0, 2, 4, 4), grad=False)
case("AvgPool", "special", lambda x: F.avg_pool2d(x, 2, stride=1, padding=1), TIES)
case("AdaptiveAvgPool", "one", lambda x: F.adaptive_avg_pool1d(x, 4), normal(2, 3, 11))
case("AdaptiveAvgPool", "two", lambda x: F.adaptive_avg_pool2d(x, (3, 5)), normal(2, 3, 7, 4))
case("AdaptiveAvgPool", "whole", lambda x: F.adaptive_avg_pool2d(x, 1), normal(2, 3, 7, 4))
case("AdaptiveAvgPool", "three", lambda x: F.adaptive_avg_pool3d(x, (2, 2, 1)), normal(1, 2, 3, 4, 5))
case("AdaptiveAvgPool", "special", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), TIES)

case("Interpolate", "nearest", lambda x: F.interpolate(x, (7, 3)), normal(2, 3, 4, 5))
case("Interpolate", "line", lambda x: F.interpolate(x, 9, mode="linear"), normal(2, 3, 5))
case("Interpolate", "bilinear", lambda x: F.interpolate(x, (7, 3), mode="bilinear"), normal(2, 3, 4, 5))
case("Interpolate", "corners", lambda x: F.interpolate(x, (2, 9), mode="bilinear", align_corners=True), normal(1, 2, 5, 4))
case("Interpolate", "three", lambda x: F.interpolate(x, (5, 1, 3), mode="trilinear", align_corners=True), normal(1, 2, 3, 4, 2))
case("Interpolate", "shrunk", lambda x: F.interpolate(x, (3, 4), mode="bilinear"), normal(1, 2, 11, 13))
case("Interpolate", "volume", lambda x: F.interpolate(x, (5, 2, 3)), normal(1, 2, 3, 4, 2))
case("Interpolate", "empty", lambda x: F.interpolate(x, (5, 2), mode="bilinear"), normal(0, 2, 3, 4), grad=False)
case("Interpolate", "special", lambda x: F.interpolate(x, 8), [[[INF, -INF, NAN, 0.0, -0.0]]])
case("Interpolate", "nan", lambda x: F.interpolate(x, 4, mode="linear"), [[[INF, 1, 2, 3, -INF, 1e30, NAN, 7]]])

case("Interpolate", "exact", lambda x: F.interpolate(x, (7, 3), mode="nearest-exact"), normal(2, 2, 4, 5))
case("Interpolate", "cubic", lambda x: F.interpolate(x, (7, 3), mode="bicubic"), normal(2, 2, 4, 5))
case("Interpolate", "cubic corners", lambda x: F.interpolate(x, (2, 9), mode="bicubic", align_corners=True), normal(1, 2, 4, 5))
case("Interpolate", "area", lambda x: F.interpolate(x, (3, 2), mode="area"), normal(2, 2, 7, 5))

byte = lambda x: x.to(torch.uint8)
for mode in ("nearest", "nearest-exact"):
    case("Interpolate", f"bytes {mode}", lambda x: F.interpolate(byte(x), (13, 4), mode=mode), ints(0, 256, 1, 2, 7, 9), grad=False)
for mode in ("bilinear", "bicubic"):
    case("Interpolate", f"bytes {mode}", lambda x: F.interpolate(byte(x), (13, 4), mode=mode), ints(0, 256, 1, 2, 7, 9), grad=False)
    case("Interpolate", f"bytes {mode} corners", lambda x: F.interpolate(byte(x), (3, 20), mode=mode, align_corners=True), ints(0, 256, 2, 1, 7, 9),
         grad=False)
BIG = [[[[2**62, 2**62 + 1, 2**62 - 1, -2**63, 5, 4, 3], [-2**63, -2**63, -7, -9, 2**63 - 1, 0, 1]]] * 2]
case("MaxPool", "integers", lambda x: F.max_pool2d(x, 2, stride=(1, 2), padding=1, dilation=(1, 2)), BIG, grad=False)
case("MaxPool", "integers ceil", lambda x: F.max_pool2d(x, (1, 3), stride=2, ceil_mode=True), BIG, grad=False)

pooled = lambda x: F.max_pool2d(x, 2, return_indices=True)[1]
case("autograd.MaxUnpool", "odd", lambda x, i: F.max_unpool2d(x, i, 2, output_size=(7, 6)), normal(2, 3, 3, 3),
     pooled(torch.as_tensor(normal(2, 3, 7, 6))).numpy())
case("autograd.MaxUnpool", "line", lambda x, i: F.max_unpool1d(x, i, 2), normal(2, 3, 2), [[[1, 2], [0, 3], [0, 2]]] * 2)
case("autograd.Fold", "odd", lambda x: F.fold(x, (4, 5), (2, 2)), normal(2, 12, 12))
case("autograd.Fold", "options", lambda x: F.fold(x, (6, 7), (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 3)), normal(1, 12, 6))

for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        aligned = padding == "border"
        case("autograd.GridSample", f"{mode} {padding}", lambda x, g: F.grid_sample(x, g, mode=mode, padding_mode=padding, align_corners=aligned),
             normal(2, 3, 4, 5), uniform(-1.6, 1.6, 2, 3, 4, 2))
case("autograd.GridSample", "volume", lambda x, g: F.grid_sample(x, g, align_corners=True), normal(1, 2, 3, 4, 2), uniform(-1.2, 1.2, 1, 2, 3, 2, 3))
case("autograd.GridSample", "empty", lambda x, g: F.grid_sample(x, g, align_corners=True), normal(1, 2, 3, 4), uniform(-1, 1, 1, 0, 3, 2), grad=False)
case("autograd.AffineGrid", "odd", lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), normal(2, 2, 3))
case("autograd.AffineGrid", "corners", lambda t: F.affine_grid(t, (2, 3, 4, 1, 3), align_corners=True), normal(2, 3, 4))
