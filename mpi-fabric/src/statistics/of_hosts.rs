//! The variables of a rank as a message to a process on another host, which writes the table of all hosts.
//!
//! A message is the rank and the pages of the rank's block that are not 0, up to the end of the instruments: each its number and its
//! bytes, all numbers of 32 bits with the low byte first.
//! Invariant: any bytes are the variables of a rank or nothing; pages that were read are a rank's memory, which is input.
//! Not here: who sends and receives (`mpi-env`).

use super::{StateName, Table};
use crate::Job;
use crate::block_copy::BLOCK_PAGE_BYTES;
use crate::layout::block;

/// Pages of a message: state and instruments of a rank.
const PAGES: u32 = ((block::INSTRUMENTS + block::INSTRUMENTS_BYTES) / BLOCK_PAGE_BYTES) as u32;
/// Bytes of a page with its number.
const EACH: usize = 4 + BLOCK_PAGE_BYTES;
/// Longest message in bytes.
pub const LONGEST_OF_RANK: usize = 4 + PAGES as usize * EACH;

/// The message of a rank. Panics if the job has no such rank.
#[cold]
pub fn message_of(job: &Job, rank: u32) -> Vec<u8> {
    let mut message = rank.to_le_bytes().to_vec();
    for page in 0..PAGES {
        if let Some(bytes) = job.block_page(rank, page) {
            message.extend(page.to_le_bytes());
            message.extend(bytes);
        }
    }
    message
}

impl Table {
    /// Adds the rank of a message, if it is among `wanted`, and removes it there; whether it was.
    #[cold]
    pub fn add_message(&mut self, message: &[u8], wanted: &mut Vec<u32>, state_name: StateName<'_>) -> bool {
        let Some((rank, pages)) = message.split_first_chunk() else { return false };
        let rank = u32::from_le_bytes(*rank);
        let (Some(at), Ok(copy)) = (wanted.iter().position(|wanted| *wanted == rank), Job::copies(1)) else {
            return false;
        };
        let mut next = 0;
        for page in pages.chunks(EACH) {
            let Some((number, bytes)) = page.split_first_chunk() else { return false };
            let number = u32::from_le_bytes(*number);
            if bytes.len() != BLOCK_PAGE_BYTES || !(next..PAGES).contains(&number) {
                return false;
            }
            copy.set_block_page(0, number, bytes);
            next = number + 1;
        }
        self.add_rank(&copy, 0, rank, state_name);
        wanted.remove(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::HostRanks;
    use crate::{Endpoint, Life};
    use mpi_t::Counter;
    use proptest::prelude::*;

    mpi_t::instruments! {
        /// A block.
        struct HostBlock: Comm {
            /// Things.
            things: Counter = { name: "test_things", class: Counter, type: u64, unit: "things", category: "test" },
        }
    }

    const NAMES: StateName<'_> = &|_, _| None;

    #[test]
    fn a_table_has_the_ranks_whose_messages_came_and_names_the_others() {
        let endpoints = Endpoint::threads(3).expect("memory for three ranks");
        let job = endpoints[0].job().clone();
        for endpoint in &endpoints {
            let block: &'static HostBlock = mpi_t::place(&*endpoint.instrument_memory(), "");
            block.things.add(10 << endpoint.rank());
            job.set_life(endpoint.rank(), Life::Finalised);
        }
        let (mut table, mut wanted) = (Table::of(4, true), vec![1, 2, 3]);
        table.add_rank(&job, 0, 0, NAMES);
        let message = message_of(&job, 2);
        assert!(message.len() < LONGEST_OF_RANK / 2, "{}", message.len());
        assert!(table.add_message(&message, &mut wanted, NAMES) && wanted == [1, 3]);
        assert!(!table.add_message(&message, &mut wanted, NAMES), "a second message of a rank has no effect");
        let absent = vec![HostRanks { name: "far".into(), ranks: wanted }];
        let table = table.finish(absent);
        let text = table.text(None);
        assert!(text.contains("of 2 ranks\n") && !text.contains("up to their end"), "{text}");
        assert!(text.contains("nothing came from them in time: ranks 1,3 of host far\n"), "{text}");
        let json = table.json(None);
        let first =
            "\"ranks\":4,\"without_mpi\":[],\"without_finalize\":[],\"absent\":[{\"host\":\"far\",\"ranks\":[1,3]}]}\n";
        assert!(json.contains(first) && json.contains("\"values\":[10,null,40,null]"), "{json}");
    }

    #[test]
    fn a_rank_that_died_is_in_the_table_with_its_counts_and_marked() {
        let endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let job = endpoints[0].job().clone();
        for (endpoint, life) in endpoints.iter().zip([Life::Finalised, Life::Initialised]) {
            let block: &'static HostBlock = mpi_t::place(&*endpoint.instrument_memory(), "");
            block.things.add(3);
            job.set_life(endpoint.rank(), life);
        }
        let (mut table, mut wanted) = (Table::of(2, true), vec![0, 1]);
        for rank in [0, 1] {
            assert!(table.add_message(&message_of(&job, rank), &mut wanted, NAMES));
        }
        let table = table.finish(Vec::new());
        let (text, json) = (table.text(None), table.json(None));
        assert!(text.contains("  without MPI_Finalize, counted up to their end: rank 1\n"), "{text}");
        assert!(json.contains("\"without_finalize\":[1]}") && json.contains("\"values\":[3,3]"), "{json}");
    }

    #[test]
    fn a_message_with_a_wrong_length_or_number_has_no_effect() {
        let endpoints = Endpoint::threads(1).expect("memory for one rank");
        let block: &'static HostBlock = mpi_t::place(&*endpoints[0].instrument_memory(), "");
        block.things.add(1);
        let message = message_of(endpoints[0].job(), 0);
        let mut twice = message.clone();
        twice.extend(&message[4..]);
        let beyond = [&message[..], &PAGES.to_le_bytes(), &[1; BLOCK_PAGE_BYTES]].concat();
        let stranger = [&7u32.to_le_bytes(), &message[4..]].concat();
        for wrong in [&message[..3], &message[..message.len() - 1], &message[..6], &twice, &beyond, &stranger] {
            let (mut table, mut wanted) = (Table::of(1, true), vec![0]);
            assert!(!table.add_message(wrong, &mut wanted, NAMES) && wanted == [0]);
            assert!(table.finish(Vec::new()).rows().next().is_none());
        }
    }

    proptest! {
        #[test]
        fn any_pages_are_a_table(damage in proptest::collection::vec((0usize..40_000, any::<u8>()), 1..200)) {
            let endpoints = Endpoint::threads(1).expect("memory for one rank");
            let _: &'static HostBlock = mpi_t::place(&*endpoints[0].instrument_memory(), "");
            let mut message = message_of(endpoints[0].job(), 0);
            let length = message.len();
            damage.into_iter().for_each(|(at, byte)| message[4 + at % (length - 4)] = byte);
            let mut table = Table::of(1, false);
            table.add_message(&message, &mut vec![0], NAMES);
            prop_assert!(table.finish(Vec::new()).text(None).starts_with("Ferrum MPI statistics"));
        }
    }
}
