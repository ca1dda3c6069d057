//! Checksums: what was written is told from what became of it.
//!
//! Every event has one that goes on from the event before it, so that an event that was changed, lost or put elsewhere is found
//! when a log is read. The line of a study in the list has one with the last event's in it, so that a log cannot lose its end, and
//! the list of studies has one, so that none can vanish. They are no signature: whoever writes to the database on purpose can
//! write them too.

use sha2::{Digest, Sha256};

/// The checksum of an event's content, from which [`link`] is made: the long part, which needs no lock.
pub(crate) type Content = [u8; 32];

/// The checksum of a content.
pub(crate) fn content(payload: impl AsRef<[u8]>) -> Content {
    Sha256::digest(payload.as_ref()).into()
}

/// The checksum of an event after one with the checksum `before`, which is empty for the first. Those of a snapshot's parts go on from
/// its event in the same way, with their numbers in the place of the time.
pub(crate) fn link(before: &str, seq: i64, at: i64, kind: &str, content: &Content) -> String {
    let mut hash = Sha256::new();
    part(&mut hash, before.as_bytes());
    part(&mut hash, &seq.to_le_bytes());
    part(&mut hash, &at.to_le_bytes());
    part(&mut hash, kind.as_bytes());
    part(&mut hash, content);
    text(hash)
}

/// What the line of a study says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StudyLine {
    pub id: i64,
    pub name: String,
    pub created: i64,
    pub changed: i64,
    /// Trials in all, pending, complete and failed.
    pub counts: [i64; 4],
    /// The place of the last event.
    pub head: i64,
    /// Its checksum.
    pub tip: String,
}

impl StudyLine {
    /// The checksum of the line.
    pub fn seal(&self) -> String {
        let mut hash = Sha256::new();
        part(&mut hash, self.name.as_bytes());
        for number in [self.id, self.created, self.changed, self.head].iter().chain(&self.counts) {
            part(&mut hash, &number.to_le_bytes());
        }
        part(&mut hash, self.tip.as_bytes());
        text(hash)
    }
}

/// The checksum of the list of studies, by number, name and when they were made, in the order of their numbers.
pub(crate) fn roll<'a>(studies: impl IntoIterator<Item = (i64, &'a str, i64)>) -> String {
    let mut hash = Sha256::new();
    for (id, name, created) in studies {
        part(&mut hash, &id.to_le_bytes());
        part(&mut hash, name.as_bytes());
        part(&mut hash, &created.to_le_bytes());
    }
    text(hash)
}

/// Takes a part with its length: no two lists of parts are the same bytes.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// The first half of a checksum: 128 bits are enough for what happens by itself.
fn text(hash: Sha256) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    let bytes: [u8; 32] = hash.finalize().into();
    bytes[..16].iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_has_the_checksum_that_others_compute() {
        // printf abc | sha256sum
        assert_eq!(content("abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn whatever_changes_changes_the_checksum() {
        let of = |before, seq, at, kind, payload| link(before, seq, at, kind, &content(payload));
        let right = of("a", 1, 2, "told", "{}");
        assert_eq!(right.len(), 32);
        assert_eq!(right, of("a", 1, 2, "told", "{}"));
        for other in [
            of("b", 1, 2, "told", "{}"),
            of("a", 2, 2, "told", "{}"),
            of("a", 1, 3, "told", "{}"),
            of("a", 1, 2, "asked", "{}"),
            of("a", 1, 2, "told", "{ }"),
        ] {
            assert_ne!(right, other);
        }
        assert_ne!(roll([(1, "ab", 0)]), roll([(1, "a", 0), (2, "b", 0)]));
    }
}
