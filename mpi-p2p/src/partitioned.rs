//! The calls of partitioned communication (MPI-5.0, 4.2).
//!
//! A partitioned send or receive is a request with a recipe: it is started, waited for and freed like a persistent one.
//! Invariant: a refused call marks no partition.
//! Not here: matching and what is under way (`partitions`), the records (`partition_transfer`).
#![allow(unsafe_code)] // looks at words of memory that is never freed

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle, Status, Table};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::{RecordHead, RegionKey, Registration};

use crate::arrivals::Arrivals;
use crate::context::unknown_context;
use crate::core::{Core, Reply, State};
use crate::engine::Engine;
use crate::partitions::{Channel, PartitionedReceive, PartitionedSend, Shape, out_of_range};
use crate::recipe::{Activity, Recipe, RecipeRequest};
use crate::registration;
use crate::request::{Request, Work, no_such_request, token, too_many_requests};
use crate::wire;

impl Engine {
    /// A partitioned send (`MPI_Psend_init`), inactive: `buffer` has the data of all partitions, which are as long as
    /// each other. It is matched with a partitioned receive in the order of initialisation. Errors: `MPI_ERR_COMM` for
    /// an unknown context, `MPI_ERR_INTERN` without room.
    pub fn psend_init(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, tag): (i32, i32),
        buffer: SendBuf<'static>,
        partitions: u32,
    ) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        let world = core.world_rank(context, dest)?;
        let shape = Shape { partitions, each: buffer.bytes() / u64::from(partitions.max(1)) };
        let pair = core.partitions.next_pair(Channel { context, peer: dest, tag, is_send: true });
        let send = PartitionedSend::new(pair, world, shape, buffer);
        let recipe = |_: &Core, _| (Recipe::PartitionedSend(Box::new(send)), Activity::Inactive);
        let request = core.add_recipe(context, recipe).inspect_err(|_| core.partitions.drop_pair(pair))?;
        if world.is_some()
            && let Some(grant) = core.partitions.add_send(pair, request)
            && let Some(RecipeRequest { recipe: Recipe::PartitionedSend(send), .. }) = core.recipes.get_mut(request)
        {
            send.grant = Some(grant);
        }
        Ok(request)
    }

    /// A partitioned receive (`MPI_Precv_init`), inactive. As [`Engine::psend_init`]; wildcards have no meaning here.
    pub fn precv_init(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        (source, tag): (i32, i32),
        mut buffer: RecvBuf<'static>,
        partitions: u32,
    ) -> Result<Handle> {
        let State { endpoint, core } = self.state.get_mut(guard);
        let world = core.world_rank(context, source)?;
        let shape = Shape { partitions, each: buffer.bytes() / u64::from(partitions.max(1)) };
        let (region, registration) = match (world, buffer.contiguous_mut()) {
            (Some(world), Some(memory)) => registration::for_writing(endpoint, world, memory),
            _ => (RegionKey::NONE, Registration::NONE),
        };
        let pair = core.partitions.next_pair(Channel { context, peer: source, tag, is_send: false });
        let arrivals = core.partitions.take_arrivals(partitions as usize)?;
        let receive = PartitionedReceive {
            pair,
            world,
            shape,
            buffer,
            arrivals,
            region,
            _registration: registration,
            message: None,
            got: 0,
        };
        let recipe = |_: &Core, _| (Recipe::PartitionedReceive(Box::new(receive)), Activity::Inactive);
        let request = core.add_recipe(context, recipe).inspect_err(|_| {
            core.partitions.give_back(arrivals);
            core.partitions.drop_pair(pair);
        })?;
        self.arrivals.set(request, std::ptr::from_ref(arrivals).expose_provenance() as u64);
        Ok(request)
    }

    /// Marks the partitions of the ranges `low..=high` of an active send ready, or none; they leave as soon as the
    /// receive has been started (`MPI_Pready` and its other forms). Any thread may call it. Errors: `MPI_ERR_REQUEST`
    /// for a request that is no active partitioned send; `MPI_ERR_ARG` for a partition that it does not have, or that
    /// is ready already.
    pub fn pready(
        &self,
        guard: &mut Guard<'_>,
        request: Handle,
        ranges: impl Iterator<Item = (i32, i32)> + Clone,
    ) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let completions = core.completions;
        let Some((_, send)) = active_send(&mut core.recipes, request) else { return Err(core.not_active(request)) };
        if send.world.is_some() && send.granted().is_none() {
            // The receiver's grant may have come. First, because an error of this must not leave partitions marked.
            self.advance(guard)?;
        }
        let State { endpoint, core } = self.state.get_mut(guard);
        core.mark_ready(request, ranges)?;
        core.send_partitions(endpoint, request);
        if core.copies.open > 0 {
            self.copy_parts(guard);
        }
        let core = &mut self.state.get_mut(guard).core;
        if core.completions != completions {
            core.wake_on_any_change();
        }
        core.wake_leader_for_work();
        Ok(())
    }

    /// Whether a partition of a receive has arrived (`MPI_Parrived`); true while it is inactive. Takes no lock if it
    /// has. If it has not, makes progress unless another thread holds the lock. Errors: `MPI_ERR_REQUEST` for a request
    /// that is no partitioned receive, `MPI_ERR_ARG` for a partition that it does not have. `record` is called under
    /// the lock, unless another thread holds it or the partition has arrived in a process of several threads.
    #[inline]
    pub fn parrived(&self, request: Handle, partition: i32, record: impl FnOnce()) -> Result<bool> {
        let arrivals = self.arrivals.get(request).ok_or_else(|| self.no_partitioned_receive(request))?;
        let arrivals = std::ptr::with_exposed_provenance::<Arrivals>(arrivals as usize);
        // SAFETY: `precv_init` has stored the address, of memory that is never freed.
        let arrivals = unsafe { &*arrivals };
        let has_arrived = || {
            let arrived = usize::try_from(partition).ok().and_then(|partition| arrivals.has_arrived(partition));
            arrived.ok_or_else(|| out_of_range(partition, arrivals.partitions()))
        };
        if has_arrived()? {
            // Threads that test partitions of one request do not write to shared memory.
            if mpi_core::single_threaded::is_single_threaded()
                && let Some(_guard) = self.lock.try_lock()
            {
                record();
            }
            return Ok(true);
        }
        if let Some(mut guard) = self.lock.try_lock() {
            record();
            self.advance(&mut guard)?;
        }
        let arrived = has_arrived()?;
        if !arrived {
            self.partition_metrics.counts.failed_tests.incr_shared();
        }
        Ok(arrived)
    }

    #[cold]
    fn no_partitioned_receive(&self, request: Handle) -> Error {
        let guard = self.lock();
        match self.state.get(&guard).core.request_context(request) {
            None => no_such_request(request),
            Some(_) => Error::new(MPI_ERR_REQUEST, "it is no partitioned receive").arg("request", &request),
        }
    }
}

impl State {
    /// Starts an inactive partitioned send or receive.
    pub fn start_partitioned(&mut self, request: Handle) -> Result<()> {
        let State { endpoint, core } = self;
        let Some(found) = core.recipes.get_mut(request) else { return Err(no_such_request(request)) };
        let (context_id, is_send) = (found.context, matches!(found.recipe, Recipe::PartitionedSend(_)));
        let context = core.contexts.get(context_id).ok_or_else(|| unknown_context(context_id))?;
        let work = if is_send { Work::PartitionsOut } else { Work::PartitionsIn };
        let operation = core.requests.insert(Request::waiting(context_id, work)).map_err(|_| too_many_requests())?;
        core.instruments.requests.raise(1);
        found.activity = Activity::UnderWay(operation);
        match &mut found.recipe {
            Recipe::PartitionedSend(send) => {
                send.start();
                if let Some(route) = context.routes.get(send.pair.channel.peer as u32 as usize) {
                    context.count_sent(context_id, *route, send.shape.total());
                }
                core.send_partitions(endpoint, request);
            }
            Recipe::PartitionedReceive(receive) => match receive.world {
                None => {
                    let started = core.requests.get_mut(operation).expect("it was made just now");
                    started.status = Status::PROC_NULL;
                    core.end_partitioned(request, operation);
                }
                Some(dest) => {
                    receive.start();
                    let a = u64::from(context.spec.rank) | u64::from(receive.pair.number) << 32;
                    let (tag, b) = (receive.pair.channel.tag, token(request));
                    let head = RecordHead { kind: wire::PARTITIONS_GRANTED, flags: 0, context: context_id, tag, a, b };
                    let [address, key] = receive.region.to_words();
                    let payload: [u8; 24] = wire::join([receive.shape.total(), address, key]);
                    let grant = Reply { dest, head, payload: [0; 32], len: 0 };
                    core.reply(endpoint, grant.with(&payload));
                }
            },
            _ => unreachable!("only partitioned requests are started here"),
        }
        Ok(())
    }
}

impl Core {
    /// World rank of a process of a communicator; `None` for `MPI_PROC_NULL`.
    fn world_rank(&self, context: u32, rank: i32) -> Result<Option<u32>> {
        let found = self.contexts.get(context).ok_or_else(|| unknown_context(context))?;
        Ok(found.routes.get(rank as u32 as usize).map(|route| route.world))
    }

    /// Marks partitions of an active send ready, or none, and counts them. Errors: as [`Engine::pready`].
    fn mark_ready(&mut self, request: Handle, ranges: impl Iterator<Item = (i32, i32)> + Clone) -> Result<()> {
        let Some((context, send)) = active_send(&mut self.recipes, request) else {
            return Err(self.not_active(request));
        };
        send.mark_ready(ranges.clone())?;
        let metrics = self.partition_metrics;
        let ready: u64 = ranges.clone().map(|(low, high)| (high - low) as u64 + 1).sum();
        metrics.counts.ready.add(ready);
        metrics.raise_ready(self.contexts.get(context), request.0 as u64, ranges);
        if ready > 0 && send.world.is_some() && send.granted().is_none() {
            metrics.counts.early.add(ready);
            if send.early.is_none() {
                metrics.counts.waiting.raise(1);
                send.early = Some(if metrics.counts.time_waiting.is_watched() { mpi_t::now_ns() } else { 0 });
            }
        }
        Ok(())
    }

    /// Why partitions of a request cannot be marked ready: it is no active partitioned send.
    #[cold]
    fn not_active(&self, request: Handle) -> Error {
        if self.request_context(request).is_none() {
            return no_such_request(request);
        }
        let rule = match self.recipes.get(request) {
            Some(RecipeRequest { recipe: Recipe::PartitionedSend(_), .. }) => {
                "the request is inactive: start it before its partitions are ready"
            }
            _ => "it is no partitioned send",
        };
        Error::new(MPI_ERR_REQUEST, rule).arg("request", &request)
    }

    /// Frees a partitioned request; one that is active ends by itself. Errors: `MPI_ERR_REQUEST` for a send with
    /// partitions that are not ready, because nothing could make them ready any more.
    pub fn free_partitioned(&mut self, request: Handle) -> Result<()> {
        let found = self.recipes.get_mut(request).ok_or_else(|| no_such_request(request))?;
        if let Some(operation) = found.under_way()
            && self.requests.get(operation).is_some_and(|operation| !operation.is_done())
        {
            if let Recipe::PartitionedSend(send) = &found.recipe
                && !send.are_all_ready()
            {
                let rule = "the request is active and has partitions that are not ready";
                return Err(Error::new(MPI_ERR_REQUEST, rule).arg("request", &request));
            }
            found.freed = true;
            self.detach(operation);
            return Ok(());
        }
        if let Some(operation) = found.under_way() {
            self.drop_request(operation);
        }
        self.remove_partitioned(request);
        Ok(())
    }

    /// Removes a partitioned request, which no operation needs any more.
    pub fn remove_partitioned(&mut self, request: Handle) {
        match self.remove_recipe(request).map(|removed| removed.recipe) {
            Some(Recipe::PartitionedSend(send)) => {
                self.partitions.sends.remove(&send.pair);
            }
            Some(Recipe::PartitionedReceive(receive)) => {
                self.arrivals.clear(request);
                self.partitions.give_back(receive.arrivals);
            }
            _ => {}
        }
    }
}

/// The partitioned send that a request has under way, with its context id.
fn active_send(recipes: &mut Table<RecipeRequest>, request: Handle) -> Option<(u32, &mut PartitionedSend)> {
    match recipes.get_mut(request)? {
        RecipeRequest { context, recipe: Recipe::PartitionedSend(send), activity: Activity::UnderWay(_), .. } => {
            Some((*context, send))
        }
        _ => None,
    }
}
