//! Lines of JSON, in and out.

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Both directions of a pipe.
pub(crate) struct Pipe {
    input: Mutex<Box<dyn BufRead + Send>>,
    output: Mutex<Box<dyn Write + Send>>,
}

impl Pipe {
    pub(crate) fn new(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self { input: Mutex::new(Box::new(input)), output: Mutex::new(Box::new(output)) }
    }

    /// The next line; none at the end.
    pub(crate) fn hear<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        let mut line = String::new();
        let length = self.input.lock().unwrap_or_else(PoisonError::into_inner).read_line(&mut line)?;
        Ok(if length == 0 { None } else { Some(serde_json::from_str(&line)?) })
    }

    pub(crate) fn say(&self, answer: &Value) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{answer}")?;
        output.flush()
    }
}
