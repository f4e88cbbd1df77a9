//! The table of all operations is in order.

use super::*;

#[test]
fn what_waits_has_a_field_for_it() {
    for entry in CATALOG {
        let schema = (entry.input)();
        let wait = &schema["properties"]["wait"];
        assert_eq!(wait.is_object() && wait["type"] != "boolean", entry.waits, "{}: wait", entry.name);
    }
}

#[test]
fn commands_are_known_by_other_words() {
    let check = |typed: &str, name: &str, count: usize| {
        let words: Vec<&str> = typed.split(' ').collect();
        let found = spelled(&words).map(|(entry, count)| (entry.name, count));
        assert_eq!(found, Some((name, count)), "{typed}");
    };
    for noun in ["agent", "decision", "lease", "lock", "permission", "plan", "task", "team", "worktree"] {
        let (entry, count) = spelled(&[noun, "show", "x"]).expect(noun);
        assert!(count == 2 && entry.operands().count() > 0, "{noun} show is {}", entry.name);
    }
    check("lock src/a.rs", "lock", 1);
    for typed in ["locks", "locks src", "lock list"] {
        check(typed, "locks", typed.split(' ').filter(|word| *word != "src").count());
    }
    check("tasks", "task_list", 1);
    check("tasks add", "task_add", 2);
    check("task ls", "task_list", 2);
    check("task get t1", "task_get", 2);
    check("ps", "agents", 1);
    check("agents", "agents", 1);
    check("worktree rm x", "worktree_remove", 2);
    check("lease free build", "lease_free", 2);
    check("permissions allow p1", "permission_allow", 2);
    check("permissions rule add", "permission_rule_add", 3);
    check("permission rules", "permission_rules", 2);
    assert!(spelled(&["nonsense"]).is_none() && spelled(&[]).is_none());
}

#[test]
fn no_two_commands_are_spelled_alike() {
    let mut all: Vec<String> = CATALOG
        .iter()
        .flat_map(|entry| entry.also.iter().map(|other| (*other).to_owned()).chain([entry.command()]))
        .filter(|spelling| !spelling.is_empty())
        .collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn schemas_refer_to_nothing_outside_of_them() {
    for entry in CATALOG {
        assert!(!(entry.input)().to_string().contains("$ref"), "{}", entry.name);
        assert!(!(entry.output)().to_string().contains("$ref"), "{}", entry.name);
    }
}

#[test]
fn every_word_with_commands_below_it_says_what_they_are_about() {
    for entry in CATALOG {
        if let (Some(word), Some(_)) = (entry.words().next(), entry.words().nth(1)) {
            assert!(about_group(word).is_some(), "{word}");
        }
    }
    for (word, _) in super::spelling::GROUPS.iter().copied().flatten() {
        assert!(words_below(word).next().is_some() || *word == "rule", "{word} has no commands");
    }
}
