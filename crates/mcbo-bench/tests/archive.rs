//! Runs on disk: whole or not there, the same when read back, merged from parts.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::task;
use mcbo_bench::{
    Archive, ArchiveError, Entrant, Job, Method, PAPER_TASKS, Results, RunResult, Shard, Stored, Task, jobs,
    merge, paper_methods,
};

fn entrants(names: &[&str]) -> Vec<Entrant> {
    names.iter().map(|name| name.parse::<Method>().unwrap().into()).collect()
}

fn fill(archive: &Archive, jobs: &[Job<'_>]) -> Vec<RunResult> {
    let run = |job: &Job<'_>| {
        let run = job.run().unwrap();
        archive.save(job, &run).unwrap();
        run
    };
    jobs.iter().map(run).collect()
}

fn without_data(mut run: RunResult) -> RunResult {
    run.data = Default::default();
    run
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

#[test]
fn what_is_saved_is_read_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::at(folder.path());
    let (tasks, entrants) = ([task("toygraph"), task("dropwave")], entrants(&["mcbo-paper-0.5", "random"]));
    let jobs = jobs(&tasks, &entrants, 3..5, 2, Shard::default());
    assert!(jobs.iter().all(|job| matches!(archive.find(job), Stored::Missing)));
    let made = fill(&archive, &jobs);
    for (job, made) in jobs.iter().zip(&made) {
        let Stored::Run(found) = archive.find(job) else { panic!("{} is not there", job.entrant.name) };
        assert_eq!(*found, without_data(made.clone()));
    }
    let runs = archive.runs().unwrap();
    assert_eq!(runs.len(), made.len());
    assert!(made.iter().all(|run| runs.contains(&without_data(run.clone()))));
}

#[test]
fn runs_that_do_not_fit_are_of_no_use() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::at(folder.path());
    let task = task("dropwave");
    let entrants = entrants(&["random"]);
    let job = Job { task: &task, entrant: &entrants[0], seed: 0, rounds: 2 };
    fill(&archive, &[job]);
    let reason = |job: &Job<'_>| match archive.find(job) {
        Stored::Useless(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(&Job { rounds: 3, ..job }).contains("2 rounds instead of 3"));
    let other = Entrant { settings: "other".into(), ..Entrant::from("random".parse::<Method>().unwrap()) };
    assert!(reason(&Job { entrant: &other, ..job }).contains("other settings"));
    // A file that was cut off, and one of another format.
    let path = files(folder.path()).remove(0);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert!(reason(&job).contains("not a finished run"));
    assert!(matches!(archive.runs(), Err(ArchiveError::Unreadable { .. })));
    fs::write(&path, text.replace("\"format\":1", "\"format\":2")).unwrap();
    assert!(reason(&job).contains("format 2 is not known"));
    // Saving again mends it.
    fill(&archive, &[job]);
    assert!(archive.has(&job));
}

#[test]
fn drafts_of_killed_programs_are_not_runs() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::at(folder.path());
    let task = task("dropwave");
    let entrants = entrants(&["random"]);
    let job = Job { task: &task, entrant: &entrants[0], seed: 0, rounds: 2 };
    fs::create_dir_all(folder.path().join("dropwave/random")).unwrap();
    fs::write(folder.path().join("dropwave/random/0.77.tmp"), "{\"format\":1,").unwrap();
    assert!(matches!(archive.find(&job), Stored::Missing));
    assert_eq!(archive.runs().unwrap(), []);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let task = task("dropwave");
    let entrants = entrants(&["random"]);
    let job = Job { task: &task, entrant: &entrants[0], seed: 0, rounds: 1 };
    let error = Archive::at(&file).save(&job, &job.run().unwrap()).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
fn shards_are_disjoint_and_together_the_whole() {
    let tasks: Vec<Task> = PAPER_TASKS.iter().map(|name| task(name)).collect();
    let entrants: Vec<Entrant> = paper_methods().into_iter().map(Entrant::from).collect();
    let key = |job: &Job<'_>| (job.task.name().to_owned(), job.entrant.name.clone(), job.seed);
    let whole = jobs(&tasks, &entrants, 0..20, 100, Shard::default());
    // 10 methods on 7 tasks without settable nodes, all 13 on the other two.
    assert_eq!(whole.len(), 20 * (7 * 10 + 2 * 13));
    for count in [1, 2, 3, 7, 16] {
        let mut seen = BTreeSet::new();
        for index in 1..=count {
            let part = jobs(&tasks, &entrants, 0..20, 100, Shard { index, count });
            assert!(part.len().abs_diff(whole.len() / count) <= 20, "{index}/{count}: {}", part.len());
            assert!(part.iter().all(|job| seen.insert(key(job))));
        }
        assert_eq!(seen.len(), whole.len());
    }
}

#[test]
fn parts_are_merged_and_contradictions_refused() {
    let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let archives = [Archive::at(one.path()), Archive::at(two.path())];
    let (tasks, entrants) = ([task("dropwave")], entrants(&["random", "ucb-paper-0.5"]));
    for (index, archive) in archives.iter().enumerate() {
        fill(archive, &jobs(&tasks, &entrants, 0..3, 2, Shard { index: index + 1, count: 2 }));
    }
    let merged = merge(&archives).unwrap();
    let results = Results::new(merged.clone()).unwrap();
    assert_eq!(merged.len(), 6);
    for method in ["random", "ucb-paper-0.5"] {
        let seeds: Vec<u64> = results.runs(&tasks[0], method).iter().map(|run| run.seed).collect();
        assert_eq!(seeds, [0, 1, 2], "{method}");
    }
    // The same run twice, at another speed: fine. With another result: not.
    let shard = jobs(&tasks, &entrants, 0..3, 2, Shard { index: 1, count: 2 });
    let mut run = shard[0].run().unwrap();
    run.rounds[0].suggest_seconds = 99.0;
    archives[1].save(&shard[0], &run).unwrap();
    assert_eq!(merge(&archives).unwrap().len(), 6);
    run.rounds[0].expected_reward += 1e-12;
    archives[1].save(&shard[0], &run).unwrap();
    let error = merge(&archives).unwrap_err();
    assert!(matches!(error, ArchiveError::Conflict { .. }), "{error}");
}
