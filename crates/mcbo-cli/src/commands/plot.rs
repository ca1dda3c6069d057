//! `mcbo plot`: pictures of a study.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use mcbo_plot::Picture;

use crate::cli::Plot;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::{describe, store};

/// Draws the pictures and writes them into a folder.
pub fn run(arguments: &Plot) -> Result<ExitCode> {
    let study = store::study(&arguments.storage, &arguments.study)?.study()?;
    let console = Console::new(arguments.storage.quiet);
    let recommendation = if study.data().is_empty() { None } else { Some(study.recommend()?) };
    let pictures = mcbo_plot::pictures(&study, recommendation.as_ref());
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| {
        BadInput::new(
            format!("{} cannot be made: {error}", folder.display()),
            "name a folder that can be written to",
        )
    })?;
    for picture in &pictures {
        write(folder, picture)?;
    }
    let index = folder.join("index.html");
    let page = mcbo_report::page::index(&arguments.study, &pictures);
    fs::write(&index, page).with_context(|| format!("{} cannot be written", index.display()))?;
    let count = describe::count(pictures.len(), "picture");
    console.note(&format!(
        "{count} in {}, each as SVG and PNG, and all of them in index.html:",
        folder.display()
    ));
    let width = pictures.iter().map(|picture| picture.name.len()).max().unwrap_or(0);
    for picture in &pictures {
        console.note(&format!("  {:<width$}  {}", picture.name, picture.title));
    }
    if recommendation.is_none() {
        console.note("nothing was measured yet, so there is no model to show");
    }
    Ok(ExitCode::SUCCESS)
}

fn write(folder: &Path, picture: &Picture) -> Result<()> {
    let file = |ending: &str| folder.join(format!("{}.{ending}", picture.name));
    let (svg, png) = (file("svg"), file("png"));
    fs::write(&svg, &picture.svg).with_context(|| format!("{} cannot be written", svg.display()))?;
    fs::write(&png, picture.png()?).with_context(|| format!("{} cannot be written", png.display()))
}
