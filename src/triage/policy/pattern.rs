//! Patterns over full names.

/// Matches full names component by component: `*` stands for one component (or a part of one), `**` at
/// the end for any number of further components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
}

impl Pattern {
    /// Checks and keeps a pattern.
    ///
    /// # Errors
    /// Why it is not one: empty, an empty component, or `**` elsewhere than at the end.
    pub fn new(text: &str) -> Result<Self, String> {
        let components: Vec<&str> = text.split('.').collect();
        if components.iter().any(|c| c.is_empty()) {
            return Err("a component is empty".to_owned());
        }
        let (_, before) = components.split_last().unwrap_or((&"", &[]));
        if before.iter().any(|c| c.contains("**")) {
            return Err("`**` may only be the last component".to_owned());
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | '.');
        if let Some(odd) = text.chars().find(|c| !allowed(*c)) {
            return Err(format!("`{odd}` cannot stand in a full name"));
        }
        Ok(Pattern { text: text.to_owned() })
    }

    /// Whether a full name matches.
    pub fn matches(&self, name: &str) -> bool {
        let mut wanted = self.text.split('.');
        let mut given = name.split('.');
        loop {
            match (wanted.next(), given.next()) {
                (Some("**"), Some(_)) => return true,
                (Some(pattern), Some(component)) if glob(pattern, component) => {}
                (None, None) => return true,
                _ => return false,
            }
        }
    }
}

/// `*` in `pattern` stands for any run of characters.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_by_component() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).unwrap().matches(name);
        assert!(matches("xla.DebugOptions", "xla.DebugOptions"));
        assert!(!matches("xla.DebugOptions", "xla.DebugOptions.a"));
        assert!(matches("xla.cpu.**", "xla.cpu.A.B"));
        assert!(!matches("xla.cpu.**", "xla.cpu"));
        assert!(matches("xla.*.A", "xla.gpu.A"));
        assert!(matches("xla.gpu.*ThunkProto", "xla.gpu.CopyThunkProto"));
        assert!(!matches("xla.gpu.*ThunkProto", "xla.gpu.CopyThunk"));
        assert!(matches("a*b*c", "aXbYc"));
        assert!(!matches("a*a", "a"));
    }

    #[test]
    fn bad_patterns_say_why() {
        assert_eq!(Pattern::new("a..b").unwrap_err(), "a component is empty");
        assert_eq!(Pattern::new("**.b").unwrap_err(), "`**` may only be the last component");
        assert_eq!(Pattern::new("a.{b}").unwrap_err(), "`{` cannot stand in a full name");
    }
}
