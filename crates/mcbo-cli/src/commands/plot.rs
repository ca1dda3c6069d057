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
    let share = mcbo_report::share(&study);
    let fitted = share.as_ref().unwrap_or(&study);
    let recommendation = if study.data().is_empty() { None } else { Some(fitted.recommend()?) };
    let mut pictures = mcbo_plot::pictures(fitted, recommendation.as_ref());
    // Where the model knows a share of the trials, pictures of trials still have all of them.
    if let (Some(share), Some(advice)) = (&share, &recommendation) {
        let odd = share.oddities(&advice.network);
        let whole =
            [mcbo_plot::history_with(&study, Some(advice), &odd), mcbo_plot::parallel(&study, Some(advice))];
        for picture in whole {
            let place = pictures.iter().position(|other| other.name == picture.name);
            place.into_iter().for_each(|place| pictures[place] = picture.clone());
        }
        console.note(&format!(
            "the model is fitted to {} of the {} measured trials, the newest half and others evenly",
            share.data().len(),
            study.data().len()
        ));
    }
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
    if study.problem().nodes().len() > mcbo_plot::NODES {
        console.note(&format!(
            "of {} nodes those nearest to the reward have pictures of their own; `mcbo serve` draws any of them",
            study.problem().nodes().len()
        ));
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
