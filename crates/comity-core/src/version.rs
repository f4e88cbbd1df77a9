//! Which of two versions of Comity is newer.

/// Whether a version is newer than another; anything unreadable is older than all.
pub fn is_newer(version: &str, other: &str) -> bool {
    numbers(version) > numbers(other)
}

fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::is_newer;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_newer("0.10.0", "0.9.1") && is_newer("1.0.0", "0.99.99") && is_newer("0.1.1", "0.1.0"));
        assert!(!is_newer("0.1.0", "0.1.0") && !is_newer("0.1.0", "0.1.0+dirty") && !is_newer("?", "0.0.1"));
    }
}
