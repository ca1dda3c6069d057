//! The report of a comparison: its numbers against ones worked out by hand, and its files as a reader meets them.

mod fake;

use std::fs;
use std::path::Path;

use mcbo_bench::report::{About, ReportError, write};
use mcbo_bench::{PAPER_TASKS, Results, RunResult, Task, paper_methods};

fn about() -> About {
    About {
        title: "The paper’s comparison".into(),
        command: "mcbo bench paper --seeds 0..20 && echo '<done>'".into(),
        version: "0.1.0".into(),
        machine: vec!["2 cores".into(), "Linux".into()],
        date: "1 January 2027".into(),
        notes: vec!["Invented runs: nothing here was measured.".into()],
    }
}

fn methods() -> Vec<String> {
    paper_methods().iter().map(ToString::to_string).collect()
}

/// Writes the report of some runs and reads its files back.
struct Report {
    folder: tempfile::TempDir,
    files: Vec<String>,
}

impl Report {
    fn of(runs: Vec<RunResult>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let written = write(&Results::new(runs).unwrap(), &about(), folder.path()).unwrap();
        assert_eq!(written.report, written.files[0]);
        let relative = |path: &Path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
        let files = written.files.iter().map(|path| relative(path)).collect();
        Self { folder, files }
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    fn html(&self) -> String {
        self.text("report.html")
    }

    /// The rows of a table that start with some fields.
    fn rows(&self, name: &str, start: &str) -> Vec<String> {
        self.text(name).lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    }
}

/// Two methods and two seeds on a task with optimum 1, in numbers that can be worked out by hand.
fn tiny(task: &str) -> Vec<RunResult> {
    let task = Task::named(task).unwrap();
    vec![
        // Averages 0.5 and 0.75, best 1 and 1.
        fake::run(&task, "mcbo", 0, &[0.0], &[0.5, 1.0]),
        fake::run(&task, "mcbo", 1, &[0.25], &[1.0, 1.0]),
        // Averages 0.25 and 0.25, best 0.5 and 0.25.
        fake::run(&task, "random", 0, &[0.0], &[0.25, 0.5]),
        fake::run(&task, "random", 1, &[0.25], &[0.25, 0.25]),
    ]
}

fn numbers(row: &str) -> Vec<f64> {
    row.split(',').filter_map(|field| field.parse().ok()).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{found:?} {expected:?}");
    }
}

#[test]
fn tables_hold_the_numbers() {
    let report = Report::of(tiny("dropwave"));
    let summary = |method: &str, metric: &str| {
        let rows = report.rows("summary.csv", &format!("dropwave,{method},{metric},"));
        assert_eq!(rows.len(), 1, "{method} {metric}");
        numbers(&rows[0])
    };
    // s/√n of two values is half their difference.
    assert_close(&summary("mcbo", "average_reward"), &[0.625, 0.125, 2.0]);
    assert_close(&summary("mcbo", "average_reward_rounds"), &[0.875, 0.125, 2.0]);
    assert_close(&summary("mcbo", "best_reward"), &[1.0, 0.0, 2.0]);
    assert_close(&summary("mcbo", "cumulative_regret"), &[0.25, 0.25, 2.0]);
    assert_close(&summary("random", "simple_regret"), &[0.625, 0.125, 2.0]);
    assert_close(&summary("random", "recommended_regret"), &[0.625, 0.125, 2.0]);
    assert_close(&summary("random", "seconds_per_suggestion"), &[0.0015, 0.0005, 2.0]);
    let paired =
        |metric: &str| report.rows("paired.csv", &format!("dropwave,random,random,{metric},")).remove(0);
    // 0.5 − 0.25 and 0.75 − 0.25.
    assert_close(&numbers(&paired("average_reward")), &[0.375, 0.125, 2.0]);
    assert!(paired("average_reward").ends_with(",win"));
    // −0.5 and −0.75: less regret is a win.
    assert_close(&numbers(&paired("simple_regret")), &[-0.625, 0.125, 2.0]);
    assert!(paired("simple_regret").ends_with(",win"));
    assert!(paired("seconds_per_suggestion").ends_with(",even"));
    let curve = report.rows("curves.csv", "dropwave,mcbo,");
    assert_eq!(curve.len(), 3);
    assert_close(&numbers(&curve[0]), &[0.0, 0.125, 0.125, 0.125, 0.125, 2.0]);
    assert_close(&numbers(&curve[1]), &[1.0, 0.4375, 0.1875, 0.75, 0.25, 2.0]);
    let runs = report.rows("runs.csv", "dropwave,mcbo,mcbo,,");
    assert_eq!(runs.len(), 2);
    assert_close(&numbers(&runs[0]), &[0.0, 2.0, 0.5, 0.75, 1.0, 0.5, 0.0, 0.0, 0.001]);
}

#[test]
fn the_best_is_bold_and_wins_are_marked() {
    let html = Report::of(tiny("dropwave")).html();
    // The part of the page with a table of a metric, and the cells of a method in it.
    let row = |title: &str, method: &str| {
        let part = html.split(&format!("<h3>{title}</h3>")).nth(1).unwrap();
        let row = part.split(&format!("<th scope=\"row\">{method}</th>")).nth(1).unwrap();
        row.split("</tr>").next().unwrap().to_owned()
    };
    assert_eq!(
        row("Average reward over the rounds", "MCBO default"),
        "<td><b>0.88</b>\u{202f}<span>±\u{202f}0.12</span></td>"
    );
    assert_eq!(
        row("Average reward over the rounds", "random"),
        "<td>0.312\u{202f}<span>±\u{202f}0.062</span></td>"
    );
    // Of regrets the least is best; random: 2 − 0.75 and 2 − 0.5.
    assert_eq!(
        row("Cumulative regret", "MCBO default"),
        "<td><b>0.25</b>\u{202f}<span>±\u{202f}0.25</span></td>"
    );
    assert_eq!(row("Cumulative regret", "random"), "<td>1.38\u{202f}<span>±\u{202f}0.12</span></td>");
    // Who computes nothing is not the fastest.
    assert!(row("Milliseconds per suggestion", "MCBO default").contains("<b>1.50</b>"));
    assert!(!row("Milliseconds per suggestion", "random").contains("<b>"));
    assert!(html.contains("<td class=\"win\">▲ 0.38\u{202f}<span>±\u{202f}0.12</span></td>"));
}

#[test]
fn a_width_is_chosen_by_the_other_tasks() {
    let mut runs = Vec::new();
    // On dropwave the wide band is better, on ackley the narrow one.
    for (task, better) in [("dropwave", "5"), ("ackley", "0.05")] {
        let task = Task::named(task).unwrap();
        for beta in ["0.05", "5"] {
            let share = if beta == better { 0.8 } else { 0.2 };
            let reward = task.optimum() - 1.0 + share;
            let method = format!("mcbo-paper-{beta}");
            runs.push(fake::run(&task, &method, 0, &[task.optimum() - 1.0], &[reward]));
        }
    }
    let report = Report::of(runs);
    // One row of design and one round: half the share.
    assert_eq!(report.rows("beta.csv", "mcbo,dropwave,average_reward,0.05,").len(), 1);
    assert_close(&numbers(&report.rows("beta.csv", "mcbo,dropwave,average_reward,0.05,")[0]), &[0.4]);
    assert!(report.rows("beta.csv", "mcbo,dropwave,average_reward,0.05,")[0].ends_with("true"));
    assert!(report.rows("beta.csv", "mcbo,dropwave,average_reward,5,")[0].ends_with("false"));
    assert!(report.rows("beta.csv", "mcbo,ackley,average_reward,5,")[0].ends_with("true"));
    assert!(report.html().contains("<td>0.100</td>") && report.html().contains("<td><b>0.400</b></td>"));
    // The best reward is that of the round.
    assert_close(&numbers(&report.rows("beta.csv", "mcbo,dropwave,best_reward,0.05,")[0]), &[0.8]);
    assert!(report.html().contains("MCBO (β by CV)"));
}

#[test]
fn the_whole_comparison_has_all_figures_and_needs_nothing_else() {
    let report = Report::of(fake::comparison(&PAPER_TASKS, &methods(), 3, 20));
    for name in ["average-reward", "best-reward", "beta-mcbo", "beta-ucb", "seconds"] {
        let svg = report.text(&format!("figures/{name}.svg"));
        assert!(svg.starts_with("<svg xmlns=") && svg.matches("http").count() == 1, "{name}");
        assert_picture(&report.bytes(&format!("figures/{name}.png")), name);
    }
    assert_eq!(report.files.len(), 1 + 5 + 2 * 5, "{:?}", report.files);
    let html = report.html();
    for fetch in ["http:", "https:", "<script", "<link", "<img", "url(", "@import"] {
        assert!(!html.contains(fetch), "{fetch}");
    }
    // Nine panels in each of four figures, and one of seconds.
    assert_eq!(html.matches("role=\"img\"").count(), 4 * 9 + 1);
    for label in
        ["MCBO default", "MCBO (β by CV)", "UCB (β by CV)", "EIFN", "CBO (noisy feedback)", "EI", "random"]
    {
        assert!(html.contains(&format!("</svg>{label}</li>")), "{label}");
    }
    assert!(html.contains("echo &#39;&lt;done&gt;&#39;"));
}

/// A picture of some size that is not of one colour.
fn assert_picture(bytes: &[u8], name: &str) {
    let picture = resvg::tiny_skia::Pixmap::decode_png(bytes).unwrap();
    assert!(picture.width() >= 600 && picture.height() >= 300, "{name}");
    let ground = picture.pixels()[0];
    let other = picture.pixels().iter().filter(|pixel| **pixel != ground).count();
    assert!(other > picture.pixels().len() / 50, "{name}: {other} pixels");
    let row = |y: usize| &picture.pixels()[y * picture.width() as usize..][..picture.width() as usize];
    // Letters of the title: figures do not rely on fonts of the system.
    assert!((30..60).any(|y| row(y).iter().any(|pixel| *pixel != ground)), "{name} has no title");
}

#[test]
fn same_runs_same_files() {
    let runs = || fake::comparison(&PAPER_TASKS[..3], &methods(), 2, 10);
    let (one, mut reversed) = (Report::of(runs()), runs());
    reversed.reverse();
    let two = Report::of(reversed);
    assert_eq!(one.files, two.files);
    for name in &one.files {
        assert!(one.bytes(name) == two.bytes(name), "{name}");
    }
}

#[test]
fn many_tasks_are_shown_in_groups() {
    let random: Vec<String> =
        (0..4).flat_map(|k| [format!("scm-soft-{k}"), format!("scm-hard-{k}")]).collect();
    let special = ["scm-linear-0", "scm-linear-2", "scm-past-0", "scm-past-1"].map(str::to_owned);
    let random: Vec<String> = random.into_iter().chain(special).collect();
    let tasks: Vec<&str> = PAPER_TASKS.into_iter().chain(random.iter().map(String::as_str)).collect();
    let chosen = ["mcbo".to_owned(), "random".to_owned()];
    let report = Report::of(fake::comparison(&tasks, &chosen, 2, 5));
    for name in
        ["average-reward-paper", "average-reward-random", "average-reward-scm-soft", "best-reward-scm-hard"]
    {
        assert!(report.files.contains(&format!("figures/{name}.svg")), "{name}");
    }
    let html = report.html();
    assert!(html.contains("scm-soft, mean of 4 tasks") && html.contains("scm-hard (4)"));
    assert!(html.contains("scm-linear, mean of 2 tasks") && html.contains("scm-past (2)"));
    assert!(html.contains("<details>"));
}

#[test]
fn no_runs_are_an_error_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let error = write(&Results::new(Vec::new()).unwrap(), &about(), folder.path()).unwrap_err();
    assert!(matches!(error, ReportError::NoRuns));
    assert!(error.to_string().contains("hint: "));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let folder = file.path().join("report");
    let error = write(&Results::new(tiny("dropwave")).unwrap(), &about(), &folder).unwrap_err();
    assert!(matches!(error, ReportError::Io { .. }));
    assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
}

#[test]
fn one_task_has_no_cross_validation() {
    let report = Report::of(fake::comparison(&["ackley"], &methods(), 3, 8));
    let html = report.html();
    assert!(html.contains("No width could be chosen"));
    assert!(!html.contains("β by CV"));
    // Then the widths stand for themselves.
    assert!(html.contains("</svg>MCBO β=0.5</li>"));
    assert_eq!(report.text("beta.csv").lines().count(), 1);
}

#[test]
fn one_seed_has_no_errors() {
    let runs = tiny("dropwave").into_iter().filter(|run| run.seed == 0).collect();
    let report = Report::of(runs);
    assert_eq!(report.rows("summary.csv", "dropwave,mcbo,average_reward,"), ["0.5,,1"]);
    let html = report.html();
    assert!(html.contains("n=1 in every cell") && html.contains("one seed only"));
    assert!(html.contains("<td><b>0.5000</b></td>"));
    assert!(!html.contains("<td class=\"win\">"));
}

#[test]
fn uneven_runs_are_told() {
    let mut runs = tiny("dropwave");
    runs.pop();
    runs.extend(tiny("ackley").into_iter().filter(|run| run.method == "mcbo"));
    let task = Task::named("ackley").unwrap();
    runs.push(fake::run(&task, "mcbo", 2, &[-1.0], &[-0.5, -0.5, -0.5]));
    let html = Report::of(runs).html();
    assert!(html.contains("the same number of seeds (1 to 3)"));
    assert!(html.contains("the same number of rounds (2 to 3)"));
    assert!(html.contains("no runs of random on ackley"));
    assert!(html.contains("<small>n=2</small>") && html.contains("<small>n=1</small>"));
    assert!(html.contains("<td>–</td>"));
}

#[test]
fn odd_names_are_harmless() {
    let task = Task::named("dropwave").unwrap();
    let odd = "my <b>&\"best\"</b>,\u{1}\n strategy";
    let mut runs = tiny("dropwave");
    runs.push(fake::run(&task, odd, 0, &[0.0], &[0.1, 0.2]));
    runs.push(fake::run(&task, "", 1, &[0.0], &[0.1]));
    let report = Report::of(runs);
    let html = report.html();
    assert!(html.contains("my &lt;b&gt;&amp;&quot;best&quot;&lt;/b&gt;,\u{fffd}\u{fffd} strategy"));
    assert!(!html.contains("my <b>"));
    assert!(report.text("runs.csv").contains("dropwave,\"my <b>&\"\"best\"\"</b>,\u{1}\n strategy\""));
}

/// Writes a report to look at: `cargo test -p mcbo-bench --test report -- --ignored`.
#[test]
#[ignore = "for the eye"]
fn samples_to_look_at() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let results = Results::new(fake::comparison(&PAPER_TASKS, &methods(), 20, 100)).unwrap();
    let written = write(&results, &about(), &folder.join("report-paper")).unwrap();
    println!("{}", written.report.display());
    let random = ["soft", "hard", "mixed"].map(|kind| (0..5).map(move |k| format!("scm-{kind}-{k}")));
    let random: Vec<String> = random.into_iter().flatten().collect();
    let tasks: Vec<&str> = PAPER_TASKS.into_iter().chain(random.iter().map(String::as_str)).collect();
    let mut chosen = methods();
    chosen.push("my own".into());
    let results = Results::new(fake::comparison(&tasks, &chosen, 5, 60)).unwrap();
    let written = write(&results, &about(), &folder.join("report-many")).unwrap();
    println!("{}", written.report.display());
}
