//! The parts of the job memory: order, limits, sizes.

use super::*;

#[test]
fn the_parts_follow_each_other_without_gap_or_overlap() {
    let layout = Layout::new(3, MIN_RING_BYTES).unwrap();
    assert_eq!(layout.block_at(2) + block::BYTES, layout.traffic_at(0));
    assert_eq!(layout.traffic_at(2) + layout.traffic_bytes(), layout.bell_at(0));
    assert_eq!(layout.bell_at(0) + PAGE, layout.first_ring_at(0, 0));
    assert_eq!(layout.first_ring_at(0, 2) + PAGE, layout.rings_at());
    assert_eq!(layout.ring_at(0, 0), layout.rings_at());
    assert_eq!(layout.ring_at(1, 0), layout.ring_at(0, 2) + layout.ring_bytes());
    assert_eq!(layout.ring_at(2, 2) + layout.ring_bytes(), layout.copy_buffer_at(0));
    assert_eq!(layout.copy_buffer_at(2) + layout.copy_buffer_bytes(), layout.coll_room_at(0));
    assert_eq!(layout.coll_room_at(2) + layout.coll_room_bytes(), layout.cells_at(0, 1));
}

#[test]
fn first_rings_do_not_overlap_and_fill_pages_of_one_sender() {
    for ranks in [1, 7, 8, 9, 64] {
        let layout = Layout::new(ranks, MIN_RING_BYTES).unwrap();
        let pairs = (0..ranks).flat_map(|receiver| (0..ranks).map(move |sender| (receiver, sender)));
        let mut rings: Vec<(usize, u32)> =
            pairs.map(|(receiver, sender)| (layout.first_ring_at(receiver, sender), sender)).collect();
        rings.sort_unstable();
        assert!(rings.windows(2).all(|two| two[0].0 + FIRST_RING_BYTES <= two[1].0), "{ranks} ranks");
        assert!(rings.windows(2).all(|two| two[0].0 / PAGE != two[1].0 / PAGE || two[0].1 == two[1].1));
        assert!(layout.bell_at(ranks - 1) + layout.bell_bytes() <= rings[0].0);
        assert!(rings[rings.len() - 1].0 + FIRST_RING_BYTES <= layout.rings_at());
    }
}

#[test]
fn sets_of_ranks_are_in_the_header_or_between_bells_and_rings() {
    let layout = Layout::new(header::SET_RANKS, MIN_RING_BYTES).unwrap();
    assert_eq!((layout.bell_bytes(), layout.to_end_at(1023)), (0x100, header::TO_END + 120));
    assert_eq!((layout.lost_at(0), layout.lost_at(1023)), (header::LOST, header::LOST + 120));
    assert_eq!(layout.first_ring_at(0, 0), layout.bell_at(1023) + 0x100);
    for ranks in [1025, 1500, 3072, MAX_RANKS] {
        let layout = Layout::new(ranks, MIN_RING_BYTES).unwrap();
        assert!(bell::CONNECTED + ranks.div_ceil(64) as usize * 8 <= layout.bell_bytes());
        assert!(layout.bell_at(ranks - 1) + layout.bell_bytes() <= layout.to_end_at(0));
        assert!(layout.to_end_at(ranks - 1) < layout.lost_at(0));
        assert!(layout.lost_at(ranks - 1) + 8 <= layout.first_ring_at(0, 0));
        assert_eq!(layout.first_ring_at(0, 0) % PAGE, 0);
    }
}

#[test]
fn the_most_ranks_fit_into_the_addresses_of_a_process() {
    // 47 bits on x86-64; rings of a length that was set may take more, and mapping them is an error then.
    assert!(Layout::new(MAX_RANKS, MIN_RING_BYTES).unwrap().total_bytes() < 3 << 39);
}

#[test]
fn sizes_out_of_range_are_refused() {
    assert_eq!(Layout::new(0, DEFAULT_RING_BYTES), None);
    assert_eq!(Layout::new(MAX_RANKS + 1, DEFAULT_RING_BYTES), None);
    assert_eq!(Layout::new(2, MIN_RING_BYTES - 64), None);
    assert_eq!(Layout::new(2, MIN_RING_BYTES * 3), None);
    assert_eq!(Layout::new(2, MAX_RING_BYTES * 2), None);
}

#[test]
fn copy_buffers_shrink_with_the_number_of_ranks() {
    let bytes = |ranks| Layout::new(ranks, MIN_RING_BYTES).unwrap().copy_buffer_bytes();
    assert_eq!([2, 3, 32].map(bytes), [MAX_COPY_BUFFER; 3]);
    assert_eq!(bytes(1), MIN_COPY_BUFFER);
    assert_eq!([33, 64, 65].map(bytes), [2 << 20, 2 << 20, 1 << 20]);
    assert_eq!([1024, MAX_RANKS].map(bytes), [MIN_COPY_BUFFER; 2]);
    assert!((1..=MAX_RANKS).all(|ranks| bytes(ranks).is_power_of_two()));
}

#[test]
fn cells_of_pairs_follow_each_other_up_to_the_end_and_shrink_with_the_number_of_pairs() {
    for ranks in [2, 3, 8, 9, 64] {
        let layout = Layout::new(ranks, MIN_RING_BYTES).unwrap();
        let bytes = layout.pair_cells() * CELL_BYTES;
        let pairs = (0..ranks).flat_map(|high| (0..high).map(move |low| (low, high)));
        let mut expected = layout.coll_room_at(ranks - 1) + layout.coll_room_bytes();
        for (low, high) in pairs {
            assert_eq!([layout.cells_at(low, high), layout.cells_at(high, low)], [expected; 2]);
            expected += bytes;
        }
        assert_eq!(layout.total_bytes(), expected);
    }
    let cells = |ranks| Layout::new(ranks, MIN_RING_BYTES).unwrap().pair_cells();
    assert_eq!([1, 2, 9, 16, 32, 64, 91, 92, MAX_RANKS].map(cells), [0, 128, 128, 64, 16, 4, 2, 0, 0]);
}

#[test]
fn an_area_of_traffic_has_room_for_several_communicators_of_all_ranks() {
    for ranks in [1, 2, 64, MAX_HOST_RANKS, MAX_RANKS] {
        let layout = Layout::new(ranks, MIN_RING_BYTES).unwrap();
        let table = traffic::TABLE_HEAD + ranks as usize * (traffic::ROW_BYTES + 4);
        assert!(traffic::TABLES + 16 * table <= layout.freed_traffic());
        assert_eq!(layout.traffic_bytes() % PAGE, 0);
    }
    assert!(Layout::new(MAX_HOST_RANKS, MIN_RING_BYTES).unwrap().traffic_bytes() < 1 << 20);
}

#[test]
fn default_rings_shrink_with_the_number_of_ranks() {
    assert_eq!(Layout::default_ring_bytes(2), DEFAULT_RING_BYTES);
    assert_eq!(Layout::default_ring_bytes(64), 128 << 10);
    assert_eq!(Layout::default_ring_bytes(200), 32 << 10);
    assert_eq!([1024, MAX_RANKS].map(Layout::default_ring_bytes), [MIN_RING_BYTES; 2]);
    for ranks in 1..=MAX_RANKS {
        assert!(Layout::new(ranks, Layout::default_ring_bytes(ranks)).is_some());
    }
}
