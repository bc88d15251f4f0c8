//! `#[mpi::test(ranks = 4)]`: a test that `cargo test` runs on several processes. `#[derive(mpi::Element)]`: structs in
//! messages (`element`).
//!
//! Invariant: the arguments are checked here, so that what is wrong is an error of the compiler at its place.
//! Not here: running the test (`mpi::testing`).

mod element;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ItemFn, LitInt, ReturnType, Token, bracketed, parse_macro_input};

/// The largest number of processes of a test, as a guard against slips.
const MOST: u32 = 1024;

/// The arguments: `ranks = 4` or `ranks = [1, 2, 4]`, and `seconds = 60`.
struct Arguments {
    ranks: Vec<u32>,
    seconds: u32,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Arguments> {
        let (mut ranks, mut seconds) = (Vec::new(), 300);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "ranks" if input.peek(syn::token::Bracket) => {
                    let list;
                    bracketed!(list in input);
                    let numbers = Punctuated::<LitInt, Token![,]>::parse_terminated(&list)?;
                    ranks = numbers.iter().map(|number| bounded(number, MOST)).collect::<syn::Result<_>>()?;
                }
                "ranks" => ranks = vec![bounded(&input.parse()?, MOST)?],
                "seconds" => seconds = bounded(&input.parse()?, u32::MAX)?,
                other => return Err(Error::new(key.span(), format!("no argument {other}; there are ranks, seconds"))),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if ranks.is_empty() {
            return Err(input.error("how many processes? Write #[mpi::test(ranks = 4)]"));
        }
        Ok(Arguments { ranks, seconds })
    }
}

/// A number from 1 to `most`.
fn bounded(number: &LitInt, most: u32) -> syn::Result<u32> {
    match number.base10_parse::<u32>() {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        _ => Err(Error::new(number.span(), format!("a number from 1 to {most} is needed"))),
    }
}

/// Makes a function a test that `cargo test` runs on several processes, each with the world as argument.
///
/// `ranks` is the number of processes, or a list of numbers, each of which is a run of its own. `seconds` ends a run that
/// takes longer, 300 without it. The function takes `&mpi::World`, or `&mpi::World<mpi::Multiple>` for a test whose
/// threads all use MPI, and returns nothing or `Result<(), E>` with any error that can be displayed, such as `mpi::Error` or
/// `Box<dyn std::error::Error>`. A panic or an error on any process fails the test and
/// shows what all processes printed.
///
/// ```ignore
/// #[mpi::test(ranks = [1, 4])]
/// fn ranks_sum_up(world: &mpi::World) -> mpi::Result<()> {
///     let sum = world.all_reduce_one(world.rank(), mpi::Operation::Sum)?;
///     assert_eq!(sum, (0..world.size()).sum());
///     Ok(())
/// }
/// ```
///
/// The launcher is the program in the environment variable `MPIEXEC`, else `mpiexec` beside the test's folder
/// (`cargo build -p mpi-launch` puts it there), else the one that is found through `PATH`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as Arguments);
    let function = parse_macro_input!(item as ItemFn);
    expand(&arguments, &function).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a struct of elements an element: an `mpi::Element`, of which slices are sent, received, written to files, and
/// combined by functions. The struct is `#[repr(C)]` and `Copy`, and has no padding, which the compiler checks: where C would
/// have some, it has fields that fill the place, or the fields are ordered by size. A field is of an element type or an
/// array of one.
///
/// ```ignore
/// #[derive(Debug, Clone, Copy, Default, mpi::Element)]
/// #[repr(C)]
/// struct Particle {
///     position: [f64; 3],
///     charge: f32,
///     kind: u32,
/// }
///
/// world.process(1).send(&[Particle::default()], 0)?;
/// ```
#[proc_macro_derive(Element)]
pub fn element(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemStruct);
    element::expand(&item).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(arguments: &Arguments, function: &ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let signature = &function.sig;
    if signature.inputs.len() != 1 {
        return Err(Error::new_spanned(&signature.inputs, "a test takes the world: `world: &mpi::World`"));
    }
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new_spanned(asyncness, "a test on several processes is not async"));
    }
    let (name, visibility, attributes) = (&signature.ident, &function.vis, &function.attrs);
    let (inputs, body) = (&signature.inputs, &function.block);
    let output = match &signature.output {
        ReturnType::Default => quote!(),
        output @ ReturnType::Type(..) => quote!(#output),
    };
    let (ranks, seconds) = (&arguments.ranks, arguments.seconds);
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            fn body(#inputs) #output #body
            ::mpi::testing::run(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)), &[#(#ranks),*], #seconds, body);
        }
    })
}
