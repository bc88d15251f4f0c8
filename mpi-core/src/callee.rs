//! Functions of the program that the library calls, and the language they are written in (MPI-5.0, 19.1 and 19.3).
//!
//! A function in C gets handles as words. One in Fortran gets each argument by its address: handles as integers, and the
//! values of attributes and the extra state as integers of one of two sizes.
//! Invariant: the word of a function in C is its address. That of one in Fortran has a mark in its upper bits, which no
//! address of a program has set.

/// The language of a function, or the language in which a value was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, and languages that call C functions.
    C,
    /// Fortran, with values of attributes and extra state of type `INTEGER`.
    FortranInteger,
    /// Fortran, with values of attributes and extra state of type `INTEGER(KIND=MPI_ADDRESS_KIND)`.
    FortranAddress,
}

impl Language {
    /// The language of a number of `ferrum_fortran.h`; C for any other.
    pub const fn from_number(number: i32) -> Language {
        match number {
            1 => Language::FortranInteger,
            2 => Language::FortranAddress,
            _ => Language::C,
        }
    }
}

/// A function of the program as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callee(pub usize);

const IN_FORTRAN: usize = 1 << 63;
const WITH_INTEGERS: usize = 1 << 62;

impl Callee {
    /// The word of a function at an address.
    pub const fn new(address: usize, language: Language) -> Callee {
        match language {
            Language::C => Callee(address),
            Language::FortranInteger => Callee(address | IN_FORTRAN | WITH_INTEGERS),
            Language::FortranAddress => Callee(address | IN_FORTRAN),
        }
    }

    /// The address of the function.
    #[inline]
    pub const fn address(self) -> usize {
        match self.0 & IN_FORTRAN {
            0 => self.0,
            _ => self.0 & !(IN_FORTRAN | WITH_INTEGERS),
        }
    }

    /// The language of the function.
    #[inline]
    pub const fn language(self) -> Language {
        match (self.0 & IN_FORTRAN != 0, self.0 & WITH_INTEGERS != 0) {
            (false, _) => Language::C,
            (true, true) => Language::FortranInteger,
            (true, false) => Language::FortranAddress,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_address_and_language() {
        for language in [Language::C, Language::FortranInteger, Language::FortranAddress] {
            for address in [0, 1, 0x7fff_ffff_ffff] {
                let callee = Callee::new(address, language);
                assert_eq!((callee.address(), callee.language()), (address, language));
            }
        }
        assert_eq!(Callee::new(0x1234, Language::C).0, 0x1234);
    }
}
