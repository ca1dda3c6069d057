//! The command line of `mcbo serve`.

use clap::Args;

use super::Storage;

/// `mcbo serve`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo serve --open                      the studies in this computer's browser
  mcbo serve --port 9000 --read-only     to look, not to change anything
  mcbo serve --host 0.0.0.0              for others, who need the token that is printed

Without --host only this computer can reach the pages. There is no encryption: for others than those on a network that you trust, put \
a server before it that has one, or use `ssh -L 8080:localhost:8080`.")]
pub struct Serve {
    /// The port to listen on; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub port: u16,
    /// The address to listen on; 0.0.0.0 means all of this computer's
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub host: String,
    /// What visitors must know [default: nothing on this computer, else a new one is made and printed]
    #[arg(long, value_name = "TOKEN", env = "MCBO_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Show everything, change nothing
    #[arg(long)]
    pub read_only: bool,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub storage: Storage,
}
