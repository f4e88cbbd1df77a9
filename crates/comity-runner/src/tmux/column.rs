//! The heights of panes that stand one above the other.

/// Rows that a pane needs at least, to be of use.
const ROWS_MIN: usize = 2;

/// How high each pane becomes, from the top down.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Column {
    pub(super) existing: Vec<usize>,
    pub(super) new: Vec<usize>,
}

impl Column {
    /// Shares the rows of the panes that are there among them and the new ones, as evenly as it goes.
    pub(super) fn plan(existing: &[usize], new: usize) -> Option<Self> {
        let panes = existing.len() + new;
        let borders = panes.checked_sub(1)?;
        let rows = existing.iter().sum::<usize>() + existing.len().checked_sub(1)?;
        let rows = rows.checked_sub(borders)?;
        let (each, over) = (rows / panes, rows % panes);
        if each < ROWS_MIN {
            return None;
        }
        let mut heights: Vec<usize> = (0..panes).map(|index| each + usize::from(index < over)).collect();
        let new = heights.split_off(existing.len());
        Some(Self { existing: heights, new })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_evenly_and_borders_count() {
        let plan =
            |existing: &[usize], new| Column::plan(existing, new).map(|it| [it.existing, it.new].concat());
        assert_eq!(plan(&[50], 0), Some(vec![50]));
        assert_eq!(plan(&[50], 1), Some(vec![25, 24]));
        assert_eq!(plan(&[50], 4), Some(vec![10, 9, 9, 9, 9]));
        assert_eq!(plan(&[25, 24], 1), Some(vec![16, 16, 16]));
        assert_eq!(plan(&[40, 9], 1), Some(vec![16, 16, 16]));
        assert_eq!(plan(&[29], 9), Some(vec![2; 10]));
        assert_eq!(plan(&[28], 9), None);
        assert_eq!(plan(&[], 1), None);
    }
}
