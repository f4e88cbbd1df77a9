//! Which tab is whose after a new session: all ids have changed, containers and addresses have not.

use std::collections::BTreeSet;

/// A tab that somebody wants to have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WantedTab<H> {
    /// The owner's name for it, which does not change.
    pub handle: H,
    pub container: String,
    /// The address that it was last seen at.
    pub url: String,
}

/// A tab that exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observed<C> {
    /// Its id in this session.
    pub context: C,
    pub container: String,
    pub url: String,
}

/// The result of matching.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adoption<H, C> {
    /// Wanted tabs with their current ids.
    pub matched: Vec<(H, C)>,
    /// Wanted tabs that are gone.
    pub missing: Vec<H>,
    pub unknown: Vec<C>,
}

/// Matches within each container: first tabs at the same address, then the rest in order.
pub fn adopt<H: Clone, C: Clone>(wanted: &[WantedTab<H>], observed: &[Observed<C>]) -> Adoption<H, C> {
    let mut pairs: Vec<Option<usize>> = vec![None; wanted.len()];
    let mut taken = BTreeSet::new();
    for same_url in [true, false] {
        for (index, want) in wanted.iter().enumerate() {
            if pairs[index].is_some() {
                continue;
            }
            let found = observed.iter().enumerate().position(|(place, tab)| {
                !taken.contains(&place)
                    && tab.container == want.container
                    && (!same_url || tab.url == want.url)
            });
            pairs[index] = found;
            taken.extend(found);
        }
    }
    let mut adoption = Adoption { matched: Vec::new(), missing: Vec::new(), unknown: Vec::new() };
    for (want, found) in wanted.iter().zip(pairs) {
        match found {
            Some(place) => adoption.matched.push((want.handle.clone(), observed[place].context.clone())),
            None => adoption.missing.push(want.handle.clone()),
        }
    }
    let rest = observed.iter().enumerate().filter(|(place, _)| !taken.contains(place));
    adoption.unknown = rest.map(|(_, tab)| tab.context.clone()).collect();
    adoption
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Tabs are written `name:container/url`.
    fn check(wanted: &str, observed: &str, expected: Expect) {
        let parts = |text: &'static str| {
            let (name, place) = text.split_once(':').unwrap();
            let (container, url) = place.split_once('/').unwrap();
            (name, container.to_owned(), url.to_owned())
        };
        let leak = |text: &str| -> Vec<(&'static str, String, String)> {
            text.to_owned().leak().split_whitespace().map(parts).collect()
        };
        let wanted: Vec<_> = leak(wanted)
            .into_iter()
            .map(|(handle, container, url)| WantedTab { handle, container, url })
            .collect();
        let observed: Vec<_> = leak(observed)
            .into_iter()
            .map(|(context, container, url)| Observed { context, container, url })
            .collect();
        let Adoption { matched, missing, unknown } = adopt(&wanted, &observed);
        let matched: Vec<String> = matched.iter().map(|(a, b)| format!("{a}={b}")).collect();
        expected.assert_eq(&format!("{} missing {missing:?} unknown {unknown:?}", matched.join(" ")));
    }

    #[test]
    fn tabs_are_matched_by_container_then_address_then_order() {
        check("", "", expect![" missing [] unknown []"]);
        check("t1:a/x t2:a/y", "c1:a/y c2:a/x", expect!["t1=c2 t2=c1 missing [] unknown []"]);
        check("t1:a/x t2:a/y", "c1:a/z c2:a/x", expect!["t1=c2 t2=c1 missing [] unknown []"]);
        check("t1:a/x t2:a/x t3:a/x", "c1:a/x c2:a/x", expect![[r#"t1=c1 t2=c2 missing ["t3"] unknown []"#]]);
        // An address in another container is another agent's.
        check("t1:a/x", "c1:b/x", expect![[r#" missing ["t1"] unknown ["c1"]"#]]);
        check("t1:a/x t2:b/x", "c1:b/x c2:a/x", expect!["t1=c2 t2=c1 missing [] unknown []"]);
        // The same address goes before the order, even for a later handle.
        check("t1:a/moved t2:a/x", "c1:a/x", expect![[r#"t2=c1 missing ["t1"] unknown []"#]]);
        check("t1:a/p t2:a/q", "c1:a/r c2:a/s c3:a/t", expect![[r#"t1=c1 t2=c2 missing [] unknown ["c3"]"#]]);
        check("t1:a/x", "c1:default/x", expect![[r#" missing ["t1"] unknown ["c1"]"#]]);
    }
}
