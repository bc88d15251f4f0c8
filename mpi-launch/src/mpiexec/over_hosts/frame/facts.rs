//! What a host reports of the waits of a rank: state of its process, communicators and queues.
//!
//! Calls come with the pages of the rank. Not here: what follows from them (`mpi_observe::hang`).

use std::time::Duration;

use mpi_fabric::Job;
use mpi_observe::JobView;
use mpi_observe::hang::RankView;
use mpi_observe::process::ProcessState;
use mpi_observe::queues::{CommQueues, PendingSend, PostedReceive, Queues, SendState, UnexpectedMessage};

use super::Field;

/// The most messages, and receives, of a communicator that are sent, and sends of a rank.
const MOST_ITEMS: usize = 4096;

fields! {
    /// What is known of the waits of a rank.
    WaitFacts {
        /// The state of its process, as text.
        state: String,
        /// The system call that it is in.
        place: Option<String>,
        /// How long it has made no progress.
        idle_ms: Option<u64>,
        /// The calls in which it was at an earlier look, and whether it has left them.
        before: Option<Vec<u64>>,
        moves: bool,
        queues: Option<QueueFacts>,
    }
}

fields! {
    /// The queues of a rank.
    QueueFacts {
        comms: Vec<CommFacts>,
        sends: Vec<SendFacts>,
    }
}

fields! {
    /// A communicator with its queues.
    CommFacts {
        context: u32,
        name: String,
        rank: u32,
        world_ranks: Vec<u32>,
        both_groups: Option<Vec<u32>>,
        collectives: Option<u64>,
        posted: Vec<ReceiveFacts>,
        unexpected: Vec<MessageFacts>,
    }
}

fields! {
    /// A receive that waits.
    ReceiveFacts {
        source: i32,
        tag: i32,
        bytes: Option<u64>,
    }
}

fields! {
    /// A message that waits.
    MessageFacts {
        source: i32,
        tag: i32,
        bytes: u64,
        from: u32,
    }
}

fields! {
    /// A send that is not complete.
    SendFacts {
        context: u32,
        to: u32,
        tag: i32,
        bytes: u64,
    }
}

impl WaitFacts {
    /// What is sent of a rank.
    pub(in super::super) fn of(view: &RankView) -> WaitFacts {
        WaitFacts {
            state: view.state.map_or_else(String::new, |state| state.name().to_owned()),
            place: view.place.clone(),
            idle_ms: view.idle.map(|idle| idle.as_millis() as u64),
            before: view.before.clone(),
            moves: view.moves,
            queues: view.queues.as_ref().map(QueueFacts::of),
        }
    }

    /// The rank as a view of it here: its calls are those in the copy of its block.
    pub(in super::super) fn view(self, job: &Job, rank: u32, is_alive: bool) -> RankView {
        let job = JobView::of(job);
        let state = Some(ProcessState::named(&self.state)).filter(|_| is_alive && !self.state.is_empty());
        RankView {
            life: job.life(rank),
            is_alive: is_alive && !job.is_lost(rank),
            state,
            place: self.place,
            calls: job.calls(rank),
            records_calls: job.records_calls(rank),
            idle: self.idle_ms.map(Duration::from_millis),
            queues: self.queues.filter(|_| is_alive).map(|queues| queues.queues(rank, job.ranks())),
            before: self.before,
            moves: self.moves && is_alive,
        }
    }
}

impl QueueFacts {
    fn of(queues: &Queues) -> QueueFacts {
        let send =
            |send: &PendingSend| SendFacts { context: send.context, to: send.to, tag: send.tag, bytes: send.bytes };
        QueueFacts {
            comms: queues.comms.iter().map(CommFacts::of).collect(),
            sends: queues.sends.iter().take(MOST_ITEMS).map(send).collect(),
        }
    }

    fn queues(self, rank: u32, size: u32) -> Queues {
        let send = |send: SendFacts| PendingSend {
            context: send.context,
            to: send.to,
            tag: send.tag,
            bytes: send.bytes,
            // Of no interest in a report.
            state: SendState::Match,
        };
        Queues {
            rank,
            size,
            comms: self.comms.into_iter().map(CommFacts::comm).collect(),
            sends: self.sends.into_iter().map(send).collect(),
        }
    }
}

impl CommFacts {
    fn of(comm: &CommQueues) -> CommFacts {
        let receive =
            |receive: &PostedReceive| ReceiveFacts { source: receive.source, tag: receive.tag, bytes: receive.bytes };
        let message = |message: &UnexpectedMessage| MessageFacts {
            source: message.source,
            tag: message.tag,
            bytes: message.bytes,
            from: message.from,
        };
        CommFacts {
            context: comm.context,
            name: comm.name.clone(),
            rank: comm.rank,
            world_ranks: comm.world_ranks.clone(),
            both_groups: comm.both_groups.clone(),
            collectives: comm.collectives,
            posted: comm.posted.iter().take(MOST_ITEMS).map(receive).collect(),
            unexpected: comm.unexpected.iter().take(MOST_ITEMS).map(message).collect(),
        }
    }

    fn comm(self) -> CommQueues {
        let receive = |receive: ReceiveFacts| PostedReceive {
            source: receive.source,
            tag: receive.tag,
            bytes: receive.bytes,
            buffer: 0,
        };
        let message = |message: MessageFacts| UnexpectedMessage {
            source: message.source,
            tag: message.tag,
            bytes: message.bytes,
            from: message.from,
        };
        CommQueues {
            context: self.context,
            // A name is text of another process.
            name: self.name.chars().filter(|letter| !letter.is_control()).collect(),
            rank: self.rank,
            world_ranks: self.world_ranks,
            both_groups: self.both_groups,
            collectives: self.collectives,
            posted: self.posted.into_iter().map(receive).collect(),
            unexpected: self.unexpected.into_iter().map(message).collect(),
            ..CommQueues::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::Life;

    #[test]
    fn a_rank_is_seen_here_as_on_its_host() {
        let job = Job::copies(3).unwrap();
        job.set_life(1, Life::Initialised);
        let receive = PostedReceive { source: 2, tag: 7, bytes: Some(8), buffer: 0 };
        let message = UnexpectedMessage { source: 0, tag: 9, bytes: 4, from: 0 };
        let comm = CommQueues {
            context: 8,
            name: "mine".into(),
            world_ranks: vec![0, 1, 2],
            collectives: Some(3),
            posted: vec![receive],
            unexpected: vec![message],
            ..CommQueues::default()
        };
        let send = PendingSend { context: 8, to: 2, tag: 1, bytes: 5, state: SendState::Match };
        let view = RankView {
            life: Life::Initialised,
            is_alive: true,
            state: Some(ProcessState::Sleeping),
            place: Some("the system call read".into()),
            calls: Vec::new(),
            records_calls: true,
            idle: Some(Duration::from_millis(1500)),
            queues: Some(Queues { rank: 1, size: 3, comms: vec![comm], sends: vec![send] }),
            before: Some(vec![4]),
            moves: true,
        };
        let mut bytes = Vec::new();
        WaitFacts::of(&view).put(&mut bytes);
        let facts = WaitFacts::take(&mut &bytes[..]).expect("what was put");
        assert_eq!(format!("{:?}", facts.clone().view(&job, 1, true)), format!("{view:?}"));
        let ended = facts.view(&job, 1, false);
        assert!(!ended.is_alive && ended.queues.is_none() && ended.state.is_none() && !ended.moves);
    }
}
