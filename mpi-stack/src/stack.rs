//! The list of tools from the environment: loading and chaining them.
//!
//! Invariant: the last tool is chained first, so that each tool's next functions are final when its references are
//! changed; the table of the entry points changes last. Not here: one object's references (`image`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use mpi_pmpi::interceptor::raw;
use mpi_pmpi::records::TOOLS;

use crate::fatal::fatal;
use crate::functions::{Functions, defined};
use crate::handlers;
use crate::helpers::Helpers;
use crate::image::Image;
use crate::objects::{self, Copies, Loaded};
use crate::table;
use crate::typed::{self, Typed};

unsafe extern "C" {
    /// What the `dlsym` of tools leads to; in the assembly of the entry points.
    fn ferrum_stack_dlsym();
}

/// A place in the stack.
struct Layer {
    /// The tool as the list names it.
    name: OsString,
    /// The objects whose references lead to the next tools, with the handles of what they were loaded with.
    objects: Vec<(Image, usize)>,
    /// Those of them that came with the tool.
    own: Vec<Image>,
    /// The libraries that are copied for the tool.
    helpers: Helpers,
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
    handlers::run();
}

/// The function behind the tool in whose code an address lies.
pub(crate) fn next_of(address: usize, number: usize) -> Option<usize> {
    let layer =
        STACK.get()?.layers.iter().find(|layer| layer.objects.iter().any(|(image, _)| image.contains(address)))?;
    layer.next.get(number).copied().filter(|address| *address != 0)
}

fn load(library: &Image) -> Stack {
    let functions = Functions::new(library);
    let list = tools_wanted();
    let mut copies = Copies::default();
    let names = list.split(|byte| *byte == b':').filter(|name| !name.is_empty()).map(OsStr::from_bytes);
    let mut layers: Vec<Layer> = Vec::new();
    for name in names {
        let added = layer(name, &functions, &layers, &mut copies);
        layers.push(added.unwrap_or_else(|why| refuse(name, &why)));
    }
    let mut next = functions.reached;
    for layer in layers.iter_mut().rev() {
        layer.next.clone_from(&next);
        for (image, handle) in &layer.objects {
            let typed = layer.typed.is_some();
            let target = |name: &[u8]| match (name.strip_prefix(b"PMPI_"), name) {
                (Some(bare), _) => next.get(table::number(bare)?).copied().filter(|address| *address != 0),
                (None, b"dlsym") => Some(ferrum_stack_dlsym as *const () as usize),
                (None, b"__cxa_atexit") if typed => Some(handlers::register as *const () as usize),
                _ => layer.helpers.own(*handle, name),
            };
            // SAFETY: next functions have the types of those they replace; the tool's functions are not reached yet.
            if let Err(why) = unsafe { image.redirect(&target) } {
                refuse(&layer.name, &why);
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

fn refuse(name: &OsStr, why: &str) -> ! {
    fatal(&format!("{TOOLS}: {} cannot be used as a tool: {why}", name.display()))
}

/// Loads one tool.
fn layer(name: &OsStr, functions: &Functions, earlier: &[Layer], copies: &mut Copies) -> Result<Layer, String> {
    if let Some(interceptor) = name.to_str().and_then(crate::tools::find) {
        return typed_layer(Layer::of(name, Vec::new()), interceptor, functions, copies);
    }
    // Without a slash the dynamic linker would search its own folders.
    let tool = objects::load(&Path::new(".").join(name), copies)?;
    let libraries: Vec<&Image> = earlier.iter().flat_map(|layer| &layer.own).collect();
    let (helpers, copied) = Helpers::copy(&tool, &libraries, copies)?;
    let interceptor = tool.own.definition(typed::SYMBOL);
    let defines = defined(&tool.own);
    let mut layer = Layer { helpers, own: tool.with_it.clone(), ..Layer::of(name, defines) };
    [tool].into_iter().chain(copied).for_each(|loaded| layer.add(loaded));
    match interceptor {
        Some(interceptor) => typed_layer(layer, typed::at(interceptor)?, functions, copies),
        None if layer.defines.iter().all(|address| *address == 0) => Err("it defines no function of MPI".into()),
        None => Ok(layer),
    }
}

/// Puts a tool with the typed interface behind its copy of the adapter.
fn typed_layer(
    mut layer: Layer,
    interceptor: &'static raw::Interceptor,
    functions: &Functions,
    copies: &mut Copies,
) -> Result<Layer, String> {
    let (adapter, typed) = typed::load(interceptor, functions, copies)?;
    layer.defines = defined(&adapter.own);
    layer.typed = Some(typed);
    layer.add(adapter);
    Ok(layer)
}

impl Layer {
    fn of(name: &OsStr, defines: Vec<usize>) -> Layer {
        let (objects, own, next) = (Vec::new(), Vec::new(), Vec::new());
        Layer { name: name.to_owned(), objects, own, helpers: Helpers::default(), defines, next, typed: None }
    }

    fn add(&mut self, loaded: Loaded) {
        self.objects.extend(loaded.with_it.into_iter().map(|image| (image, loaded.handle)));
    }
}
