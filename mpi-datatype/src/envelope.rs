//! How a type was constructed: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` return (MPI-5.0, 5.1.13).

/// The call that constructed a type, and its arguments in the order of the standard; `Type` is
/// [`Datatype`](crate::Datatype).
#[derive(Debug, Clone)]
pub struct Envelope<Type> {
    /// An `MPI_COMBINER_` constant.
    pub combiner: i32,
    /// Arguments of type `int`.
    pub integers: Vec<i32>,
    /// Arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`, of large-count constructors.
    pub large_counts: Vec<i64>,
    /// The types that the call was given.
    pub datatypes: Vec<Type>,
}

/// The form of a constructor, which decides where the envelope has its counts and displacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The form with `int` and `MPI_Aint`.
    Small,
    /// The large-count form, `MPI_Type_..._c`.
    Large,
}

impl<Type> Envelope<Type> {
    pub(crate) fn new(combiner: i32, datatypes: Vec<Type>) -> Self {
        let (integers, addresses, large_counts) = (Vec::new(), Vec::new(), Vec::new());
        Envelope { combiner, integers, addresses, large_counts, datatypes }
    }

    /// Adds counts or displacements in elements.
    pub(crate) fn counts(mut self, form: Form, values: impl IntoIterator<Item = i64>) -> Self {
        match form {
            Form::Large => self.large_counts.extend(values),
            // The small form passed them as `int`.
            Form::Small => self.integers.extend(values.into_iter().map(|value| value as i32)),
        }
        self
    }

    /// Adds displacements in bytes.
    pub(crate) fn displacements(mut self, form: Form, values: impl IntoIterator<Item = i64>) -> Self {
        match form {
            Form::Large => self.large_counts.extend(values),
            Form::Small => self.addresses.extend(values),
        }
        self
    }

    /// Adds arguments that are `int` in both forms.
    pub(crate) fn integers(mut self, values: impl IntoIterator<Item = i32>) -> Self {
        self.integers.extend(values);
        self
    }
}
