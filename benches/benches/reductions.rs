//! Reduction kernels of 64 KiB in the cache, beside `memcpy` of as many bytes. What is counted are bytes of result: a
//! copy reads each byte once and writes it; a reduction reads both operands and writes the result over one of them.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mpi_coll::Op;
use mpi_core::abi::*;
use mpi_datatype::predefined::predefined;

const BYTES: usize = 64 << 10;

fn reductions(criterion: &mut Criterion) {
    let from = vec![1_u8; BYTES];
    let mut to = vec![0_u8; BYTES];
    let mut group = criterion.benchmark_group("reduce");
    group.throughput(Throughput::Bytes(BYTES as u64));
    group.bench_function("baseline/memcpy", |bencher| {
        bencher.iter(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    });
    let cases = [
        ("sum/double", MPI_SUM, MPI_DOUBLE),
        ("max/double", MPI_MAX, MPI_DOUBLE),
        ("sum/float", MPI_SUM, MPI_FLOAT),
        ("sum/int", MPI_SUM, MPI_INT),
        ("prod/signed_char", MPI_PROD, MPI_SIGNED_CHAR),
        ("land/int", MPI_LAND, MPI_INT),
        ("prod/double_complex", MPI_PROD, MPI_C_DOUBLE_COMPLEX),
        ("sum/real2", MPI_SUM, MPI_REAL2),
        ("minloc/2int", MPI_MINLOC, MPI_2INT),
        ("minloc/double_int", MPI_MINLOC, MPI_DOUBLE_INT),
        ("sum/long_double", MPI_SUM, MPI_LONG_DOUBLE),
    ];
    for (name, op, handle) in cases {
        let datatype = predefined(handle).expect("predefined");
        let reducer = Op::predefined(op).and_then(|op| op.on(datatype, handle).ok()).expect("defined");
        let count = BYTES as u64 / datatype.extent() as u64;
        let end = datatype.span(count) as usize;
        to.fill(0);
        group.bench_function(name, |bencher| {
            bencher.iter(|| reducer.apply(black_box(&from[..end]), black_box(&mut to[..end]), count));
        });
    }
}

criterion_group!(benches, reductions);
criterion_main!(benches);
