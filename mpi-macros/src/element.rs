//! `#[derive(mpi::Element)]`: the datatype of a struct.
//!
//! Invariant: a struct with padding, or with a field that is no element, does not compile, so that all of its bytes are
//! initialised, and all bit patterns are valid.
//! Not here: the trait (mpi-datatype).

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ItemStruct, Member, Result, Type, parse_quote};

pub(crate) fn expand(item: &ItemStruct) -> Result<TokenStream> {
    let name = &item.ident;
    if !item.generics.params.is_empty() {
        return Err(Error::new_spanned(&item.generics, "an element has no generic parameters"));
    }
    if !is_c(item)? {
        return Err(Error::new_spanned(name, "an element has a fixed layout: add #[repr(C)]"));
    }
    if item.fields.is_empty() {
        return Err(Error::new_spanned(name, "an element has data: the struct has no fields"));
    }
    let members: Vec<Member> = item.fields.members().collect();
    let (types, lengths): (Vec<Type>, Vec<Expr>) = item.fields.iter().map(|field| of_field(&field.ty)).unzip();
    Ok(quote! {
        const _: () = {
            // What the fields have; each is of an element type.
            const SIZE: usize = 0 #(+ (#lengths) * ::core::mem::size_of::<#types>())*;
            ::core::assert!(SIZE > 0, "an element has data: all fields of the struct are empty");
            ::core::assert!(
                SIZE == ::core::mem::size_of::<#name>(),
                "the struct has padding: order its fields by size, or add fields that fill the gaps"
            );
            // SAFETY: all fields are elements, so all their bit patterns are valid, and there are no bytes beside them, as
            // asserted above. The datatype has the fields at their places.
            #[automatically_derived]
            unsafe impl ::mpi::Element for #name {
                const HANDLE: usize = ::mpi::core::abi::MPI_DATATYPE_NULL;
                const BYTES: usize = 0 #(+ (#lengths) * <#types as ::mpi::Element>::BYTES)*;

                fn datatype() -> &'static ::mpi::datatype::Datatype {
                    static DATATYPE: ::std::sync::OnceLock<::mpi::datatype::Datatype> = ::std::sync::OnceLock::new();
                    DATATYPE.get_or_init(|| {
                        ::mpi::datatype::element::of_fields(&[
                            #((::core::mem::offset_of!(#name, #members), #lengths, <#types as ::mpi::Element>::datatype())),*
                        ])
                    })
                }
            }
        };
    })
}

/// The element type of a field, and how many of them it has.
fn of_field(of: &Type) -> (Type, Expr) {
    match of {
        Type::Array(array) => {
            let (element, inner) = of_field(&array.elem);
            let length = &array.len;
            (element, parse_quote!((#length) * (#inner)))
        }
        other => (other.clone(), parse_quote!(1usize)),
    }
}

/// Whether the struct has the layout of C.
fn is_c(item: &ItemStruct) -> Result<bool> {
    let mut found = false;
    for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C");
            if meta.path.is_ident("packed") {
                return Err(meta.error("the fields of an element are aligned"));
            }
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
