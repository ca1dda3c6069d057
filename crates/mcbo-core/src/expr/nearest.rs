//! "Did you mean": the known name that looks most like an unknown one.

/// The candidate with the fewest edits to `name`, if it is close enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long name is not a slip of the pen, and comparing it would be slow.
    if name.len() > 64 {
        return None;
    }
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 64 && *candidate != name)
        .map(|candidate| {
            let have: Vec<char> = candidate.to_lowercase().chars().collect();
            (edits(&wanted, &have), have.len().max(wanted.len()), candidate)
        })
        .filter(|&(edits, longest, _)| edits <= (longest / 3).max(1) && edits < longest)
        .min_by_key(|&(edits, _, _)| edits)
        .map(|(_, _, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
