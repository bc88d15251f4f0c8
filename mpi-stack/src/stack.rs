//! The list of tools from the environment: loading and chaining them.
//!
//! Invariant: the last tool is chained first, so that each tool's next functions are final when its references are
//! changed; the table of the entry points changes last. Not here: one object's references (`image`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use mpi_pmpi::interceptor::raw;
use mpi_pmpi::records::TOOLS;

use crate::fatal::fatal;
use crate::functions::{Functions, defined};
use crate::image::Image;
use crate::objects::{self, Copies};
use crate::table;
use crate::typed::{self, Typed};

unsafe extern "C" {
    /// What the `dlsym` of tools leads to; in the assembly of the entry points.
    fn ferrum_stack_dlsym();
}

/// A place in the stack.
struct Layer {
    /// The objects whose references lead to the next tools.
    objects: Vec<Image>,
    /// The tool's own functions by their numbers; 0 for none.
    defines: Vec<usize>,
    /// The functions behind the tool.
    next: Vec<usize>,
    /// The interceptor, if the tool has the typed interface.
    typed: Option<Typed>,
}

struct Stack {
    /// The functions of the first tool, where it has them.
    first: Vec<usize>,
    layers: Vec<Layer>,
}

static STACK: OnceLock<Stack> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());
/// The thread that loads the tools.
static LOADER: AtomicI32 = AtomicI32::new(0);
/// The process whose calls the tools see.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Run by the dynamic linker before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

/// Loads the tools if the program has an MPI library already, as the constructors of preloaded tools run before `main`.
extern "C" fn at_start() {
    if !tools_wanted().is_empty() && library().is_some() {
        first_call(0);
    }
}

/// The list of tools.
fn tools_wanted() -> Vec<u8> {
    std::env::var_os(TOOLS).map(|list| list.as_bytes().to_vec()).unwrap_or_default()
}

/// The object that defines the library's functions: that with `PMPI_Init`.
fn library() -> Option<Image> {
    objects::all().into_iter().find(|image| image.definition(c"PMPI_Init").is_some())
}

/// Where the call of a function continues before the table leads there; `None` if no library has it.
pub(crate) fn first_call(number: usize) -> Option<usize> {
    // SAFETY: no arguments.
    let thread = unsafe { libc::gettid() };
    if LOADER.load(Ordering::Relaxed) == thread {
        // A constructor of a tool that is being loaded.
        return Functions::new(&library()?).reached.get(number).copied().filter(|address| *address != 0);
    }
    if STACK.get().is_none() {
        let _guard = LOADING.lock();
        if STACK.get().is_none() {
            LOADER.store(thread, Ordering::Relaxed);
            let stack = load(&library()?);
            LOADER.store(0, Ordering::Relaxed);
            // Filled once, under the lock.
            let _ = STACK.set(stack);
            let stack = STACK.get()?;
            for layer in &stack.layers {
                layer.typed.iter().for_each(Typed::start);
            }
            PROCESS.store(std::process::id(), Ordering::Relaxed);
            table::set(&stack.first);
            // SAFETY: a function without arguments that stays loaded: the stack is never unloaded.
            unsafe { libc::atexit(at_end) };
        }
    }
    STACK.get()?.first.get(number).copied().filter(|address| *address != 0)
}

extern "C" fn at_end() {
    // A child that the program has forked is no process of the job, and its tools' results are the parent's.
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let layers = STACK.get().map(|stack| &stack.layers);
    layers.into_iter().flatten().filter_map(|layer| layer.typed.as_ref()).for_each(Typed::end);
}

/// The function behind the tool in whose code an address lies.
pub(crate) fn next_of(address: usize, number: usize) -> Option<usize> {
    let layer = STACK.get()?.layers.iter().find(|layer| layer.objects.iter().any(|image| image.contains(address)))?;
    layer.next.get(number).copied().filter(|address| *address != 0)
}

fn load(library: &Image) -> Stack {
    let functions = Functions::new(library);
    let list = tools_wanted();
    let mut copies = Copies::default();
    let names = list.split(|byte| *byte == b':').filter(|name| !name.is_empty()).map(OsStr::from_bytes);
    let mut layers: Vec<Layer> = names
        .map(|name| {
            layer(name, &functions, &mut copies)
                .unwrap_or_else(|why| fatal(&format!("{TOOLS}: {} cannot be used as a tool: {why}", name.display())))
        })
        .collect();
    let mut next = functions.reached;
    for layer in layers.iter_mut().rev() {
        layer.next.clone_from(&next);
        for image in &layer.objects {
            let target = |name: &[u8]| match name.strip_prefix(b"PMPI_") {
                Some(bare) => next.get(table::number(bare)?).copied().filter(|address| *address != 0),
                None => (name == b"dlsym").then_some(ferrum_stack_dlsym as *const () as usize),
            };
            // SAFETY: next functions have the types of those they replace; the tool's functions are not reached yet.
            if let Err(why) = unsafe { image.redirect(&target) } {
                fatal(&format!("{TOOLS}: a tool cannot be used: {why}"));
            }
        }
        for (place, own) in next.iter_mut().zip(&layer.defines) {
            // A function that the library does not have stays absent.
            if *own != 0 && *place != 0 {
                *place = *own;
            }
        }
    }
    Stack { first: next, layers }
}

/// Loads one tool.
fn layer(name: &OsStr, functions: &Functions, copies: &mut Copies) -> Result<Layer, String> {
    if let Some(interceptor) = name.to_str().and_then(crate::tools::find) {
        return typed_layer(interceptor, Vec::new(), functions, copies);
    }
    // Without a slash the dynamic linker would search its own folders.
    let tool = objects::load(&Path::new(".").join(name), copies)?;
    if let Some(interceptor) = tool.own.definition(typed::SYMBOL) {
        return typed_layer(typed::at(interceptor)?, tool.with_it, functions, copies);
    }
    let defines = defined(&tool.own);
    if defines.iter().all(|address| *address == 0) {
        return Err("it defines no function of MPI".into());
    }
    Ok(Layer { objects: tool.with_it, defines, next: Vec::new(), typed: None })
}

/// A tool with the typed interface, whose objects are these, behind its copy of the adapter.
fn typed_layer(
    interceptor: &'static raw::Interceptor,
    mut objects: Vec<Image>,
    functions: &Functions,
    copies: &mut Copies,
) -> Result<Layer, String> {
    let (adapter, typed) = typed::load(interceptor, functions, copies)?;
    let defines = defined(&adapter.own);
    objects.extend(adapter.with_it);
    Ok(Layer { objects, defines, next: Vec::new(), typed: Some(typed) })
}
