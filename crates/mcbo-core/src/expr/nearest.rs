//! "Did you mean": the known name that looks most like an unknown one.

/// The candidate with the fewest edits to `name`, if it is close enough to be what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long name is not a slip of the pen, and comparing it would be slow.
    if name.len() > 64 {
        return None;
    }
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 64 && *candidate != name)
        .map(|candidate| {
            let have = candidate.to_lowercase();
            let longest = have.chars().count().max(wanted.chars().count());
            // Insertions, deletions, replacements and swaps of neighbours.
            (strsim::osa_distance(&wanted, &have), longest, candidate)
        })
        .filter(|&(edits, longest, _)| edits <= (longest / 3).max(1) && edits < longest)
        .min_by_key(|&(edits, _, _)| edits)
        .map(|(_, _, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_mended_and_strangers_are_not() {
        assert_eq!(nearest("parnets", ["parents", "actions"]), Some("parents"));
        assert_eq!(nearest("maximise", ["maximize", "minimize"]), Some("maximize"));
        assert_eq!(nearest("Soil", ["soil"]), Some("soil"));
        assert_eq!(nearest("zebra", ["soil", "n1"]), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", ["y"]), None);
        assert_eq!(nearest("n2", ["n1"]), Some("n1"));
        assert_eq!(nearest(&"x".repeat(10_000), ["y"]), None);
    }
}
