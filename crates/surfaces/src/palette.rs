//! Colours. Lines: the set of Okabe and Ito, which people with any common colour blindness
//! tell apart. Heat maps: on white, one hue of evenly falling lightness; in a terminal, from
//! blue to orange.

use crate::chart::Line;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// M. Okabe, K. Ito: "Color Universal Design" (2008), <https://jfly.uni-koeln.de/color/>,
/// strongest on white first. Orange and sky blue are darkened a little and yellow much,
/// since the originals fade on white.
pub const SERIES: [Rgb; 8] = [
    Rgb(0x00, 0x72, 0xB2), // blue
    Rgb(0xD5, 0x5E, 0x00), // vermillion
    Rgb(0x00, 0x9E, 0x73), // bluish green
    Rgb(0xCC, 0x79, 0xA7), // reddish purple
    Rgb(0xDF, 0x98, 0x00), // orange
    Rgb(0x46, 0xA8, 0xE0), // sky blue
    Rgb(0x00, 0x00, 0x00), // black
    Rgb(0x9C, 0x93, 0x00), // yellow
];

/// The rest that was summed up.
pub const OTHER: Rgb = Rgb(0x96, 0x96, 0x96);

/// The colour of each line, and how often the eight colours were used up before it.
pub(crate) fn of_lines(lines: &[Line]) -> Vec<(Rgb, usize)> {
    let mut next = 0;
    lines
        .iter()
        .map(|line| {
            if line.name == "other" {
                return (OTHER, 0);
            }
            next += 1;
            (SERIES[(next - 1) % 8], (next - 1) / 8)
        })
        .collect()
}

/// The colour of a heat map cell: 0 the least amount, 1 the largest.
///
/// Lightness falls linearly in `OKLab`, so equal steps look equal; the hue stays blue, with
/// more chroma in the middle, where the screen has most of it.
/// B. Ottosson: "A perceptual color space for image processing" (2020),
/// <https://bottosson.github.io/posts/oklab/>.
pub fn heat(share: f64) -> Rgb {
    let t = if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    };
    let lightness = 0.90 - 0.62 * t;
    let chroma = 0.045 + 0.44 * t * (1.0 - t) * (1.0 - 0.25 * t) + 0.035 * t;
    let hue = (235.0 + 30.0 * t).to_radians();
    from_oklab(lightness, chroma * hue.cos(), chroma * hue.sin())
}

/// The same for a terminal, whose background may be black or white: no end of it is near
/// either. From blue, which is less, to orange, which is more; people with any common colour
/// blindness tell these apart, and lightness rises evenly too.
pub fn heat_in_terminal(share: f64) -> Rgb {
    let t = if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    };
    let lightness = 0.45 + 0.33 * t;
    let hue = (265.0 + 165.0 * t).to_radians();
    let chroma = 0.17;
    from_oklab(lightness, chroma * hue.cos(), chroma * hue.sin())
}

fn from_oklab(l: f64, a: f64, b: f64) -> Rgb {
    let long = (l + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let medium = (l - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let short = (l - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    Rgb(
        gamma(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        gamma(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        gamma(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    )
}

/// Linear light to an sRGB byte (IEC 61966-2-1).
fn gamma(light: f64) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let value = if light <= 0.0031308 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (value * 255.0).round() as u8
}

/// The nearest of the 240 fixed colours of a 256-colour terminal: a 6×6×6 cube from 16 on,
/// then 24 greys.
pub(crate) fn nearest_256(colour: Rgb) -> u8 {
    const LEVELS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let channels = [colour.0, colour.1, colour.2].map(i32::from);
    let near = channels.map(|c| (0..6).min_by_key(|&i| (LEVELS[i] - c).abs()).unwrap_or(0));
    let distance = |to: [i32; 3]| -> i32 { (0..3).map(|i| (to[i] - channels[i]).pow(2)).sum() };
    let grey = ((channels.iter().sum::<i32>() / 3 - 3) / 10).clamp(0, 23);
    if distance([8 + 10 * grey; 3]) < distance(near.map(|i| LEVELS[i])) {
        232 + grey as u8
    } else {
        (16 + 36 * near[0] + 6 * near[1] + near[2]) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2).
    fn luminance(colour: Rgb) -> f64 {
        let light = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * light(colour.0) + 0.7152 * light(colour.1) + 0.0722 * light(colour.2)
    }

    #[test]
    fn lines_stand_out_on_white() {
        for colour in SERIES.into_iter().chain([OTHER]) {
            let contrast = 1.05 / (luminance(colour) + 0.05);
            assert!(contrast > 2.4, "{colour:?}: {contrast}");
        }
    }

    #[test]
    fn heat_darkens_in_even_steps() {
        // CIE L* from luminance.
        let star = |t: f64| 116.0 * luminance(heat(t)).cbrt() - 16.0;
        let whole = star(0.0) - star(1.0);
        assert!(whole > 55.0, "{whole}");
        for i in 0..20 {
            let step = star(f64::from(i) / 20.0) - star(f64::from(i + 1) / 20.0);
            assert!((0.5..1.6).contains(&(step / (whole / 20.0))), "{i}: {step}");
        }
        assert_eq!(heat(f64::NAN), heat(0.0));
    }

    #[test]
    fn a_terminal_shows_all_of_its_heat() {
        for i in 0..=20 {
            let light = luminance(heat_in_terminal(f64::from(i) / 20.0));
            let (on_black, on_white) = ((light + 0.05) / 0.05, 1.05 / (light + 0.05));
            assert!(
                on_black > 2.0 && on_white > 1.7,
                "{i}: {on_black} {on_white}"
            );
            if i > 0 {
                let before = luminance(heat_in_terminal(f64::from(i - 1) / 20.0));
                assert!(light > before, "{i}");
            }
        }
    }

    #[test]
    fn other_is_grey_and_uses_up_no_colour() {
        let line = |name: &str| Line {
            name: name.into(),
            right: false,
            points: vec![],
            mean: 0.0,
            max: 0.0,
        };
        let colours = of_lines(&[line("a"), line("other"), line("b")]);
        assert_eq!(colours, [(SERIES[0], 0), (OTHER, 0), (SERIES[1], 0)]);
    }

    #[test]
    fn the_256_colours_are_hit() {
        assert_eq!(nearest_256(Rgb(0, 0, 0)), 16);
        assert_eq!(nearest_256(Rgb(255, 255, 255)), 231);
        assert_eq!(nearest_256(Rgb(255, 0, 0)), 196);
        assert_eq!(nearest_256(Rgb(128, 128, 128)), 244);
    }
}
