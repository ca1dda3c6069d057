//! Problem files to begin with.

/// What kind of problem to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Actions push a node, which still listens to its parents.
    Soft,
    /// A node can be set by force and no longer listens to its parents.
    Hard,
    /// Several knobs, each acting on several nodes.
    Network,
    /// Something is known beforehand, something must not happen, and trials cost something.
    Reactor,
    /// Choices by name, values in steps, and what actions must keep to together.
    Choices,
}

impl Template {
    /// All of them, the simplest first.
    pub const ALL: [Self; 5] = [Self::Soft, Self::Hard, Self::Network, Self::Reactor, Self::Choices];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Network => "network",
            Self::Reactor => "reactor",
            Self::Choices => "choices",
        }
    }

    /// What is special about it, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Soft => "Actions push a node, which still listens to its parents",
            Self::Hard => "A node can be set by force and no longer listens to its parents",
            Self::Network => "Several knobs, each acting on several nodes",
            Self::Reactor => {
                "Something is known beforehand, something must not happen, and trials cost something"
            }
            Self::Choices => "Choices by name, values in steps, and what actions must keep to together",
        }
    }

    /// The commented file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Soft => include_str!("../templates/soft.toml"),
            Self::Hard => include_str!("../templates/hard.toml"),
            Self::Network => include_str!("../templates/network.toml"),
            Self::Reactor => include_str!("../templates/reactor.toml"),
            Self::Choices => include_str!("../templates/choices.toml"),
        }
    }
}
