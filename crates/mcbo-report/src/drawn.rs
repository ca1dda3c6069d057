//! Graphs that were drawn elsewhere: DOT, dagitty and GML, read as far as a problem needs them.

use std::collections::BTreeMap;

use mcbo_core::Problem;

/// A graph as it was drawn.
#[derive(Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Drawn {
    /// Names in the order in which they come up.
    pub nodes: Vec<String>,
    /// Arrows between places of nodes.
    pub arrows: Vec<(usize, usize)>,
    /// What dagitty calls exposures, outcomes and latent variables.
    pub exposures: Vec<usize>,
    /// See [`Self::exposures`].
    pub outcomes: Vec<usize>,
    /// See [`Self::exposures`].
    pub latent: Vec<usize>,
    /// Pairs that something unseen acts on: arrows with two heads.
    pub confounded: Vec<(usize, usize)>,
}

/// A piece of text that means something.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Sign(&'static str),
}

const SIGNS: [&str; 11] = ["<->", "->", "<-", "--", "{", "}", "[", "]", ";", ",", "="];

/// The words and signs of a text, comments left out, each with its line.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, (String, String)> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let eat = |rest: &mut &str, line: &mut usize, length: usize| {
            *line += rest[..length].matches('\n').count();
            *rest = &rest[length..];
        };
        if first.is_whitespace() {
            eat(&mut rest, &mut line, first.len_utf8());
        } else if rest.starts_with("//") || first == '#' {
            let length = rest.find('\n').unwrap_or(rest.len());
            eat(&mut rest, &mut line, length);
        } else if rest.starts_with("/*") {
            let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
            eat(&mut rest, &mut line, length);
        } else if first == '"' {
            let mut word = String::new();
            let mut letters = rest[1..].char_indices();
            let end = loop {
                match letters.next() {
                    None => return Err((format!("line {line}: a quote is not closed"), "close it".into())),
                    Some((at, '"')) => break at + 2,
                    Some((_, '\\')) => word.extend(letters.next().map(|(_, letter)| letter)),
                    Some((_, letter)) => word.push(letter),
                }
            };
            tokens.push((line, Token::Word(word)));
            eat(&mut rest, &mut line, end);
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((line, Token::Sign(sign)));
            eat(&mut rest, &mut line, sign.len());
        } else {
            let stops = |at: usize| {
                let here = &rest[at..];
                let letter = here.chars().next().unwrap_or(' ');
                letter.is_whitespace() || letter == '"' || SIGNS.iter().any(|sign| here.starts_with(sign))
            };
            let end =
                rest.char_indices().map(|(at, _)| at).skip(1).find(|&at| stops(at)).unwrap_or(rest.len());
            tokens.push((line, Token::Word(rest[..end].to_owned())));
            eat(&mut rest, &mut line, end);
        }
    }
    Ok(tokens)
}

impl Drawn {
    /// Reads a graph; which format it has is seen from how it begins.
    ///
    /// # Errors
    /// What is wrong, with a hint.
    pub fn read(text: &str) -> Result<Self, (String, String)> {
        let tokens = tokens(text)?;
        let word = |at: usize| match tokens.get(at) {
            Some((_, Token::Word(word))) => word.to_ascii_lowercase(),
            _ => String::new(),
        };
        let gml = tokens.windows(2).any(|pair| {
            matches!(pair, [(_, Token::Word(word)), (_, Token::Sign("["))] if word.eq_ignore_ascii_case("graph"))
        });
        let drawn = match (word(0).as_str(), gml) {
            ("graph" | "creator" | "version", true) | ("", true) => Gml::read(&tokens)?,
            ("strict" | "digraph" | "dag" | "mag" | "pdag", _) => Arrows::read(&tokens)?,
            ("graph", false) => {
                let message = "its lines have no direction".to_owned();
                return Err((message, "begin it with `digraph` and write arrows as `a -> b`".into()));
            }
            _ => {
                let message = "it is neither DOT nor dagitty nor GML".to_owned();
                return Err((
                    message,
                    "DOT begins with `digraph`, dagitty with `dag`, GML with `graph [`".into(),
                ));
            }
        };
        if drawn.nodes.is_empty() {
            return Err(("there is no node in it".into(), "write arrows, as in `digraph { a -> b }`".into()));
        }
        Ok(drawn)
    }

    fn node(&mut self, name: &str) -> usize {
        self.nodes.iter().position(|known| known == name).unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        })
    }

    /// The text of a problem file, with what only its user can know marked.
    pub fn toml(&self) -> String {
        let names = self.names();
        let reward = self.reward();
        let roots: Vec<usize> =
            (0..names.len()).filter(|&node| node != reward && self.parents(node).next().is_none()).collect();
        let settable = if self.exposures.is_empty() { &roots } else { &self.exposures };
        let mut text = format!(
            "# From a drawn graph: the arrows are there, what only you know is marked with `mend`.\n\n\
             maximize = \"{}\"    # mend: or minimize\n",
            names[reward]
        );
        for &(one, other) in &self.confounded {
            text.push_str(&format!(
                "# {} <-> {}: something that is not in the graph acts on both. Measure it and add it as a node, or the model will be\n\
                 # surer than it should be.\n",
                names[one], names[other]
            ));
        }
        for (node, name) in names.iter().enumerate() {
            text.push_str(&format!("\n[nodes.{name}]"));
            if *name != self.nodes[node] {
                text.push_str(&format!("    # {}", self.nodes[node].replace(['\n', '\r'], " ")));
            }
            text.push('\n');
            let parents: Vec<String> =
                self.parents(node).map(|parent| format!("{:?}", names[parent])).collect();
            if !parents.is_empty() {
                text.push_str(&format!("parents = [{}]\n", parents.join(", ")));
            }
            if settable.contains(&node) && node != reward {
                text.push_str("do = [0.0, 1.0]    # mend: the range in which it can be set; remove the line if it cannot\n");
            }
            if self.latent.contains(&node) {
                text.push_str("# latent: it cannot be measured, so no mechanism that it acts on can be learned; leave it out if you can\n");
            }
        }
        text
    }

    fn parents(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.arrows.iter().filter(move |(_, to)| *to == node).map(|(from, _)| *from)
    }

    /// What to optimise: the outcome, else what nothing depends on, the one with most parents.
    fn reward(&self) -> usize {
        let sinks = (0..self.nodes.len()).filter(|node| !self.arrows.iter().any(|(from, _)| from == node));
        let by_parents = sinks.max_by_key(|&node| (self.parents(node).count(), node));
        self.outcomes.first().copied().or(by_parents).unwrap_or(self.nodes.len() - 1)
    }

    /// Names that a problem file takes, each once.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for given in &self.nodes {
            let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
            let mut name: String = given.trim().chars().map(plain).collect();
            let fits = |name: &str| {
                let text = format!(
                    "maximize = \"out\"\n[nodes.{name}]\ndo = [0, 1]\n[nodes.out]\nparents = [\"{name}\"]\n"
                );
                name == "out" || Problem::from_toml(&text).is_ok()
            };
            if !fits(&name) {
                name = format!("n_{name}");
            }
            let base = name.clone();
            let mut next = 2;
            while names.contains(&name) {
                name = format!("{base}_{next}");
                next += 1;
            }
            names.push(name);
        }
        names
    }
}

/// DOT and dagitty, which share their arrows.
struct Arrows<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
    drawn: Drawn,
}

impl<'a> Arrows<'a> {
    fn read(tokens: &'a [(usize, Token)]) -> Result<Drawn, (String, String)> {
        let open = tokens.iter().position(|(_, token)| *token == Token::Sign("{"));
        let Some(open) = open else {
            return Err(("there is no { in it".into(), "write `digraph { a -> b }`".into()));
        };
        let mut reader = Self { tokens, at: open + 1, drawn: Drawn::default() };
        reader.statements()?;
        Ok(reader.drawn)
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(there);
        there
    }

    fn line(&self) -> usize {
        let last = self.tokens.last().map_or(1, |(line, _)| *line);
        self.tokens.get(self.at).map_or(last, |(line, _)| *line)
    }

    /// Statements up to the closing brace; the nodes that they name.
    fn statements(&mut self) -> Result<Vec<usize>, (String, String)> {
        let mut named = Vec::new();
        loop {
            match self.peek() {
                None => {
                    return Err((format!("line {}: a {{ is not closed", self.line()), "write `}`".into()));
                }
                Some(Token::Sign("}")) => {
                    self.at += 1;
                    return Ok(named);
                }
                Some(Token::Sign(";" | ",")) => self.at += 1,
                Some(_) => named.extend(self.statement()?),
            }
        }
    }

    /// `a -> {b c} -> d [color = red]`.
    fn statement(&mut self) -> Result<Vec<usize>, (String, String)> {
        if let (Some(Token::Word(word)), Some((_, next))) = (self.peek(), self.tokens.get(self.at + 1)) {
            let about_all = ["node", "edge", "graph"].contains(&word.to_ascii_lowercase().as_str());
            if about_all && *next == Token::Sign("[") {
                self.at += 1;
                self.attributes()?;
                return Ok(Vec::new());
            }
            if *next == Token::Sign("=") {
                self.at += 3;
                return Ok(Vec::new());
            }
        }
        let mut left = self.end()?;
        let mut named = left.clone();
        loop {
            let sign = ["->", "<-", "<->", "--"].into_iter().find(|sign| self.takes(sign));
            let Some(sign) = sign else { break };
            if sign == "--" {
                let message = format!("line {}: `--` has no direction", self.line());
                return Err((message, "write the arrow from the cause to the effect, `a -> b`".into()));
            }
            let right = self.end()?;
            for &one in &left {
                for &other in &right {
                    match sign {
                        "->" => self.drawn.arrows.push((one, other)),
                        "<-" => self.drawn.arrows.push((other, one)),
                        _ => self.drawn.confounded.push((one, other)),
                    }
                }
            }
            named.extend(&right);
            left = right;
        }
        let attributes = self.attributes()?;
        for attribute in attributes {
            match attribute.to_ascii_lowercase().as_str() {
                "exposure" => self.drawn.exposures.extend(&named),
                "outcome" => self.drawn.outcomes.extend(&named),
                "latent" => self.drawn.latent.extend(&named),
                _ => {}
            }
        }
        Ok(named)
    }

    /// A name, or several in braces.
    fn end(&mut self) -> Result<Vec<usize>, (String, String)> {
        if matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("subgraph")) {
            self.at += 1;
            if matches!(self.peek(), Some(Token::Word(_))) {
                self.at += 1;
            }
        }
        if self.takes("{") {
            return self.statements();
        }
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                // A port says where at the box the arrow ends.
                let name = word.split(':').next().filter(|name| !name.is_empty()).unwrap_or(word);
                Ok(vec![self.drawn.node(name)])
            }
            Some(Token::Sign(sign)) => Err((
                format!("line {}: {sign} stands where a name should", self.line()),
                "write `a -> b`".into(),
            )),
            None => Err((format!("line {}: an arrow has no end", self.line()), "write `a -> b`".into())),
        }
    }

    /// The words of all `[...]` that follow, but for values.
    fn attributes(&mut self) -> Result<Vec<String>, (String, String)> {
        let mut found = Vec::new();
        while self.takes("[") {
            loop {
                match self.peek() {
                    None => {
                        return Err((format!("line {}: a [ is not closed", self.line()), "write `]`".into()));
                    }
                    Some(Token::Sign("]")) => {
                        self.at += 1;
                        break;
                    }
                    Some(Token::Sign("=")) => self.at += 2,
                    Some(Token::Word(word)) => {
                        found.push(word.clone());
                        self.at += 1;
                    }
                    Some(_) => self.at += 1,
                }
            }
        }
        Ok(found)
    }
}

/// GML: lists of keys and values in brackets.
struct Gml;

impl Gml {
    fn read(tokens: &[(usize, Token)]) -> Result<Drawn, (String, String)> {
        let (mut drawn, mut places) = (Drawn::default(), BTreeMap::<String, usize>::new());
        let blocks = |kind: &str| {
            let kind = kind.to_owned();
            tokens.iter().enumerate().filter_map(move |(at, (line, token))| {
                let opens = tokens.get(at + 1).is_some_and(|(_, next)| *next == Token::Sign("["));
                let is = matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(&kind));
                (is && opens).then(|| (*line, fields(&tokens[at + 2..])))
            })
        };
        for (line, node) in blocks("node") {
            let id =
                node.get("id").ok_or((format!("line {line}: a node has no id"), "write `id 1`".into()))?;
            let name = node.get("label").or_else(|| node.get("name")).unwrap_or(id);
            let before = drawn.nodes.len();
            let place = drawn.node(name);
            if place < before {
                return Err((
                    format!("line {line}: two nodes are called {name:?}"),
                    "give each its own label".into(),
                ));
            }
            places.insert(id.clone(), place);
        }
        for (line, edge) in blocks("edge") {
            let end = |key: &str| {
                let id = edge.get(key);
                id.and_then(|id| places.get(id)).copied().ok_or_else(|| {
                    let message = format!("line {line}: an edge has no {key} that is a node");
                    (message, "write `source 1 target 2`".to_owned())
                })
            };
            drawn.arrows.push((end("source")?, end("target")?));
        }
        Ok(drawn)
    }
}

/// The keys and values of a block, those of blocks inside left out.
fn fields(tokens: &[(usize, Token)]) -> BTreeMap<String, String> {
    let (mut fields, mut key, mut depth) = (BTreeMap::new(), None::<String>, 0);
    for (_, token) in tokens {
        match token {
            Token::Sign("]") if depth == 0 => break,
            Token::Sign("]") => depth -= 1,
            Token::Sign("[") => (depth, key) = (depth + 1, None),
            Token::Word(word) if depth == 0 => match key.take() {
                None => key = Some(word.to_ascii_lowercase()),
                Some(key) => _ = fields.insert(key, word.clone()),
            },
            _ => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(text: &str) -> Vec<(String, String)> {
        let drawn = Drawn::read(text).unwrap_or_else(|(message, _)| panic!("{message}: {text}"));
        let name = |node: usize| drawn.nodes[node].clone();
        drawn.arrows.iter().map(|&(from, to)| (name(from), name(to))).collect()
    }

    fn pairs(text: &str) -> Vec<(String, String)> {
        text.split_whitespace()
            .map(|pair| pair.split_once('>').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a pair"))
            .collect()
    }

    #[test]
    fn all_three_formats_are_read() {
        let dot = "strict digraph brew { // a comment\n rankdir=LR; node [shape=box];\n sugar -> mash -> {wort, taste}\n /* and */ \
                   wort -> taste [label=\"a -> b\"]; subgraph s { hops:n -> wort } }";
        assert_eq!(arrows(dot), pairs("sugar>mash mash>wort mash>taste wort>taste hops>wort"));
        let dagitty = "dag {\nbb=\"0,0,1,1\"\nA [exposure,pos=\"-1,0\"]\nY [outcome]\nU [latent]\nA -> M\nM -> Y\nA <-> M\nY <- U\n}";
        let drawn = Drawn::read(dagitty).unwrap();
        assert_eq!(arrows(dagitty), pairs("A>M M>Y U>Y"));
        let named = |list: &[usize]| list.iter().map(|&node| drawn.nodes[node].as_str()).collect::<Vec<_>>();
        assert_eq!(
            (named(&drawn.exposures), named(&drawn.outcomes), named(&drawn.latent)),
            (vec!["A"], vec!["Y"], vec!["U"])
        );
        assert_eq!(drawn.confounded.len(), 1);
        let gml = "graph [\n directed 1\n node [ id 1 label \"soil water\" graphics [ x 1 id 9 ] ]\n node [ id 2 label \"yield\" ]\n \
                   edge [ source 1 target 2 label \"x\" ]\n]";
        assert_eq!(arrows(gml), [("soil water".to_owned(), "yield".to_owned())]);
    }

    #[test]
    fn what_is_written_is_a_problem() {
        for text in [
            "digraph { sugar -> mash -> taste; hops -> taste }",
            "dag { \"soil water\" [exposure] \"soil water\" -> log -> \"2nd cut\" \"soil water\" -> \"soil_water\" -> \"2nd cut\" }",
            "dag { A [exposure] Y [outcome] Z A -> Y Y -> Z A <-> Y }",
            "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]",
        ] {
            let drawn = Drawn::read(text).unwrap();
            let written = drawn.toml();
            let problem = Problem::from_toml(&written).unwrap_or_else(|errors| panic!("{errors}\n{written}"));
            assert_eq!(problem.nodes().len(), drawn.nodes.len());
            let count: usize = problem.nodes().iter().map(|node| node.parents.len()).sum();
            assert_eq!(count, drawn.arrows.len());
            assert!(!problem.settable().is_empty(), "{written}");
        }
        let outcome = Drawn::read("dag { A [exposure] Y [outcome] Z A -> Y Y -> Z }").unwrap().toml();
        assert!(outcome.contains("maximize = \"Y\""), "{outcome}");
    }

    #[test]
    fn what_cannot_be_read_is_said_with_a_hint() {
        for (text, words) in [
            ("", "neither"),
            ("flowchart TD", "neither"),
            ("graph { a -- b }", "no direction"),
            ("digraph { a -- b }", "no direction"),
            ("digraph { a -> }", "where a name should"),
            ("digraph { a -> b", "not closed"),
            ("digraph { \"a -> b }", "quote"),
            ("digraph { a [x -> b }", "not closed"),
            ("digraph { }", "no node"),
            ("digraph", "no {"),
            ("graph [ node [ label \"a\" ] ]", "no id"),
            ("graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "no target"),
        ] {
            let (message, hint) = Drawn::read(text).expect_err(text);
            assert!(message.contains(words) && !hint.is_empty(), "{text}: {message}");
        }
    }
}
