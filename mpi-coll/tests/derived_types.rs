//! Reductions of derived datatypes by operations of the program.
#![allow(unsafe_code)] // buffers of the program's memory, whose gaps are not the library's

mod common;

use std::sync::Arc;

use common::{mixed, run_all};
use mpi_coll::{Elements, Op, Reduction};
use mpi_core::abi::MPI_DOUBLE;
use mpi_datatype::{Datatype, Form, RecvBuf, SendBuf, predefined};

fn compose(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
    [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])]
}

/// Pairs of numbers.
fn maps(rank: u32, count: usize) -> Vec<u64> {
    (0..2 * count as u64).map(|part| mixed(&[u64::from(rank), part]) | 1).collect()
}

/// Composes x -> a x + b, which is associative and not commutative, on two numbers of which the second lies 24 bytes
/// before the first, in elements that follow each other downwards.
fn composition_backwards() -> (Op, Datatype) {
    let double = predefined(MPI_DOUBLE).expect("predefined");
    let pair = Datatype::hvector(2, 1, -24, double, Form::Small).expect("small");
    let datatype = Datatype::resized(-24, -40, &pair, Form::Small).expect("small").committed();
    let function = |invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
        assert_eq!((elements.extent, elements.lowest), (-40, -24 - 40 * (elements.count as i64 - 1)));
        assert_eq!(inoutvec.as_ptr() as usize % 8, 0, "a C function may rely on alignment");
        for element in 0..elements.count as i64 {
            let places = [0, -24].map(|offset| (element * -40 + offset - elements.lowest) as usize);
            let number = |bytes: &[u8], place: usize| {
                u64::from_ne_bytes(bytes[place..place + 8].try_into().expect("eight bytes"))
            };
            let both = |bytes: &[u8]| places.map(|place| number(bytes, place));
            let result = compose(both(invec), both(inoutvec));
            for (place, value) in places.into_iter().zip(result) {
                inoutvec[place..place + 8].copy_from_slice(&value.to_ne_bytes());
            }
        }
    };
    (Op::user(Arc::new(function), false), datatype)
}

#[test]
fn derived_types_are_reduced_and_their_gaps_left_alone() {
    run_all(|rank| {
        let (op, datatype) = composition_backwards();
        for count in [1usize, 7, 3000] {
            let what = Reduction { op: &op, datatype: &datatype, handle: 77, count: count as u64 };
            let expected = (1..rank.size()).fold(maps(0, count), |left, rank| {
                let right = maps(rank, count);
                let pairs = left
                    .chunks(2)
                    .zip(right.chunks(2))
                    .flat_map(|(left, right)| compose([left[0], left[1]], [right[0], right[1]]));
                pairs.collect::<Vec<u64>>()
            });
            let span = datatype.span(count as u64) as usize;
            let fill = |memory: &mut Vec<u8>, values: &[u64]| {
                let mut buffer = RecvBuf::in_span(memory, count as u64, &datatype).expect("fits");
                buffer.copy_from(&SendBuf::from_slice(values));
            };
            let mut own = vec![0xee; span];
            fill(&mut own, &maps(rank.rank(), count));
            let mut wanted = vec![0xee; span];
            fill(&mut wanted, &expected);
            // As a program's own memory: the gaps are not the library's.
            let start = |memory: &mut Vec<u8>| {
                memory.as_mut_ptr().wrapping_offset(-datatype.lowest_byte(count as u64) as isize)
            };
            let mut result = vec![0xee; span];
            for in_place in [false, true] {
                if in_place {
                    result.copy_from_slice(&own);
                }
                // SAFETY: both have room for the elements, and live until the call returns.
                let (send, recv) = unsafe {
                    (
                        SendBuf::new(start(&mut own), count as u64, &datatype).expect("fits"),
                        RecvBuf::new(start(&mut result), count as u64, &datatype).expect("fits"),
                    )
                };
                let send = (!in_place).then_some(send);
                rank.coll.allreduce(&rank.world, send, recv, &what).expect("it is defined");
                assert_eq!(result, wanted, "allreduce of {count}");
                for root in 0..rank.size() {
                    result.fill(0xee);
                    if in_place && rank.rank() == root {
                        result.copy_from_slice(&own);
                    }
                    // SAFETY: as above.
                    let (send, recv) = unsafe {
                        (
                            SendBuf::new(start(&mut own), count as u64, &datatype).expect("fits"),
                            RecvBuf::new(start(&mut result), count as u64, &datatype).expect("fits"),
                        )
                    };
                    let send = (!in_place || rank.rank() != root).then_some(send);
                    rank.coll.reduce(&rank.world, send, Some(recv), &what, root).expect("it is defined");
                    assert!(rank.rank() != root || result == wanted, "reduce of {count} to {root}");
                }
            }
        }
    });
}
