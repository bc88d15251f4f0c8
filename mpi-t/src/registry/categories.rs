//! Categories: variables by subsystem, in a tree (MPI-5.0, section 15.3.9).
//!
//! A category's name is a dotted path; each prefix of it is a category that contains it.
//! Invariant: members keep their order, and the stamp moves with every change.
//! Not here: which variable is in which category (their declarations say so).

use std::sync::atomic::Ordering;

use mpi_core::ShortMutex;

use super::{Registry, RegistryState, int, joined, names};
use crate::{TError, TResult};

/// What tools can read about a category.
#[derive(Debug)]
pub struct CategoryInfo {
    name: String,
    description: String,
    members: ShortMutex<Members>,
}

#[derive(Debug, Default)]
struct Members {
    cvars: Vec<i32>,
    pvars: Vec<i32>,
    events: Vec<i32>,
    categories: Vec<i32>,
}

impl CategoryInfo {
    /// The name, a dotted path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description of its subject; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Indices of its control variables, in the order in which they were added.
    pub fn cvars(&self) -> Vec<i32> {
        self.with(|members| members.cvars.clone())
    }

    /// Indices of its performance variables.
    pub fn pvars(&self) -> Vec<i32> {
        self.with(|members| members.pvars.clone())
    }

    /// Indices of its event types.
    pub fn events(&self) -> Vec<i32> {
        self.with(|members| members.events.clone())
    }

    /// Indices of the categories in it.
    pub fn categories(&self) -> Vec<i32> {
        self.with(|members| members.categories.clone())
    }

    /// Numbers of control variables, performance variables and categories.
    pub fn counts(&self) -> (i32, i32, i32) {
        self.with(|m| (int(m.cvars.len()), int(m.pvars.len()), int(m.categories.len())))
    }

    fn with<R>(&self, use_them: impl FnOnce(&mut Members) -> R) -> R {
        use_them(&mut self.members.lock())
    }
}

impl Registry {
    /// Sets the descriptions of categories, before variables are put in them.
    pub fn describe_categories(&self, texts: &[(&'static str, &'static str)]) {
        self.lock_state().category_texts.extend(texts.iter().copied());
    }

    /// `MPI_T_category_get_num`
    pub fn category_get_num(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.categories.len()))
    }

    /// `MPI_T_category_get_info`, and the members.
    pub fn category_get_info(&self, index: i32) -> TResult<&CategoryInfo> {
        self.check_initialized()?;
        let found = usize::try_from(index).ok().and_then(|index| self.categories.get(index));
        found.ok_or_else(|| TError::index("cat_index", index, self.categories.len(), "categories"))
    }

    /// `MPI_T_category_get_index`
    pub fn category_get_index(&self, name: impl AsRef<[u8]>) -> TResult<i32> {
        self.check_initialized()?;
        let name = name.as_ref();
        self.category_named(name).map(int).ok_or_else(|| self.no_category(name))
    }

    /// `MPI_T_category_get_cvars`
    pub fn category_get_cvars(&self, index: i32) -> TResult<Vec<i32>> {
        Ok(self.category_get_info(index)?.cvars())
    }

    /// `MPI_T_category_get_pvars`
    pub fn category_get_pvars(&self, index: i32) -> TResult<Vec<i32>> {
        Ok(self.category_get_info(index)?.pvars())
    }

    /// `MPI_T_category_get_categories`
    pub fn category_get_categories(&self, index: i32) -> TResult<Vec<i32>> {
        Ok(self.category_get_info(index)?.categories())
    }

    /// `MPI_T_category_get_num_events` and `MPI_T_category_get_events`
    pub fn category_get_events(&self, index: i32) -> TResult<Vec<i32>> {
        Ok(self.category_get_info(index)?.events())
    }

    /// `MPI_T_category_changed`: a number that grows whenever a category is added or grows.
    pub fn category_changed(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(self.stamp.load(Ordering::Acquire))
    }

    /// Puts a control variable in a category.
    pub(super) fn categorize_cvar(&self, state: &mut RegistryState, path: &str, cvar: usize) {
        self.categorize(state, path, |members| members.cvars.push(int(cvar)));
    }

    /// Puts a performance variable in a category.
    pub(super) fn categorize_pvar(&self, state: &mut RegistryState, path: &str, pvar: usize) {
        self.categorize(state, path, |members| members.pvars.push(int(pvar)));
    }

    /// Puts an event type in a category.
    pub(super) fn categorize_event(&self, state: &mut RegistryState, path: &str, event: usize) {
        self.categorize(state, path, |members| members.events.push(int(event)));
    }

    fn categorize(&self, state: &mut RegistryState, path: &str, add: impl FnOnce(&mut Members)) {
        if let Some(category) = self.category(state, path).and_then(|index| self.categories.get(index)) {
            category.with(add);
            self.changed();
        }
    }

    /// The category of this path, created with its prefixes if it is new; `None` if there is no room.
    fn category(&self, state: &mut RegistryState, path: &str) -> Option<usize> {
        if let Some(index) = self.category_named(path) {
            return Some(index);
        }
        let parent = path.rsplit_once('.').and_then(|(prefix, _)| self.category(state, prefix));
        let description = joined(state.category_texts.get(path).unwrap_or(&""));
        let category = CategoryInfo { name: path.to_owned(), description, members: ShortMutex::default() };
        let index = self.categories.push(category).ok()?;
        self.names
            .categories
            .add(index, |index| names::hash(self.categories.get(index).map_or("", CategoryInfo::name).as_bytes(), 0));
        if let Some(parent) = parent.and_then(|parent| self.categories.get(parent)) {
            parent.with(|members| members.categories.push(int(index)));
        }
        self.changed();
        Some(index)
    }

    fn changed(&self) {
        // Release pairs with the Acquire in `category_changed`.
        self.stamp.fetch_add(1, Ordering::Release);
    }
}
