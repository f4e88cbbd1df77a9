//! Makes the allocator return freed memory to the system.

/// Blocks of this size are the system's own, and are returned when freed.
#[cfg(target_env = "gnu")]
const LARGE_BYTES: i32 = 128 * 1024;
/// With an arena for each thread, much would be kept that others could use.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;

/// Keeps the allocator from keeping large blocks: it learns to as soon as one is freed.
#[cfg(target_env = "gnu")]
pub(super) fn give_back_large_blocks() {
    #[expect(unsafe_code, reason = "two settings of the allocator, before there are other threads")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

#[cfg(not(target_env = "gnu"))]
pub(super) fn give_back_large_blocks() {}
