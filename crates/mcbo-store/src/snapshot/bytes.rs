//! Numbers and names as bytes: every number with all its bits, every name written out once.

use std::collections::HashMap;

/// Writes bytes, in pieces that end where the caller says.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    names: HashMap<String, u64>,
}

impl Writer {
    /// What was written since the last piece.
    pub fn piece(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A number that is small most of the time.
    pub fn count(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub fn time(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn number(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub fn numbers(&mut self, values: &[f64]) {
        self.count(values.len() as u64);
        values.iter().for_each(|&value| self.number(value));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A text that comes again and again.
    pub fn name(&mut self, name: &str) {
        if let Some(&known) = self.names.get(name) {
            return self.count(known);
        }
        let new = self.names.len() as u64;
        self.names.insert(name.to_owned(), new);
        self.count(new);
        self.text(name);
    }
}

/// The names that were read so far, over all pieces.
#[derive(Default)]
pub(super) struct Names(Vec<String>);

/// Reads what a [`Writer`] wrote; nothing where there is something else.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    names: &'a mut Names,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], names: &'a mut Names) -> Self {
        Self { bytes, names }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn count(&mut self) -> Option<u64> {
        let mut value = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub fn size(&mut self) -> Option<usize> {
        usize::try_from(self.count()?).ok()
    }

    pub fn time(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn number(&mut self) -> Option<f64> {
        Some(f64::from_bits(u64::from_le_bytes(self.take(8)?.try_into().ok()?)))
    }

    pub fn numbers(&mut self) -> Option<Vec<f64>> {
        let count = self.size()?;
        let bytes = self.take(count.checked_mul(8)?)?;
        let number = |bytes: &[u8]| Some(f64::from_bits(u64::from_le_bytes(bytes.try_into().ok()?)));
        bytes.chunks_exact(8).map(number).collect()
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let count = self.size()?;
        std::str::from_utf8(self.take(count)?).ok()
    }

    pub fn name(&mut self) -> Option<String> {
        let place = self.size()?;
        if place == self.names.0.len() {
            let name = self.text()?.to_owned();
            self.names.0.push(name);
        }
        self.names.0.get(place).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (mut writer, mut names) = (Writer::default(), Names::default());
        let counts = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let odd = [0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0, f64::NAN, f64::NEG_INFINITY];
        counts.iter().for_each(|&count| writer.count(count));
        writer.numbers(&odd);
        writer.time(i64::MIN);
        for name in ["w", "é", "w", ""] {
            writer.name(name);
        }
        let piece = writer.piece();
        let mut reader = Reader::new(&piece, &mut names);
        assert!(counts.iter().all(|&count| reader.count() == Some(count)));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(reader.numbers().map(|read| bits(&read)), Some(bits(&odd)));
        assert_eq!(reader.time(), Some(i64::MIN));
        assert!(["w", "é", "w", ""].iter().all(|&name| reader.name().as_deref() == Some(name)));
        assert!(reader.is_empty() && reader.byte().is_none());
        // Names go on from piece to piece.
        writer.name("é");
        let piece = writer.piece();
        assert_eq!((piece.len(), Reader::new(&piece, &mut names).name().as_deref()), (1, Some("é")));
        // What is cut off is nothing, wherever that is.
        let mut whole = Writer::default();
        whole.name("name");
        whole.numbers(&[1.0]);
        let whole = whole.piece();
        for length in 0..whole.len() {
            let mut names = Names::default();
            let mut reader = Reader::new(&whole[..length], &mut names);
            assert!(reader.name().and_then(|_| reader.numbers()).is_none());
        }
    }
}
