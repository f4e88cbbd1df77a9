//! The version of this program.

/// The version of this program.
pub fn version() -> &'static str {
    #[cfg(debug_assertions)]
    {
        // For tests with programs of two versions.
        static PRETENDED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
        if let Some(other) = PRETENDED.get_or_init(|| std::env::var("COMITY_PRETEND_VERSION").ok()) {
            return other;
        }
    }
    env!("CARGO_PKG_VERSION")
}
