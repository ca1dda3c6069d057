//! What a model remembers from one round to the next.

use mcbo_gp::{Earlier, Member, Weighing};
use serde::{Deserialize, Serialize};

use super::Group;

/// What a model remembers from one round to the next: the hyper-parameters of every node's sets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelMemory {
    nodes: Vec<Vec<Vec<Member>>>,
    /// How the forms of every set were last weighed, and in which units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forms: Vec<Vec<Option<Weighed>>>,
    /// Where it is only what is new ([`Self::since`]): the places of sets whose hyper-parameters are those from before, and of sets whose
    /// forms are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept: Vec<[usize; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept_forms: Vec<[usize; 2]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Weighed {
    weighing: Weighing,
    /// The scales of the inputs and of the outputs.
    scales: Vec<f64>,
}

/// What is remembered of one set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupMemory<'a> {
    members: &'a [Member],
    weighed: Option<&'a Weighed>,
}

impl<'a> GroupMemory<'a> {
    /// What a set whose inputs and outputs have these scales now may begin from. Hyper-parameters are in scaled units: where a
    /// scale has changed much, forms are weighed anew.
    pub fn under(self, scales: &[f64]) -> Earlier<'a> {
        let close = |(now, then): (&f64, &f64)| (now / then).ln().abs() < 0.2;
        let same = |weighed: &&Weighed| {
            weighed.scales.len() == scales.len() && scales.iter().zip(&weighed.scales).all(close)
        };
        Earlier { members: self.members, weighing: self.weighed.filter(same).map(|w| &w.weighing) }
    }
}

impl ModelMemory {
    /// What is remembered of the sets at a place.
    pub(super) fn groups(&self, place: usize) -> Vec<GroupMemory<'_>> {
        let weighed = |g: usize| self.forms.get(place)?.get(g)?.as_ref();
        let members = self.nodes.get(place).map_or(&[][..], Vec::as_slice);
        members.iter().enumerate().map(|(g, members)| GroupMemory { members, weighed: weighed(g) }).collect()
    }

    /// What to remember of the sets at every place.
    pub(super) fn of<'a>(places: impl Iterator<Item = &'a [Group]>) -> Self {
        let mut memory = Self::default();
        for groups in places {
            memory.nodes.push(groups.iter().map(|group| group.set.memory()).collect());
            let weighed = |group: &Group| {
                let weighing = group.set.weighing()?.clone();
                Some(Weighed { weighing, scales: group.scales.clone() })
            };
            memory.forms.push(groups.iter().map(weighed).collect());
        }
        if memory.forms.iter().flatten().all(Option::is_none) {
            memory.forms.clear();
        }
        memory
    }

    /// What is new in it since `before`, to be written down: hyper-parameters move with every round, but forms are weighed only now and
    /// then. [`Self::completed`] puts the rest back.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut new = self.clone();
        for place in places(&self.nodes) {
            let had = at(&before.nodes, place).filter(|members| !members.is_empty());
            if let Some(members) = at_mut(&mut new.nodes, place)
                && had == Some(members)
            {
                members.clear();
                new.kept.push(place);
            }
        }
        for place in places(&self.forms) {
            let had = at(&before.forms, place).filter(|weighed| weighed.is_some());
            if let Some(weighed) = at_mut(&mut new.forms, place)
                && had == Some(weighed)
            {
                *weighed = None;
                new.kept_forms.push(place);
            }
        }
        new
    }

    /// The whole of what [`Self::since`] left the new of. What is not in `before`, where a log was repaired, is forgotten.
    pub(crate) fn completed(mut self, before: &Self) -> Self {
        for place in std::mem::take(&mut self.kept) {
            if let (Some(members), Some(had)) = (at_mut(&mut self.nodes, place), at(&before.nodes, place)) {
                members.clone_from(had);
            }
        }
        for place in std::mem::take(&mut self.kept_forms) {
            if let (Some(weighed), Some(had)) = (at_mut(&mut self.forms, place), at(&before.forms, place)) {
                weighed.clone_from(had);
            }
        }
        self
    }
}

/// The places of all sets.
fn places<T>(of_nodes: &[Vec<T>]) -> impl Iterator<Item = [usize; 2]> {
    of_nodes.iter().enumerate().flat_map(|(node, sets)| (0..sets.len()).map(move |set| [node, set]))
}

fn at<T>(of_nodes: &[Vec<T>], [node, set]: [usize; 2]) -> Option<&T> {
    of_nodes.get(node)?.get(set)
}

fn at_mut<T>(of_nodes: &mut [Vec<T>], [node, set]: [usize; 2]) -> Option<&mut T> {
    of_nodes.get_mut(node)?.get_mut(set)
}
