//! Stores that are damaged, full, or cannot be written.

use crate::mcbo_in;
use crate::study::lab;

/// A value that was changed behind the program's back is never shown as if nothing had happened.
#[test]
fn damaged_stores() {
    let directory = lab();
    let at = directory.path();
    mcbo_in(at, &["ask", "lab"]).with_code(0);
    let file = at.join("studies.sqlite");
    let right = std::fs::read(&file).unwrap();
    let text = br#""worker":""#;
    let place = right.windows(text.len()).position(|window| window == text).unwrap();
    let mut broken = right.clone();
    broken[place + text.len()] ^= 1;
    std::fs::write(&file, &broken).unwrap();
    for call in [
        &["status", "lab"][..],
        &["ask", "lab"],
        &["export", "lab"],
        &["log", "lab"],
        &["best", "lab"],
        &["doctor"],
    ] {
        let done = mcbo_in(at, call).with_code(1);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(
            said.contains("is damaged") && said.contains("hint: `mcbo doctor --repair"),
            "{call:?}: {said}"
        );
    }
    let saved = mcbo_in(at, &["doctor", "--repair", "saved.sqlite"]).with_code(1);
    assert!(saved.stdout.contains("lab: ") && saved.stdout.contains("event 2"), "{}", saved.stdout);
    assert_eq!(std::fs::read(&file).unwrap(), broken, "the damaged file stays");
    let url = format!("sqlite://{}", at.join("saved.sqlite").display());
    mcbo_in(at, &["ask", "lab", "--storage", &url]).with_code(0);
    let address = format!("sqlite://{}", at.join("again.sqlite").display());
    mcbo_in(at, &["doctor", "--repair", &address]).with_code(1);
    mcbo_in(at, &["ask", "lab", "--storage", &address]).with_code(0);
    std::fs::write(&file, "").unwrap();
    let empty = mcbo_in(at, &["studies"]).with_code(1);
    assert!(empty.stderr.contains("has nothing in it"), "{}", empty.stderr);
}

/// A small disk of its own, where whoever runs the tests may make one.
#[cfg(target_os = "linux")]
struct Disk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Disk {
    fn mount(&self, options: &str) -> bool {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(self.0.path());
        mount.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    }

    fn new(kib: usize) -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        let made = disk.mount(&format!("size={kib}k"));
        if !made {
            eprintln!(
                "\n*** NOT TESTED: disks that are full or cannot be written; only root can mount one ***\n"
            );
        }
        made.then_some(disk)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disks_and_folders_that_cannot_be_written() {
    let Some(disk) = Disk::new(512) else { return };
    let at = disk.0.path();
    std::fs::copy(lab().path().join("p.toml"), at.join("p.toml")).unwrap();
    mcbo_in(at, &["new", "lab", "--problem", "p.toml"]).with_code(0);
    let asked = mcbo_in(at, &["ask", "lab", "--json"]).with_code(0);
    mcbo_in(at, &["doctor"]).with_code(0);
    // Cut off where nothing more goes on it.
    let full = std::fs::write(at.join("filling"), vec![1; 1 << 20]);
    assert!(full.is_err());
    let doctor = mcbo_in(at, &["doctor"]).with_code(1);
    assert!(
        !doctor.stdout.contains("can be written") && doctor.stdout.contains("no space left"),
        "{}",
        doctor.stdout
    );
    mcbo_in(at, &["status", "lab"]).with_code(0);
    mcbo_in(at, &["init", "other.toml"]).with_code(1);
    assert!(!at.join("other.toml").exists(), "an empty file");
    let url = format!("sqlite://{}", at.join("new.sqlite").display());
    mcbo_in(at, &["new", "x", "--problem", "p.toml", "--storage", &url]).with_code(1);
    assert!(!at.join("new.sqlite").exists(), "an empty store");
    std::fs::remove_file(at.join("filling")).unwrap();
    assert_eq!(mcbo_in(at, &["ask", "lab", "--json"]).with_code(0).stdout, asked.stdout);

    let remounted = std::process::Command::new("mount").args(["-o", "remount,ro"]).arg(at).status().unwrap();
    assert!(remounted.success());
    assert!(!at.join("studies.sqlite-wal").exists());
    mcbo_in(at, &["status", "lab"]).with_code(0);
    mcbo_in(at, &["export", "lab"]).with_code(0);
    let refused = mcbo_in(at, &["tell", "lab", "1", "y=1"]).with_code(1);
    assert!(refused.stderr.contains("read-only"), "{}", refused.stderr);
}
