//! Rules of the reduction operations: each agrees with a simple reference on every type that it accepts.

use std::sync::Arc;

use mpi_core::abi::*;
use mpi_datatype::predefined::{all, predefined};

use super::*;

fn combine(op: usize, datatype: usize, left: &[u8], right: &[u8], count: u64) -> Vec<u8> {
    let datatype = predefined(datatype).expect("predefined");
    let reducer = Op::predefined(op).expect("predefined").on(datatype, 0).expect("defined");
    // An odd offset: kernels must not assume alignment.
    let mut left_memory = vec![0; left.len() + 1];
    let mut right_memory = vec![0; right.len() + 1];
    left_memory[1..].copy_from_slice(left);
    right_memory[1..].copy_from_slice(right);
    reducer.apply(&left_memory[1..], &mut right_memory[1..], count);
    right_memory.split_off(1)
}

macro_rules! check {
    ($t:ty, $datatype:expr, $op:expr, $left:expr, $right:expr, $reference:expr) => {{
        let bytes = |values: &[$t]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
        let reference: fn($t, $t) -> $t = $reference;
        let expected: Vec<$t> = $left.iter().zip(&$right).map(|(&x, &y)| reference(x, y)).collect();
        let got = combine($op, $datatype, &bytes(&$left), &bytes(&$right), $left.len() as u64);
        assert_eq!(got, bytes(&expected), "{} op {:#x}", stringify!($t), $op);
    }};
}

macro_rules! check_integers {
    ($($t:ty: $($datatype:expr),+;)+) => {$($({
        let mut left: Vec<$t> = vec![0, 0, 1, 5, <$t>::MAX, <$t>::MIN, <$t>::MAX, 77];
        let mut right: Vec<$t> = vec![0, 3, 1, 4, 2, <$t>::MAX, <$t>::MAX, 78];
        for round in 0..4 {
            left.extend_from_within(..);
            right.extend_from_within(..);
            right.rotate_left(round);
        }
        let category = predefined($datatype).expect("predefined").category();
        let defined = |op: Builtin| op.takes(category);
        if defined(Sum) {
            check!($t, $datatype, MPI_SUM, left, right, |x, y| x.wrapping_add(y));
            check!($t, $datatype, MPI_PROD, left, right, |x, y| x.wrapping_mul(y));
            check!($t, $datatype, MPI_MIN, left, right, |x, y| if x < y { x } else { y });
            check!($t, $datatype, MPI_MAX, left, right, |x, y| if x < y { y } else { x });
        }
        if defined(Band) {
            check!($t, $datatype, MPI_BAND, left, right, |x, y| x & y);
            check!($t, $datatype, MPI_BOR, left, right, |x, y| x | y);
            check!($t, $datatype, MPI_BXOR, left, right, |x, y| x ^ y);
        }
        if defined(Land) {
            check!($t, $datatype, MPI_LAND, left, right, |x, y| (x != 0 && y != 0) as $t);
            check!($t, $datatype, MPI_LOR, left, right, |x, y| (x != 0 || y != 0) as $t);
            check!($t, $datatype, MPI_LXOR, left, right, |x, y| ((x != 0) ^ (y != 0)) as $t);
        }
    })+)+};
}

#[test]
fn integers_follow_the_naive_reference() {
    check_integers! {
        i8: MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1;
        i16: MPI_SHORT, MPI_INT16_T, MPI_INTEGER2;
        i32: MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4;
        i64: MPI_LONG, MPI_LONG_LONG, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_INTEGER8;
        i128: MPI_INTEGER16;
        u8: MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_BYTE, MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL1;
        u16: MPI_UNSIGNED_SHORT, MPI_UINT16_T, MPI_LOGICAL2;
        u32: MPI_UNSIGNED, MPI_UINT32_T, MPI_LOGICAL, MPI_LOGICAL4;
        u64: MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T, MPI_LOGICAL8;
        u128: MPI_LOGICAL16;
    }
}

#[test]
fn reals_follow_the_naive_reference() {
    macro_rules! check_floats {
        ($($t:ty: $($datatype:expr),+;)+) => {$($({
            let left: Vec<$t> = vec![0.0, 1.5, -2.25, 1e30, <$t>::INFINITY, 3.0, 0.1];
            let right: Vec<$t> = vec![1.0, 1.5, 7.0, -1e30, 2.0, <$t>::NEG_INFINITY, 0.2];
            check!($t, $datatype, MPI_SUM, left, right, |x, y| x + y);
            check!($t, $datatype, MPI_PROD, left, right, |x, y| x * y);
            check!($t, $datatype, MPI_MIN, left, right, <$t>::min);
            check!($t, $datatype, MPI_MAX, left, right, <$t>::max);
        })+)+};
    }
    check_floats! {
        f32: MPI_FLOAT, MPI_REAL, MPI_REAL4;
        f64: MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8;
    }
}

#[test]
fn half_precision_sums_round_to_even() {
    // 1 + 2^-11 lies between 1 and the next half-precision number; 2048 + 1 between 2048 and 2050.
    let bytes = |values: &[u16]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
    let got = combine(MPI_SUM, MPI_REAL2, &bytes(&[0x3c00, 0x6800, 0x7bff]), &bytes(&[0x1000, 0x3c00, 0x7bff]), 3);
    assert_eq!(got, bytes(&[0x3c00, 0x6800, 0x7c00]));
    let got = combine(MPI_MAX, MPI_REAL2, &bytes(&[0xbc00]), &bytes(&[0xc000]), 1);
    assert_eq!(got, bytes(&[0xbc00]));
    // (1 + 2i)(3 - i) = 5 + 5i
    let got = combine(MPI_PROD, MPI_COMPLEX4, &bytes(&[0x3c00, 0x4000]), &bytes(&[0x4200, 0xbc00]), 1);
    assert_eq!(got, bytes(&[0x4500, 0x4500]));
}

#[test]
fn complex_products_are_complex() {
    for datatype in [MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16] {
        let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
        let got = combine(MPI_PROD, datatype, &bytes(&[1.0, 2.0, 0.5, 0.0]), &bytes(&[3.0, -1.0, 4.0, 8.0]), 2);
        assert_eq!(got, bytes(&[5.0, 5.0, 2.0, 4.0]));
        let got = combine(MPI_SUM, datatype, &bytes(&[1.0, 2.0]), &bytes(&[3.0, -1.0]), 1);
        assert_eq!(got, bytes(&[4.0, 1.0]));
    }
    for datatype in [MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8] {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
        let got = combine(MPI_PROD, datatype, &bytes(&[1.0, 2.0]), &bytes(&[3.0, -1.0]), 1);
        assert_eq!(got, bytes(&[5.0, 5.0]));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn long_double_leaves_padding_alone() {
    use super::lanes::Lane;
    use super::x87::X87;
    let number = |value: f64, padding: u8| {
        let mut bytes = [padding; 16];
        X87::from_f64(value).write(&mut bytes);
        bytes
    };
    for (op, expected) in [(MPI_SUM, 7.25), (MPI_PROD, 12.5), (MPI_MIN, 2.25), (MPI_MAX, 5.0)] {
        let right = if op == MPI_PROD { 2.5 } else { 2.25 };
        assert_eq!(combine(op, MPI_LONG_DOUBLE, &number(5.0, 1), &number(right, 2), 1), number(expected, 2));
    }
    let complex = |re: f64, im: f64| [number(re, 7), number(im, 7)].concat();
    for datatype in [MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX] {
        assert_eq!(combine(MPI_PROD, datatype, &complex(1.0, 2.0), &complex(3.0, -1.0), 1), complex(5.0, 5.0));
        assert_eq!(combine(MPI_SUM, datatype, &complex(1.0, 2.0), &complex(3.0, -1.0), 1), complex(4.0, 1.0));
    }
}

/// A value, an index, and the bytes of that pair in memory with `0xee` in its padding.
fn pair_bytes(datatype: usize, value: i16, index: i32) -> Vec<u8> {
    let extent = predefined(datatype).expect("predefined").extent() as usize;
    let mut bytes = vec![0xee; extent];
    let mut put = |at: usize, data: &[u8]| bytes[at..at + data.len()].copy_from_slice(data);
    match datatype {
        MPI_FLOAT_INT => put(0, &(value as f32).to_ne_bytes()),
        MPI_DOUBLE_INT => put(0, &(value as f64).to_ne_bytes()),
        MPI_LONG_INT => put(0, &(value as i64).to_ne_bytes()),
        MPI_SHORT_INT => put(0, &value.to_ne_bytes()),
        MPI_2INT | MPI_2INTEGER => put(0, &(value as i32).to_ne_bytes()),
        MPI_2REAL => put(0, &(value as f32).to_ne_bytes()),
        MPI_2DOUBLE_PRECISION => put(0, &(value as f64).to_ne_bytes()),
        #[cfg(target_arch = "x86_64")]
        MPI_LONG_DOUBLE_INT => {
            let mut number = [0xee; 10];
            let mut wide = [0; 16];
            super::lanes::Lane::write(super::x87::X87::from_f64(value as f64), &mut wide);
            number.copy_from_slice(&wide[..10]);
            put(0, &number);
        }
        _ => unreachable!("not a pair type"),
    }
    match datatype {
        MPI_2REAL => put(4, &(index as f32).to_ne_bytes()),
        MPI_2DOUBLE_PRECISION => put(8, &(index as f64).to_ne_bytes()),
        MPI_DOUBLE_INT | MPI_LONG_INT => put(8, &index.to_ne_bytes()),
        MPI_LONG_DOUBLE_INT => put(16, &index.to_ne_bytes()),
        _ => put(4, &index.to_ne_bytes()),
    }
    bytes
}

#[test]
fn the_best_value_wins_and_the_smaller_index_on_ties() {
    let types = [
        MPI_FLOAT_INT,
        MPI_DOUBLE_INT,
        MPI_LONG_INT,
        MPI_SHORT_INT,
        MPI_2INT,
        MPI_2INTEGER,
        MPI_2REAL,
        MPI_2DOUBLE_PRECISION,
        #[cfg(target_arch = "x86_64")]
        MPI_LONG_DOUBLE_INT,
    ];
    for datatype in types {
        let pairs = |list: &[(i16, i32)]| {
            let mut bytes: Vec<u8> = list.iter().flat_map(|&(v, i)| pair_bytes(datatype, v, i)).collect();
            bytes.truncate(predefined(datatype).expect("predefined").span(list.len() as u64) as usize);
            bytes
        };
        let left = pairs(&[(1, 10), (2, 20), (-3, 7), (-3, 3)]);
        let right = pairs(&[(2, 30), (1, 5), (-3, 4), (-3, 9)]);
        let least = combine(MPI_MINLOC, datatype, &left, &right, 4);
        assert_eq!(least, pairs(&[(1, 10), (1, 5), (-3, 4), (-3, 3)]), "{datatype:#x}");
        let most = combine(MPI_MAXLOC, datatype, &left, &right, 4);
        assert_eq!(most, pairs(&[(2, 30), (2, 20), (-3, 4), (-3, 3)]), "{datatype:#x}");
    }
}

#[test]
fn a_defined_operation_has_a_kernel() {
    for (_, builtin, name) in BUILTINS {
        for (handle, datatype) in all() {
            let op = Op::predefined(BUILTINS.iter().find(|it| it.1 == builtin).expect("listed").0).expect("listed");
            match op.on(datatype, handle) {
                Ok(_) => assert!(builtin.takes(datatype.category()), "{name} {}", datatype.name()),
                Err(error) => {
                    assert_eq!(error.class(), MPI_ERR_OP);
                    assert!(!builtin.takes(datatype.category()), "{name} {}", datatype.name());
                }
            }
        }
    }
}

#[test]
fn characters_are_integers_and_addresses_have_truth_values() {
    let bytes = |values: [isize; 2]| values.map(isize::to_ne_bytes).concat();
    assert_eq!(combine(MPI_SUM, MPI_CHAR, &[2, 250], &[3, 1], 2), [5, 251]);
    assert_eq!(combine(MPI_BAND, MPI_CHAR, &[6], &[3], 1), [2]);
    for datatype in [MPI_AINT, MPI_COUNT, MPI_OFFSET] {
        assert_eq!(combine(MPI_LAND, datatype, &bytes([7, 0]), &bytes([-1, 1]), 2), bytes([1, 0]));
    }
    for (op, datatype) in [(MPI_SUM, MPI_CHARACTER), (MPI_SUM, MPI_WCHAR), (MPI_SUM, MPI_BYTE), (MPI_LAND, MPI_INTEGER)]
    {
        let datatype = predefined(datatype).expect("predefined");
        let refused = Op::predefined(op).expect("predefined").on(datatype, 0).err().expect("not defined");
        assert_eq!(refused.class(), MPI_ERR_OP, "{}", datatype.name());
    }
}

#[test]
fn refusals_name_what_the_operation_accepts() {
    let datatype = predefined(MPI_DOUBLE).expect("predefined");
    let error = Op::predefined(MPI_BAND).and_then(|op| op.on(datatype, MPI_DOUBLE).err()).expect("not defined");
    assert_eq!(
        error.to_string(),
        "argument op is MPI_BAND, but it is not defined on MPI_DOUBLE, but on integers and MPI_BYTE"
    );
}

#[test]
fn words_that_name_no_operation_have_none() {
    for word in [0, 1, MPI_OP_NULL, 0x25, 0x3f, 0x40, MPI_INT, 4096, usize::MAX] {
        assert!(Op::predefined(word).is_none(), "{word:#x}");
    }
}

#[test]
fn a_user_operation_gets_both_vectors_count_and_type() {
    let op = Op::user(
        Arc::new(|invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
            assert_eq!((elements.count, elements.handle), (2, MPI_SHORT_INT));
            assert_eq!((elements.extent, elements.lowest), (8, 0));
            inoutvec[0] += invec[0] * 10;
        }),
        false,
    );
    assert!(!op.is_commutative());
    let mut inout = [3; 16];
    op.on(predefined(MPI_SHORT_INT).expect("predefined"), MPI_SHORT_INT).expect("any").apply(&[2; 16], &mut inout, 2);
    assert_eq!(inout[0], 23);
}
