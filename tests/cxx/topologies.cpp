/* Communicators with topologies: their classes, and what they report about processes and neighbours. */
#include "check.h"

static void cartesian(MPI::Intracomm &comm)
{
    int dims[2] = {0, 0}, lengths[2], place[2], source, destination, size = comm.Get_size();
    bool periods[2] = {true, false}, found[2] = {false, true}, first[2] = {true, false};
    MPI::Compute_dims(size, 2, dims);
    MPI::Cartcomm cart = comm.Create_cart(2, dims, periods, false);
    check(cart.Get_topology() == MPI::CART && cart.Get_dim() == 2);
    cart.Get_topo(2, lengths, found, place);
    check(lengths[0] == dims[0] && lengths[1] == dims[1] && found[0] && !found[1]);
    check(cart.Get_cart_rank(place) == cart.Get_rank());
    cart.Shift(1, 1, source, destination);
    check((destination == MPI::PROC_NULL) == (place[1] == dims[1] - 1));
    check((source == MPI::PROC_NULL) == (place[1] == 0));
    MPI::Cartcomm row = cart.Sub(first);
    check(row.Get_size() == dims[0] && row.Get_dim() == 1 && row.Get_rank() == place[0]);
    MPI::Cartcomm point = comm.Create_cart(0, dims, periods, false);
    check((point == MPI::COMM_NULL) == (comm.Get_rank() > 0));
    if (point != MPI::COMM_NULL) {
        check(point.Get_dim() == 0);
        point.Free();
    }
    int rank = cart.Map(2, dims, periods);
    check(rank >= 0 && rank < size);
    row.Free();
    cart.Free();
}

static void graph(MPI::Intracomm &comm)
{
    int size = comm.Get_size(), rank = comm.Get_rank(), next = (rank + 1) % size, before = (rank + size - 1) % size;
    int index[64], edges[64], found_index[64], found_edges[64], nodes, count;
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI::Graphcomm ring = comm.Create_graph(size, index, edges, false);
    ring.Get_dims(&nodes, &count);
    check(ring.Get_topology() == MPI::GRAPH && nodes == size && count == size);
    ring.Get_topo(nodes, count, found_index, found_edges);
    check(found_index[size - 1] == size && found_edges[rank] == next);
    check(ring.Get_neighbors_count(rank) == 1);
    ring.Get_neighbors(rank, 1, found_edges);
    check(found_edges[0] == next);
    check(ring.Map(size, index, edges) >= 0);
    ring.Free();

    int in, out, source = -1, destination = -1, weight = 5, weights[2] = {-1, -1};
    bool weighted = true;
    MPI::Distgraphcomm plain = comm.Dist_graph_create_adjacent(1, &before, 1, &next, MPI::INFO_NULL, false);
    plain.Get_dist_neighbors_count(in, out, weighted);
    check(plain.Get_topology() == MPI::DIST_GRAPH && in == 1 && out == 1 && !weighted);
    plain.Get_dist_neighbors(1, &source, weights, 1, &destination, weights);
    check(source == before && destination == next);
    plain.Free();
    MPI::Distgraphcomm heavy =
        comm.Dist_graph_create_adjacent(1, &before, &weight, 1, &next, &weight, MPI::INFO_NULL, false);
    heavy.Get_dist_neighbors_count(in, out, weighted);
    heavy.Get_dist_neighbors(1, &source, &weights[0], 1, &destination, &weights[1]);
    check(weighted && weights[0] == 5 && weights[1] == 5);
    heavy.Free();
    int degree = 1;
    plain = comm.Dist_graph_create(1, &rank, &degree, &next, MPI::INFO_NULL, false);
    plain.Get_dist_neighbors(1, &source, weights, 1, &destination, weights);
    check(source == before && destination == next);
    plain.Free();
    heavy = comm.Dist_graph_create(1, &rank, &degree, &next, &weight, MPI::INFO_NULL, false);
    heavy.Get_dist_neighbors(1, &source, &weights[0], 1, &destination, &weights[1]);
    check(weights[0] == 5 && weights[1] == 5);
    heavy.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    cartesian(comm);
    graph(comm);
    comm.Free();
    return finish();
}
