//! Where studies are kept, and the strategies they may have.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use mcbo_core::{Preset, StrategyName};
use mcbo_store::{Options, Store, StoreError, StoredStudy};

use crate::cli::{Chooser, Storage, Width, Worker};
use crate::failure::BadInput;
use crate::strategies;

/// The address of the store that is asked for.
///
/// # Errors
/// If none is, and this system has no place for data.
pub fn address(storage: &Storage) -> Result<String> {
    if let Some(url) = storage.storage.as_ref().filter(|url| !url.is_empty()) {
        return Ok(url.clone());
    }
    let file = default_file()?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            BadInput::new(
                format!("{} cannot be made: {error}", folder.display()),
                "say where studies are kept: --storage sqlite:///folder/studies.sqlite",
            )
        })?;
    }
    Ok(url_of(&file))
}

/// Where studies are kept unless it is said otherwise.
fn default_file() -> Result<PathBuf> {
    let folder = dirs::data_dir().ok_or_else(|| {
        BadInput::new(
            "this system names no data directory",
            "say where studies are kept: --storage sqlite:///folder/studies.sqlite, or MCBO_STORAGE",
        )
    })?;
    Ok(folder.join("mcbo").join("studies.sqlite"))
}

/// The address of a file: what means something in an address is escaped.
pub fn url_of(file: &Path) -> String {
    let path = file.display().to_string().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}")
}

/// Opens the store that is asked for, and makes it if there is none.
///
/// # Errors
/// If it cannot be opened.
pub fn open(storage: &Storage) -> Result<Store> {
    Ok(Store::open(&address(storage)?)?)
}

/// Opens the store that is asked for; none is made by a command that only wants to look.
///
/// # Errors
/// If it cannot be opened or there is none.
pub fn existing(storage: &Storage) -> Result<Store> {
    let url = address(storage)?;
    Store::open_existing(&url).map_err(|error| match error {
        StoreError::NoStore { url } => BadInput::new(
            format!("there are no studies at {url}"),
            "check --storage and MCBO_STORAGE; `mcbo new NAME --problem FILE` begins the first study",
        )
        .into(),
        error => error.into(),
    })
}

/// Opens a study of the store that is asked for.
///
/// # Errors
/// If there is none, or the store cannot be opened.
pub fn study(storage: &Storage, name: &str) -> Result<StoredStudy> {
    Ok(existing(storage)?.open_study(name)?)
}

/// The same, to change it: the log says who did.
///
/// # Errors
/// If there is none, or the store cannot be opened.
pub fn study_to_change(storage: &Storage, name: &str) -> Result<StoredStudy> {
    Ok(study(storage, name)?.signed(author(std::env::var("MCBO_WORKER").ok())))
}

/// The name somebody goes by: the one that was given, else user@host.
pub fn author(given: Option<String>) -> String {
    given.filter(|name| !name.is_empty()).unwrap_or_else(|| {
        let user = whoami::username().unwrap_or_else(|_| "somebody".into());
        let host = whoami::hostname().unwrap_or_else(|_| "somewhere".into());
        format!("{user}@{host}")
    })
}

/// What a new study is made with.
///
/// # Errors
/// If the options do not go together.
pub fn options(chooser: &Chooser) -> Result<Options, BadInput> {
    let strategy = chooser.strategy.unwrap_or(StrategyName::Mcbo);
    if chooser.aim.is_some() && (strategy != StrategyName::Mcbo || chooser.preset == Some(Preset::Paper)) {
        return Err(BadInput::new(
            "--aim means nothing to this strategy",
            "leave out --aim; only mcbo with its own settings goes by what experiments are for",
        ));
    }
    if chooser.beta == Some(Width::Theory) && strategy != StrategyName::Mcbo {
        return Err(BadInput::new("--beta theory is for mcbo", "give a number, or leave out --beta"));
    }
    if chooser.beta.is_some() && !strategy.has_beta() {
        return Err(BadInput::new(
            "--beta means nothing to this strategy",
            "leave out --beta; only mcbo and ucb have a confidence band",
        ));
    }
    let preset = chooser.preset.unwrap_or_default();
    Ok(Options {
        strategy: strategies::settings(strategy, preset, chooser.beta, chooser.aim).into(),
        seed: chooser.seed.unwrap_or(0),
        initial: chooser.initial,
    })
}

impl Worker {
    /// Whose experiments they are.
    pub fn name(&self) -> String {
        author(self.worker.clone())
    }

    /// How long they stay so.
    pub fn lease(&self) -> Duration {
        // A century is as good as for ever, and stays inside what clocks can hold.
        Duration::from_secs_f64((self.lease * 3600.0).min(100.0 * 366.0 * 86_400.0))
    }
}

/// The address on a command line, if it has a password, and the command line without it.
pub fn secret(arguments: &[OsString]) -> Option<(String, Vec<OsString>)> {
    let (mut url, mut rest) = (None, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            // What comes after is no option.
            Some("--") => {
                rest.push(argument.clone());
                rest.extend(arguments.by_ref().cloned());
            }
            Some("--storage") => url = Some(arguments.next()?.to_str()?.to_owned()),
            Some(text) if text.starts_with("--storage=") => {
                url = text.split_once('=').map(|(_, url)| url.to_owned())
            }
            _ => rest.push(argument.clone()),
        }
    }
    url.filter(|url| mcbo_store::without_password(url) != *url).map(|url| (url, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_leave_the_command_line() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (url, rest) = secret(&words("status s --storage postgresql://u:p@h/d --json")).unwrap();
        assert_eq!((url.as_str(), rest), ("postgresql://u:p@h/d", words("status s --json")));
        let (url, rest) = secret(&words("status --storage=postgresql://h/d?password=p s")).unwrap();
        assert_eq!((url.as_str(), rest), ("postgresql://h/d?password=p", words("status s")));
        for harmless in
            ["status s", "status s --storage postgresql://u@h/d", "run -- --storage postgresql://u:p@h/d"]
        {
            assert_eq!(secret(&words(harmless)), None, "{harmless}");
        }
    }
}
