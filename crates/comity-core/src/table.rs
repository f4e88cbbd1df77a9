//! Tables for people: a header, and columns as wide as their contents.

use crate::display::columns;

/// Lines with aligned columns. A column that is empty in every row is left out.
pub fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let is_used = |column: &usize| rows.iter().any(|row| !cell(row, *column).is_empty());
    let used: Vec<usize> = (0..headers.len()).filter(is_used).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| columns(&cell(row, column)));
        cells.chain([headers[column].chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = used.iter().map(|column| width(*column)).collect();
    let line = |cells: Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let padding = width.saturating_sub(columns(cell));
            format!("{cell}{}", " ".repeat(padding))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let header = line(used.iter().map(|column| headers[*column].to_owned()).collect());
    let body = rows.iter().map(|row| line(used.iter().map(|column| cell(row, *column)).collect()));
    std::iter::once(header).chain(body).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let text =
            table(&["PATH", "MODE", "HOLDER"], &[row(["src/a.rs", "", "ann"]), row(["ü", "", "robert"])]);
        assert_eq!(text, "PATH      HOLDER\nsrc/a.rs  ann\nü         robert");
        let text = table(&["PATH", "", "HOLDER"], &[row(["日本.rs", "", "ann"]), row(["a.rs", "", "bob"])]);
        assert_eq!(text, "PATH     HOLDER\n日本.rs  ann\na.rs     bob", "as wide as it is shown");
    }
}
