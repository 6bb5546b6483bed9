// SPDX-License-Identifier: Apache-2.0
//! Others' statements about one topic that comes in. A name can be announced with several types, by mistake or by an enemy, and
//! only one can be its type here. The first that works is; another one takes its place when it turns out not to work.
use std::collections::HashSet;

use crate::announced::Announced;

/// Of one topic: what is announced beyond them takes the place of what has failed.
pub const MOST: usize = 32;
/// Tokens of one type that are distinguished. Of more, none is the last.
pub const MOST_TOKENS: usize = 64;
/// Sessions that can be asked for a type's definition; the newest.
const MOST_SESSIONS: usize = 8;

#[derive(Debug)]
struct Candidate {
    announced: Announced,
    /// A rule names it: it needs no token.
    named: bool,
    /// Numbers of the tokens that are there now.
    tokens: HashSet<u64>,
    overflowed: bool,
    zids: Vec<String>,
    failures: u32,
}

impl Candidate {
    fn is_live(&self) -> bool {
        self.named || self.overflowed || !self.tokens.is_empty()
    }
}

#[derive(Debug, Default)]
pub struct Candidates {
    all: Vec<Candidate>,
    /// Of the one that was chosen.
    chosen: Option<Key>,
    left_out: bool,
}

type Key = (String, u64, String);

fn key(one: &Announced) -> Key {
    (one.type_name.clone(), one.definition, one.hash.clone())
}

impl Candidates {
    /// A token came, or a rule names the type (`token` is 0). Returns whether it is the first of its type.
    pub fn add(&mut self, one: &Announced) -> bool {
        if let Some(known) = self.find(one) {
            known.named |= one.token == 0;
            if one.token != 0 {
                known.overflowed |= known.tokens.len() >= MOST_TOKENS && !known.tokens.contains(&one.token);
                if !known.overflowed {
                    known.tokens.insert(one.token);
                }
            }
            if !known.zids.contains(&one.zid) {
                if known.zids.len() == MOST_SESSIONS {
                    known.zids.remove(0);
                }
                known.zids.push(one.zid.clone());
            }
            // A late joiner gets as much as one of its publishers keeps.
            known.announced.depth = known.announced.depth.max(one.depth);
            return false;
        }
        if self.all.len() >= MOST && !self.make_room() {
            self.left_out = true;
            return false;
        }
        self.all.push(Candidate {
            announced: one.clone(),
            named: one.token == 0,
            tokens: if one.token == 0 { HashSet::new() } else { HashSet::from([one.token]) },
            overflowed: false,
            zids: vec![one.zid.clone()],
            failures: 0,
        });
        true
    }

    fn make_room(&mut self) -> bool {
        let chosen = self.chosen.clone();
        let candidates = self.all.iter().enumerate().filter(|(_, c)| Some(key(&c.announced)) != chosen && !c.named);
        let worst = candidates.filter(|(_, c)| c.failures > 0 || !c.is_live()).max_by_key(|(_, c)| c.failures);
        let Some((at, _)) = worst else { return false };
        self.all.remove(at);
        true
    }

    /// A token has ended.
    pub fn end(&mut self, one: &Announced) {
        if let Some(known) = self.find(one) {
            known.tokens.remove(&one.token);
        }
    }

    /// Tokens that are not among these have ended. Returns whether there was one.
    pub fn end_all_but(&mut self, live: &HashSet<u64>) -> bool {
        let mut some = false;
        for candidate in &mut self.all {
            let before = candidate.tokens.len();
            candidate.tokens.retain(|token| live.contains(token));
            some |= candidate.tokens.len() != before;
        }
        some
    }

    /// None of its publishers is there.
    pub fn is_empty(&self) -> bool {
        !self.all.iter().any(Candidate::is_live)
    }

    /// The one to carry: of those whose publishers are there the one that has failed least. Each time that it has failed,
    /// another session is to be asked.
    pub fn choose(&mut self) -> Option<Announced> {
        let best = self.all.iter().min_by_key(|c| (!c.is_live(), c.failures))?;
        self.chosen = Some(key(&best.announced));
        let zid = best.zids[best.failures as usize % best.zids.len()].clone();
        Some(Announced { zid, ..best.announced.clone() })
    }

    /// It does not work.
    pub fn failed(&mut self, one: &Announced) {
        if let Some(known) = self.find(one) {
            known.failures = known.failures.saturating_add(1);
        }
    }

    /// Whether another type's publishers are there.
    pub fn has_another(&self, than: &Announced) -> bool {
        self.all.iter().any(|c| c.is_live() && key(&c.announced) != key(than))
    }

    /// The same, while its own have gone.
    pub fn has_ended(&self, one: &Announced) -> bool {
        let live = self.all.iter().any(|c| c.is_live() && key(&c.announced) == key(one));
        !live && self.has_another(one)
    }

    pub fn is_chosen(&self, one: &Announced) -> bool {
        self.chosen.as_ref() == Some(&key(one))
    }

    pub fn knows(&self, type_name: &str, hash: &str) -> bool {
        self.all.iter().any(|c| c.announced.type_name == type_name && c.announced.hash == hash)
    }

    /// All have failed, and some were left out: it is time to look for those again. Says so once.
    pub fn takes_another_look(&mut self) -> bool {
        self.left_out && self.all.iter().all(|c| c.failures > 0) && std::mem::take(&mut self.left_out)
    }

    /// The type that is carried, or will be.
    pub fn type_name(&self) -> String {
        let chosen = self.all.iter().find(|c| Some(key(&c.announced)) == self.chosen);
        chosen.or(self.all.first()).map_or(String::new(), |c| c.announced.type_name.clone())
    }

    /// How many types are remembered, and tokens of the one that has most of them.
    pub fn sizes(&self) -> (usize, usize) {
        (self.all.len(), self.all.iter().map(|c| c.tokens.len()).max().unwrap_or(0))
    }

    fn find(&mut self, one: &Announced) -> Option<&mut Candidate> {
        self.all.iter_mut().find(|c| key(&c.announced) == key(one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(type_name: &str, token: u64) -> Announced {
        Announced { token, name: "/a".into(), type_name: type_name.into(), ..Announced::default() }
    }
    fn chosen(all: &mut Candidates) -> String {
        all.choose().map_or(String::new(), |c| c.type_name)
    }

    #[test]
    fn the_first_that_works_stays() {
        let mut all = Candidates::default();
        assert!(all.choose().is_none());
        assert!(all.add(&one("x/msg/A", 1)));
        assert!(all.add(&one("x/msg/B", 2)));
        assert!(!all.add(&one("x/msg/A", 3)));
        assert_eq!(chosen(&mut all), "x/msg/A");
        assert!(all.has_another(&one("x/msg/A", 1)) && !all.has_ended(&one("x/msg/A", 1)));
        assert_eq!(all.type_name(), "x/msg/A");
    }

    #[test]
    fn one_that_fails_gives_way_and_has_its_turn_again() {
        let mut all = Candidates::default();
        all.add(&one("x/msg/A", 1));
        all.add(&one("x/msg/B", 2));
        all.failed(&one("x/msg/A", 1));
        assert_eq!(chosen(&mut all), "x/msg/B");
        all.failed(&one("x/msg/B", 2));
        assert_eq!(chosen(&mut all), "x/msg/A");
        all.failed(&one("x/msg/A", 1));
        assert_eq!(chosen(&mut all), "x/msg/B");
    }

    #[test]
    fn each_session_is_asked() {
        let mut all = Candidates::default();
        for (token, zid) in ["a", "b"].into_iter().enumerate() {
            all.add(&Announced { zid: zid.into(), ..one("x/msg/A", token as u64 + 1) });
        }
        let mut asked = || {
            let tried = all.choose().unwrap();
            all.failed(&tried);
            tried.zid
        };
        assert_eq!([asked(), asked(), asked()], ["a", "b", "a"]);
    }

    #[test]
    fn one_whose_publishers_have_gone_gives_way() {
        let mut all = Candidates::default();
        all.add(&one("x/msg/A", 1));
        all.add(&one("x/msg/A", 2));
        all.add(&one("x/msg/B", 3));
        all.end(&one("x/msg/A", 1));
        assert!(!all.has_ended(&one("x/msg/A", 0)));
        all.end(&one("x/msg/A", 2));
        assert!(all.has_ended(&one("x/msg/A", 0)));
        assert_eq!(chosen(&mut all), "x/msg/B");
        all.end(&one("x/msg/B", 3));
        assert!(all.is_empty() && !all.has_ended(&one("x/msg/B", 0)));
        assert_eq!(chosen(&mut all), "x/msg/A", "they may come back");
    }

    #[test]
    fn an_end_that_was_not_seen_is_made_up_for() {
        let mut all = Candidates::default();
        all.add(&one("x/msg/A", 1));
        all.add(&one("x/msg/B", 2));
        all.add(&one("x/msg/C", 0));
        assert!(!all.end_all_but(&HashSet::from([1, 2, 3])));
        assert!(all.end_all_but(&HashSet::from([2])));
        assert!(all.has_ended(&one("x/msg/A", 0)) && !all.has_ended(&one("x/msg/B", 0)));
        assert!(all.end_all_but(&HashSet::new()) && !all.is_empty(), "a rule names one");
    }

    #[test]
    fn one_that_a_rule_names_needs_no_token() {
        let mut all = Candidates::default();
        all.add(&one("x/msg/A", 0));
        all.add(&one("x/msg/A", 1));
        all.end(&one("x/msg/A", 1));
        assert!(!all.is_empty());
    }

    #[test]
    fn invented_types_cost_little_and_keep_nobody_out() {
        let mut all = Candidates::default();
        for n in 0..10_000 {
            all.add(&one(&format!("x/msg/T{n}"), n + 1));
        }
        assert_eq!(all.sizes(), (MOST, 1));
        assert!(!all.add(&one("x/msg/Honest", 7)), "all others may be honest too");
        assert!(!all.takes_another_look());
        for n in 0..MOST {
            let tried = all.choose().unwrap();
            assert_eq!(tried.type_name, format!("x/msg/T{n}"));
            all.failed(&tried);
        }
        assert!(all.takes_another_look() && !all.takes_another_look());
        assert!(all.add(&one("x/msg/Honest", 7)));
        assert_eq!(chosen(&mut all), "x/msg/Honest");
        for token in 0..10_000 {
            all.add(&one("x/msg/Honest", token + 1));
        }
        assert_eq!(all.sizes(), (MOST, MOST_TOKENS));
    }
}
