//! Numbers from a seed: the same seed makes the same line on every machine.

/// A generator (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// A word of a list that is written with blanks between.
    pub(crate) fn word<'a>(&mut self, list: &'a str) -> &'a str {
        let count = list.split_whitespace().count();
        let at = self.below(count);
        list.split_whitespace().nth(at).unwrap_or_default()
    }

    /// A line of a list, with the characters put in for which it has signs.
    pub(crate) fn piece(&mut self, list: &str) -> String {
        let at = self.below(list.lines().count());
        let line = list.lines().nth(at).unwrap_or_default();
        let line = line.replace('⏎', "\n").replace('⇥', "\t").replace('␣', " ");
        match line.split_once("<U+") {
            None => line,
            Some((before, behind)) => {
                let (code, rest) = behind.split_once('>').expect("the end of a character");
                let code = u32::from_str_radix(code, 16).expect("a number of base 16");
                format!("{before}{}{rest}", char::from_u32(code).expect("a character"))
            }
        }
    }
}
