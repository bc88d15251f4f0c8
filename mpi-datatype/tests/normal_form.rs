//! The compiled form: the same for the same layout, as small as its description, safe for any depth; and the numbers
//! that no type can have.

use mpi_core::abi::*;
use mpi_datatype::{Datatype, Distribution, Form, RecvBuf, SendBuf, Subarray, predefined};

const SMALL: Form = Form::Small;

fn named(word: usize) -> &'static Datatype {
    predefined(word).expect("predefined")
}

fn vector(count: u64, length: u64, stride: i64, old: &Datatype) -> Datatype {
    Datatype::vector(count, length, stride, old, SMALL).expect("small")
}

fn resized(extent: i64, old: &Datatype) -> Datatype {
    Datatype::resized(0, extent, old, SMALL).expect("small")
}

#[test]
fn constructions_of_one_layout_have_one_form() {
    let int = named(MPI_INT);
    // Two ints of every five, four times, in elements of 80 bytes.
    let contiguous = |count, old: &Datatype| Datatype::contiguous(count, old, SMALL).expect("small");
    let forms = [
        resized(80, &vector(4, 2, 5, int)),
        resized(80, &Datatype::hvector(4, 2, 20, int, SMALL).expect("small")),
        resized(80, &Datatype::indexed(&[2; 4], &[0, 5, 10, 15], int, SMALL).expect("small")),
        resized(80, &Datatype::indexed(&[1; 8], &[0, 1, 5, 6, 10, 11, 15, 16], int, SMALL).expect("small")),
        resized(80, &Datatype::hindexed_block(2, &[0, 20, 40, 60], int, SMALL).expect("small")),
        resized(80, &vector(2, 1, 1, &resized(40, &vector(2, 2, 5, int)))),
        contiguous(4, &resized(20, &contiguous(2, int))),
        contiguous(2, &contiguous(2, &resized(20, &contiguous(2, int)))),
        Datatype::subarray(
            &Subarray { sizes: &[4, 5], subsizes: &[4, 2], starts: &[0, 0], order: MPI_ORDER_C },
            int,
            SMALL,
        )
        .expect("small"),
        Datatype::darray(
            &Distribution {
                size: 2,
                rank: 0,
                sizes: &[5, 4],
                kinds: &[MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE],
                arguments: &[3, MPI_DISTRIBUTE_DFLT_DARG],
                grid: &[2, 1],
                order: MPI_ORDER_FORTRAN,
            },
            &Datatype::structure(&[1], &[0], std::slice::from_ref(int), SMALL).expect("small"),
            SMALL,
        )
        .expect("small"),
    ];
    let last = forms.len() - 1;
    for (index, form) in forms[..last].iter().enumerate() {
        assert_eq!(form.layout(), forms[0].layout(), "number {index}");
    }
    // Three of every five ints are a different layout.
    assert_ne!(forms[last].layout(), forms[0].layout());
}

#[test]
fn a_box_in_a_cube_has_one_form() {
    let double = named(MPI_DOUBLE);
    let part = Subarray { sizes: &[10, 20, 30], subsizes: &[3, 4, 5], starts: &[1, 2, 3], order: MPI_ORDER_C };
    let from_array = Datatype::subarray(&part, double, SMALL).expect("small");
    let rows: Vec<i64> = (0..12).map(|row| (1 + row / 4) * 600 + (2 + row % 4) * 30 + 3).collect();
    let from_rows = Datatype::indexed_block(5, &rows, double, SMALL).expect("small");
    let from_rows = resized(6000 * 8, &from_rows);
    assert_eq!(from_rows.layout(), from_array.layout());
    let plane = Datatype::hvector(4, 5, 240, double, SMALL).expect("small");
    let planes = Datatype::hvector(3, 1, 4800, &plane, SMALL).expect("small");
    let placed = Datatype::hindexed(&[1], &[(600 + 60 + 3) * 8], &planes, SMALL).expect("small");
    assert_eq!(resized(6000 * 8, &placed).layout(), from_array.layout());
}

#[test]
fn what_is_contiguous_is_found_to_be() {
    let (int, pair) = (named(MPI_INT), named(MPI_SHORT_INT));
    let contiguous = |datatype: Datatype| datatype.committed().is_contiguous();
    assert!(contiguous(Datatype::contiguous(5, int, SMALL).expect("small")));
    assert!(contiguous(vector(5, 3, 3, int)));
    assert!(contiguous(Datatype::indexed(&[2, 0, 3], &[0, 77, 2], int, SMALL).expect("small")));
    assert!(contiguous(resized(4, &Datatype::contiguous(4, named(MPI_BYTE), SMALL).expect("small"))));
    let types = [int.clone(), named(MPI_FLOAT).clone()];
    assert!(contiguous(Datatype::structure(&[1, 2], &[0, 4], &types, SMALL).expect("small")));
    assert!(!contiguous(vector(5, 3, 4, int)) && !contiguous(pair.dup()));
    assert!(!contiguous(Datatype::indexed(&[2, 3], &[3, 0], int, SMALL).expect("small")), "the order matters");
    assert!(!contiguous(Datatype::indexed(&[2], &[3], int, SMALL).expect("small")), "it begins elsewhere");
}

#[test]
fn a_description_of_any_number_of_blocks_is_small() {
    let many = 1_000_000_000;
    let column = vector(many, 1, 2, named(MPI_DOUBLE));
    let nested = Datatype::hvector(1000, 1, 8, &vector(1_000_000, 1, 1000, named(MPI_DOUBLE)), SMALL).expect("small");
    for datatype in [&column, &nested] {
        assert_eq!(datatype.size(), 8 * many);
        assert!(format!("{:?}", datatype.layout()).len() < 1000, "it has a few nodes");
    }
    // A position in the middle is found without visiting the blocks before it.
    let column = column.committed();
    let layout = column.layout().expect("it has gaps");
    assert_eq!(layout.run(8 * 777_777_777 + 3), (16 * 777_777_777 + 3, 5));
    assert_eq!(nested.layout().map(|it| it.run(8 * 999_999_999)), Some((999 * 8 + 999_999 * 8000, 8)));
}

#[test]
fn offsets_beyond_32_bits_are_kept() {
    let places = [0, 5_000_000_000, 3, -4_000_000_000, 7];
    let far = Datatype::hindexed_block(2, &places, named(MPI_BYTE), SMALL).expect("small");
    let layout = far.layout().expect("gaps");
    for (index, place) in places.into_iter().enumerate() {
        assert_eq!(layout.run(2 * index as u64 + 1), (place + 1, 1));
    }
}

#[test]
fn types_nest_to_any_depth_on_a_small_stack() {
    let work = || {
        let byte = named(MPI_BYTE);
        let mut datatype = byte.clone();
        for level in 0..20_000 {
            datatype = match level % 3 {
                // A gap each time, so that nothing merges.
                0 => Datatype::structure(&[1, 1], &[0, datatype.extent() + 1], &[datatype, byte.clone()], SMALL)
                    .expect("small"),
                1 => Datatype::contiguous(1, &datatype, SMALL).expect("small"),
                _ => datatype.dup(),
            };
        }
        datatype.commit();
        assert_eq!(datatype.size(), 6668);
        let memory = vec![7; datatype.span(2) as usize];
        let mut packed = vec![0; 2 * 6668];
        let buffer = SendBuf::over(&memory, 2, &datatype).expect("fits");
        assert_eq!(buffer.pack(0, &mut packed), packed.len());
        assert!(packed.iter().all(|byte| *byte == 7));
        assert_eq!(buffer.pack(6667, &mut packed[..2]), 2);
        assert_eq!(datatype.basic_elements_in(6668 + 5), Some(6673));
        drop(buffer);
        drop(datatype);
        // Real loops: the data grow with each, so 50 are many.
        let mut datatype = byte.clone();
        for _ in 0..30 {
            datatype = vector(2, 1, 2, &resized(datatype.extent() + 1, &datatype));
        }
        datatype.commit();
        assert_eq!(datatype.size(), 1 << 30);
        let (place, length) = datatype.layout().expect("gaps").run((1 << 30) - 1);
        assert_eq!((place, length), (datatype.true_extent() - 1, 1));
    };
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(work).expect("a thread");
    thread.join().expect("it works on a small stack");
}

#[test]
fn numbers_beyond_64_bits_are_refused() {
    let (byte, double) = (named(MPI_BYTE), named(MPI_DOUBLE));
    let class = |made: mpi_errors::Result<Datatype>| made.expect_err("it does not fit").class();
    let most = i64::MAX;
    assert_eq!(class(Datatype::contiguous(1 << 60, double, SMALL)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::vector(1 << 40, 1 << 40, 1, byte, SMALL)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::vector(3, 1, most, double, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::hvector(3, 1, most, byte, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::hvector(3, 1, i64::MIN, byte, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::hindexed(&[1, 1], &[most - 1, i64::MIN], byte, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::hindexed(&[1], &[most], byte, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::indexed(&[1], &[most], double, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::indexed(&[most, most, most], &[0, 0, 0], byte, SMALL)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::indexed(&[1, -1], &[0, 0], byte, SMALL)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::resized(most, 1, byte, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::resized(i64::MIN, -1, byte, SMALL)), MPI_ERR_ARG);
    let huge = Datatype::resized(0, most, byte, SMALL).expect("fits");
    assert_eq!(class(Datatype::contiguous(3, &huge, SMALL)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::indexed(&[1, 1], &[1], byte, SMALL)), MPI_ERR_ARG);
    let cube = [1 << 21, 1 << 21, 1 << 21, 2];
    let part = Subarray { sizes: &cube, subsizes: &[1; 4], starts: &[0; 4], order: MPI_ORDER_C };
    assert_eq!(class(Datatype::subarray(&part, double, SMALL)), MPI_ERR_ARG);
    // The largest that fit.
    let fits = |made: mpi_errors::Result<Datatype>| made.expect("it fits").size();
    assert_eq!(fits(Datatype::contiguous(most as u64, byte, SMALL)), most as u64);
    assert_eq!(fits(Datatype::hindexed(&[1], &[i64::MIN], byte, SMALL)), 1);
    // Nothing, any number of times, is nothing.
    let nothing = Datatype::contiguous(0, double, SMALL).expect("empty");
    assert_eq!(fits(Datatype::vector(u64::MAX >> 1, u64::MAX >> 1, most, &nothing, SMALL)), 0);
    assert_eq!(fits(Datatype::vector(0, u64::MAX >> 1, most, double, SMALL)), 0);
}

#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    let int = named(MPI_INT);
    let subarray = |sizes: &[i64], subsizes: &[i64], starts: &[i64], order| {
        let part = Subarray { sizes, subsizes, starts, order };
        Datatype::subarray(&part, int, SMALL).expect_err("wrong").class()
    };
    assert_eq!(subarray(&[4, 4], &[2, 5], &[0, 0], MPI_ORDER_C), MPI_ERR_ARG);
    assert_eq!(subarray(&[4, 4], &[2, 2], &[0, 3], MPI_ORDER_C), MPI_ERR_ARG);
    assert_eq!(subarray(&[4, 4], &[2, 2], &[0, -1], MPI_ORDER_C), MPI_ERR_ARG);
    assert_eq!(subarray(&[4, 0], &[2, 0], &[0, 0], MPI_ORDER_C), MPI_ERR_COUNT);
    assert_eq!(subarray(&[4], &[2], &[0], 99), MPI_ERR_ARG);
    assert_eq!(subarray(&[], &[], &[], MPI_ORDER_C), MPI_ERR_COUNT);
    let darray = |size, rank, kinds: &[i32], arguments: &[i32], grid: &[i32]| {
        let sizes = [10, 10];
        let part = Distribution { size, rank, sizes: &sizes, kinds, arguments, grid, order: MPI_ORDER_C };
        Datatype::darray(&part, int, SMALL).expect_err("wrong").class()
    };
    let (block, cyclic, none) = (MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE);
    let standard = MPI_DISTRIBUTE_DFLT_DARG;
    assert_eq!(darray(4, 0, &[block, block], &[4, standard], &[2, 2]), MPI_ERR_ARG);
    assert_eq!(darray(4, 0, &[cyclic, block], &[0, standard], &[2, 2]), MPI_ERR_ARG);
    assert_eq!(darray(4, 0, &[none, block], &[standard, standard], &[2, 2]), MPI_ERR_ARG);
    assert_eq!(darray(4, 0, &[block, 5], &[standard, standard], &[2, 2]), MPI_ERR_ARG);
    assert_eq!(darray(4, 0, &[block, block], &[standard, standard], &[2, 3]), MPI_ERR_ARG);
    assert_eq!(darray(4, 4, &[block, block], &[standard, standard], &[2, 2]), MPI_ERR_RANK);
    assert_eq!(darray(0, 0, &[block, block], &[standard, standard], &[1, 1]), MPI_ERR_ARG);
}

#[test]
fn files_can_search_ascending_layouts_both_ways() {
    let ascending = resized(64, &Datatype::hindexed(&[3, 1, 9], &[4, 10, 20], named(MPI_BYTE), SMALL).expect("small"));
    let blocks = Datatype::hvector(3, 1, 200, &ascending, SMALL).expect("small").committed();
    let layout = blocks.layout().expect("gaps");
    assert!(layout.ascends());
    let mut below = 0;
    for place in 0..500 {
        assert_eq!(layout.bytes_below(place), below, "below {place}");
        below += u64::from(below < layout.size() && layout.run(below).0 == place);
    }
    assert_eq!(below, layout.size());
    let backwards = vector(3, 1, -2, named(MPI_INT));
    assert!(!backwards.layout().expect("gaps").ascends());
    let mut memory = [0; 4];
    assert!(RecvBuf::over(&mut memory, 1, &backwards).is_none());
}
