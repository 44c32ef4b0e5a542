"""The steps of package augment as torchvision itself does them, on Pillow pictures.

make_goldens.py --torchvision takes these in place of its own. What torchvision
has no function for (crop with a colour, lanczos) is left out.
"""

import torchvision.transforms.functional as F
from PIL import Image
from torchvision.transforms import functional_pil
from torchvision.transforms.functional import InterpolationMode as Mode

import make_goldens

RESIZE = {"bilinear": Mode.BILINEAR, "bicubic": Mode.BICUBIC}
TRANSFORM = RESIZE | {"nearest": Mode.NEAREST}


def color(im, rgb):
    """A colour as the picture has it."""
    return tuple(rgb) if im.mode == "RGB" else (Image.new("RGB", (1, 1), tuple(rgb)).convert("L").getpixel((0, 0)),)


def rotate(im, s):
    fill = color(im, s.get("fill", (0, 0, 0)))
    return F.rotate(im, s["angle"], TRANSFORM[s["filter"]], s.get("expand", False), fill=fill)


def affine(im, s):
    fill, center = color(im, s.get("fill", (0, 0, 0))), [0, 0] if s.get("corner") else None
    return F.affine(im, s["angle"], s["translate"], s["scale"], s["shear"], TRANSFORM[s["filter"]], fill=fill, center=center)


def perspective(im, s):
    # What F.perspective calls, which rounds the coefficients to float32 before.
    coefficients = make_goldens.perspective_coefficients(s, *im.size)
    return functional_pil.perspective(im, coefficients, make_goldens.TRANSFORM[s["filter"]], fill=color(im, s.get("fill", (0, 0, 0))))


def resize(im, s):
    # Pillow begins with the width but, from version 13 on, where the height loses
    # more than twice as many pixels as the width does.
    lost = im.height - s["height"]
    if lost > max(0, 2 * (im.width - s["width"])):
        im = F.resize(im, [s["height"], im.width], RESIZE[s["filter"]])
    return F.resize(im, [s["height"], s["width"]], RESIZE[s["filter"]])


def resized_crop(im, s):
    return resize(F.crop(im, s["y"], s["x"], s["h"], s["w"]), s)


OPS = {
    "resized_crop": resized_crop,
    "resize": resize,
    "hflip": lambda im, s: F.hflip(im),
    "vflip": lambda im, s: F.vflip(im),
    "rotate": rotate,
    "affine": affine,
    "perspective": perspective,
    "brightness": lambda im, s: F.adjust_brightness(im, s["factor"]),
    "contrast": lambda im, s: F.adjust_contrast(im, s["factor"]),
    "saturation": lambda im, s: F.adjust_saturation(im, s["factor"]),
    "hue": lambda im, s: F.adjust_hue(im, s["factor"]),
    "gamma": lambda im, s: F.adjust_gamma(im, s["gamma"], s["gain"]),
    "grayscale": lambda im, s: F.rgb_to_grayscale(im, len(im.getbands())),
    "invert": lambda im, s: F.invert(im),
    "posterize": lambda im, s: F.posterize(im, s["bits"]),
    "solarize": lambda im, s: F.solarize(im, s["threshold"]),
    "equalize": lambda im, s: F.equalize(im),
    "autocontrast": lambda im, s: F.autocontrast(im),
    "sharpness": lambda im, s: F.adjust_sharpness(im, s["factor"]),
    "gaussian_blur": lambda im, s: F.gaussian_blur(im, s["kernel"], s["sigma"]),
}
