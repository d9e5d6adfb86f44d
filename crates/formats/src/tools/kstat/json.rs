//! `kstat -j`, line by line: a document a report, in which texts of one kind lack their quotes and
//! a comma can be too many, so that it is not always JSON.

/// What a line is of the document.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    /// A bracket.
    Nothing,
    /// A set begins.
    Set {
        module: String,
        instance: String,
        name: String,
    },
    /// A fact about the set: its class, its time.
    About(&'a str, &'a str),
    /// A statistic.
    Statistic(&'a str, &'a str),
}

/// Where in a document the next line is.
#[derive(Debug, Default)]
pub(super) struct Json {
    in_data: bool,
    module: String,
    instance: String,
}

impl Json {
    /// What the line is; `None` if it is of no document.
    pub(super) fn line<'a>(&mut self, line: &'a [u8]) -> Option<Part<'a>> {
        let text = std::str::from_utf8(line).ok()?.trim();
        if !text.is_empty() && text.bytes().all(|b| b"[]{},".contains(&b)) {
            self.in_data = false;
            return Some(Part::Nothing);
        }
        let (name, value) = text.strip_prefix('"')?.split_once("\": ")?;
        let value = value.strip_suffix(',').unwrap_or(value);
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.strip_suffix('"').unwrap_or(value);
        Some(match name {
            _ if self.in_data => Part::Statistic(name, value),
            "data" => {
                self.in_data = true;
                Part::Nothing
            }
            "module" => {
                value.clone_into(&mut self.module);
                Part::Nothing
            }
            "instance" => {
                value.clone_into(&mut self.instance);
                Part::Nothing
            }
            "name" => Part::Set {
                module: std::mem::take(&mut self.module),
                instance: std::mem::take(&mut self.instance),
                name: value.to_owned(),
            },
            "class" | "snaptime" => Part::About(name, value),
            _ => Part::Nothing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_document() {
        let mut json = Json::default();
        assert_eq!(json.line(b"[{"), Some(Part::Nothing));
        assert_eq!(json.line(b"\t\"module\": \"cpu\","), Some(Part::Nothing));
        assert_eq!(json.line(b"\t\"instance\": 3,"), Some(Part::Nothing));
        let set = Part::Set {
            module: "cpu".into(),
            instance: "3".into(),
            name: "sys".into(),
        };
        assert_eq!(json.line(b"\t\"name\": \"sys\","), Some(set));
        let about = json.line(b"\t\"class\": \"misc\",");
        assert_eq!(about, Some(Part::About("class", "misc")));
        assert_eq!(json.line(b"\t\"data\": {"), Some(Part::Nothing));
        let brand = json.line(b"\t\t\"brand\": i86pc,");
        assert_eq!(brand, Some(Part::Statistic("brand", "i86pc")));
        assert_eq!(json.line(b"\t}"), Some(Part::Nothing));
        assert_eq!(json.line(b"sd:0:sd0:nread\t1"), None);
    }
}
