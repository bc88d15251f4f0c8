//! Tab-separated tables: a line of column names, then a row a line.
//!
//! Invariant: every row has as many cells as there are columns, and no cell is empty (`-` stands for "none").
//! Not here: the meaning of the cells (`spec`).

use std::fs;
use std::path::Path;

use crate::{Failure, Result};

/// One table of `spec/`.
pub struct Table {
    file: String,
    columns: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

/// One row, with its position for error texts.
pub struct Row<'t> {
    table: &'t Table,
    line: usize,
    cells: &'t [String],
}

impl Table {
    /// Reads a table; `name` is how the file is called in error texts.
    pub fn read(path: &Path, name: &str) -> Result<Table> {
        let text = fs::read_to_string(path).map_err(|error| Failure::from(error).during(path.display()))?;
        Table::parse(&text, name)
    }

    /// Reads a table out of a text.
    pub fn parse(text: &str, name: &str) -> Result<Table> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((_, head)) = lines.next() else {
            return Err(format!("spec/{name}: no line of column names").into());
        };
        let columns: Vec<String> = head.split('\t').map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            if cells.len() != columns.len() {
                let (found, wanted) = (cells.len(), columns.len());
                return Err(format!("spec/{name}:{}: {found} cells, but {wanted} columns", number + 1).into());
            }
            rows.push((number + 1, cells));
        }
        Ok(Table { file: name.to_owned(), columns, rows })
    }

    /// All rows, in file order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, cells)| Row { table: self, line: *line, cells })
    }
}

impl<'t> Row<'t> {
    /// The cell of a column, whatever it contains.
    pub fn cell(&self, column: &str) -> Result<&'t str> {
        match self.table.columns.iter().position(|name| name == column) {
            Some(index) => Ok(&self.cells[index]),
            None => Err(self.wrong(format!("no column `{column}`"))),
        }
    }

    /// The cell of a column, `None` for `-` and for an empty one.
    pub fn optional(&self, column: &str) -> Result<Option<&'t str>> {
        Ok(Some(self.cell(column)?).filter(|cell| !cell.is_empty() && *cell != "-"))
    }

    /// An error about this row, with its position.
    pub fn wrong(&self, what: impl std::fmt::Display) -> Failure {
        format!("spec/{}:{}: {what}", self.table.file, self.line).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_a_missing_cell_is_named_by_its_line() {
        let failure = Table::parse("a\tb\n1\t2\n3\n", "x.tsv").err().expect("refused");
        assert_eq!(failure.to_string(), "spec/x.tsv:3: 1 cells, but 2 columns");
    }

    #[test]
    fn a_dash_is_no_value() {
        let table = Table::parse("a\tb\n-\t2\n", "x.tsv").expect("a table");
        let row = table.rows().next().expect("a row");
        assert_eq!((row.optional("a").expect("column"), row.optional("b").expect("column")), (None, Some("2")));
    }
}
