//! A small writer of SVG elements. All text goes through [`escape`].

use std::fmt::Write as _;

use crate::palette::Rgb;
use crate::text::clean;

/// Where a text is anchored.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG in the making.
pub(crate) struct Svg {
    out: String,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) fill: Rgb,
    pub(crate) bold: bool,
}

/// A thing's outline.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) colour: Rgb,
    pub(crate) width: f64,
    /// Length of dashes; 0 for a solid line.
    pub(crate) dash: f64,
}

impl Svg {
    pub(crate) fn new(width: u32, height: u32, title: &str) -> Svg {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"Ubuntu, 'Noto Sans', \
             'Helvetica Neue', Helvetica, Arial, sans-serif\">\n"
        );
        let _ = writeln!(out, "<title>{}</title>", escape(title));
        let _ = writeln!(
            out,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
        );
        Svg { out }
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// Fixed markup, never text from outside.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
        self.out.push('\n');
    }

    /// A rectangle; `fill` is a colour or `url(#…)`.
    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
            number(x),
            number(y),
            number(width.max(0.0)),
            number(height.max(0.0)),
        );
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        let d = format!(
            "M{} {}L{} {}",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
        self.stroke(&d, pen);
    }

    /// A path drawn as a line.
    pub(crate) fn stroke(&mut self, d: &str, pen: Pen) {
        let _ = write!(
            self.out,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            hex(pen.colour),
            number(pen.width),
        );
        if pen.dash > 0.0 {
            let dash = number(pen.dash);
            let _ = write!(self.out, " stroke-dasharray=\"{dash}\"");
        }
        self.out.push_str("/>\n");
    }

    /// A path drawn as an area.
    pub(crate) fn fill(&mut self, d: &str, colour: Rgb, crisp: bool) {
        let edges = if crisp {
            " shape-rendering=\"crispEdges\""
        } else {
            ""
        };
        let _ = writeln!(
            self.out,
            "<path d=\"{d}\" fill=\"{}\"{edges}/>",
            hex(colour)
        );
    }

    /// Text on a baseline; `whole` is shown where the pointer rests, if the text is shortened.
    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        style: Type,
        text: &str,
        whole: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if style.bold {
            " font-weight=\"600\""
        } else {
            ""
        };
        let _ = write!(
            self.out,
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}>",
            number(x),
            number(y),
            number(style.size),
            hex(style.fill),
        );
        if whole != text {
            let _ = write!(self.out, "<title>{}</title>", escape(whole));
        }
        let _ = writeln!(self.out, "{}</text>", escape(text));
    }
}

/// Text for XML: no markup, no characters XML 1.0 forbids, one line.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with at most one decimal; anything odd is 0.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() || value.abs() > 1e6 {
        return "0".into();
    }
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// `#rrggbb`.
pub(crate) fn hex(colour: Rgb) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<b a=\"1\">&'\n\u{1}\u{FFFF}é🦀"),
            "&lt;b a=&quot;1&quot;&gt;&amp;&#39; \u{FFFD}\u{FFFD}é🦀"
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1.04), "1");
        assert_eq!(number(-0.01), "0");
        assert_eq!(number(12.36), "12.4");
        assert_eq!(number(f64::NAN), "0");
    }
}
