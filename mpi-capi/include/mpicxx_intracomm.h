/* A part of mpicxx.h: intracommunicators, with topologies and without, and intercommunicators. */
namespace MPI {

class Intercomm;
class Cartcomm;
class Graphcomm;
class Distgraphcomm;

class FERRUM_CXX_OLD Intracomm : public Comm {
public:
    Intracomm() : Comm(MPI_COMM_NULL) {}
    Intracomm(MPI_Comm handle) : Comm(handle) {}
    Intracomm(const Comm_Null &) : Comm(MPI_COMM_NULL) {}
    Intracomm Dup() const { return Intracomm(duplicate()); }
    virtual Comm &Clone() const { return *new Intracomm(duplicate()); }
    Intracomm Create(const Group &group) const
    {
        Intracomm comm;
        FERRUM_CXX_CALL(MPI_Comm_create(handle_, group, &comm.handle_));
        return comm;
    }
    Intracomm Split(int color, int key) const
    {
        Intracomm comm;
        FERRUM_CXX_CALL(MPI_Comm_split(handle_, color, key, &comm.handle_));
        return comm;
    }
    Intercomm Create_intercomm(int leader, const Comm &peer, int remote_leader, int tag) const;
    Cartcomm Create_cart(int dimensions, const int lengths[], const bool periods[], bool reorder) const;
    Graphcomm Create_graph(int nodes, const int index[], const int edges[], bool reorder) const;
    /* Without weights, all edges are equal. */
    Distgraphcomm Dist_graph_create(int nodes, const int sources[], const int degrees[], const int destinations[],
                                    const int weights[], const Info &info, bool reorder) const;
    Distgraphcomm Dist_graph_create(int nodes, const int sources[], const int degrees[], const int destinations[],
                                    const Info &info, bool reorder) const;
    Distgraphcomm Dist_graph_create_adjacent(int in, const int sources[], const int source_weights[], int out,
                                             const int destinations[], const int destination_weights[],
                                             const Info &info, bool reorder) const;
    Distgraphcomm Dist_graph_create_adjacent(int in, const int sources[], int out, const int destinations[],
                                             const Info &info, bool reorder) const;

    void Barrier() const { FERRUM_CXX_CALL(MPI_Barrier(handle_)); }
    void Bcast(void *data, int count, const Datatype &type, int root) const
    {
        FERRUM_CXX_CALL(MPI_Bcast(data, count, type, root, handle_));
    }
    void Reduce(const void *in, void *out, int count, const Datatype &type, const Op &op, int root) const
    {
        FERRUM_CXX_CALL(MPI_Reduce(in, out, count, type, op, root, handle_));
    }
    void Allreduce(const void *in, void *out, int count, const Datatype &type, const Op &op) const
    {
        FERRUM_CXX_CALL(MPI_Allreduce(in, out, count, type, op, handle_));
    }
    void Gather(const void *in, int count, const Datatype &type, void *out, int each, const Datatype &as,
                int root) const
    {
        FERRUM_CXX_CALL(MPI_Gather(in, count, type, out, each, as, root, handle_));
    }
    void Scatter(const void *in, int each, const Datatype &type, void *out, int count, const Datatype &as,
                 int root) const
    {
        FERRUM_CXX_CALL(MPI_Scatter(in, each, type, out, count, as, root, handle_));
    }
    void Allgather(const void *in, int count, const Datatype &type, void *out, int each, const Datatype &as) const
    {
        FERRUM_CXX_CALL(MPI_Allgather(in, count, type, out, each, as, handle_));
    }
    void Alltoall(const void *in, int count, const Datatype &type, void *out, int each, const Datatype &as) const
    {
        FERRUM_CXX_CALL(MPI_Alltoall(in, count, type, out, each, as, handle_));
    }
};

class FERRUM_CXX_OLD Cartcomm : public Intracomm {
public:
    Cartcomm() {}
    Cartcomm(MPI_Comm handle) : Intracomm(handle) {}
    Cartcomm(const Comm_Null &) {}
    Cartcomm Dup() const { return Cartcomm(duplicate()); }
    virtual Comm &Clone() const { return *new Cartcomm(duplicate()); }
    int Get_dim() const
    {
        int dimensions = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Cartdim_get(handle_, &dimensions));
        return dimensions;
    }
    int Get_cart_rank(const int coordinates[]) const
    {
        int rank = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Cart_rank(handle_, coordinates, &rank));
        return rank;
    }
    void Get_coords(int rank, int most, int coordinates[]) const
    {
        FERRUM_CXX_CALL(MPI_Cart_coords(handle_, rank, most, coordinates));
    }
    void Get_topo(int most, int lengths[], bool periods[], int coordinates[]) const
    {
        std::vector<int> flags(most > 0 ? most : 1);
        FERRUM_CXX_CALL(MPI_Cart_get(handle_, most, lengths, &flags[0], coordinates));
        int dimensions = Get_dim();
        for (int i = 0; i < most && i < dimensions; i++)
            periods[i] = flags[i] != 0;
    }
    Cartcomm Sub(const bool remaining[]) const
    {
        MPI_Comm comm = MPI_COMM_NULL;
        int dimensions = Get_dim();
        std::vector<int> flags(1);
        for (int i = 0; i < dimensions; i++)
            flags.push_back(remaining[i]);
        FERRUM_CXX_CALL(MPI_Cart_sub(handle_, &flags[dimensions > 0], &comm));
        return Cartcomm(comm);
    }
    int Map(int dimensions, const int lengths[], const bool periods[]) const
    {
        int rank = MPI_UNDEFINED;
        std::vector<int> flags(1);
        for (int i = 0; i < dimensions; i++)
            flags.push_back(periods[i]);
        FERRUM_CXX_CALL(MPI_Cart_map(handle_, dimensions, lengths, &flags[dimensions > 0], &rank));
        return rank;
    }
    void Shift(int direction, int distance, int &source, int &destination) const
    {
        FERRUM_CXX_CALL(MPI_Cart_shift(handle_, direction, distance, &source, &destination));
    }
};

class FERRUM_CXX_OLD Graphcomm : public Intracomm {
public:
    Graphcomm() {}
    Graphcomm(MPI_Comm handle) : Intracomm(handle) {}
    Graphcomm(const Comm_Null &) {}
    Graphcomm Dup() const { return Graphcomm(duplicate()); }
    virtual Comm &Clone() const { return *new Graphcomm(duplicate()); }
    void Get_dims(int nodes[], int edges[]) const { FERRUM_CXX_CALL(MPI_Graphdims_get(handle_, nodes, edges)); }
    void Get_topo(int most_nodes, int most_edges, int index[], int edges[]) const
    {
        FERRUM_CXX_CALL(MPI_Graph_get(handle_, most_nodes, most_edges, index, edges));
    }
    int Map(int nodes, const int index[], const int edges[]) const
    {
        int rank = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Graph_map(handle_, nodes, index, edges, &rank));
        return rank;
    }
    int Get_neighbors_count(int rank) const
    {
        int count = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Graph_neighbors_count(handle_, rank, &count));
        return count;
    }
    void Get_neighbors(int rank, int most, int neighbors[]) const
    {
        FERRUM_CXX_CALL(MPI_Graph_neighbors(handle_, rank, most, neighbors));
    }
};

class FERRUM_CXX_OLD Distgraphcomm : public Intracomm {
public:
    Distgraphcomm() {}
    Distgraphcomm(MPI_Comm handle) : Intracomm(handle) {}
    Distgraphcomm(const Comm_Null &) {}
    Distgraphcomm Dup() const { return Distgraphcomm(duplicate()); }
    virtual Comm &Clone() const { return *new Distgraphcomm(duplicate()); }
    void Get_dist_neighbors_count(int &in, int &out, bool &weighted) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Dist_graph_neighbors_count(handle_, &in, &out, &flag));
        weighted = flag != 0;
    }
    void Get_dist_neighbors(int most_in, int sources[], int source_weights[], int most_out, int destinations[],
                            int destination_weights[]) const
    {
        FERRUM_CXX_CALL(MPI_Dist_graph_neighbors(handle_, most_in, sources, source_weights, most_out, destinations,
                                                 destination_weights));
    }
};

class FERRUM_CXX_OLD Intercomm : public Comm {
public:
    Intercomm() : Comm(MPI_COMM_NULL) {}
    Intercomm(MPI_Comm handle) : Comm(handle) {}
    Intercomm(const Comm_Null &) : Comm(MPI_COMM_NULL) {}
    Intercomm Dup() const { return Intercomm(duplicate()); }
    virtual Comm &Clone() const { return *new Intercomm(duplicate()); }
    int Get_remote_size() const
    {
        int size = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Comm_remote_size(handle_, &size));
        return size;
    }
    Group Get_remote_group() const
    {
        MPI_Group group = MPI_GROUP_NULL;
        FERRUM_CXX_CALL(MPI_Comm_remote_group(handle_, &group));
        return Group(group);
    }
    Intracomm Merge(bool high) const
    {
        MPI_Comm merged = MPI_COMM_NULL;
        FERRUM_CXX_CALL(MPI_Intercomm_merge(handle_, high, &merged));
        return Intracomm(merged);
    }
};

inline Intercomm Intracomm::Create_intercomm(int leader, const Comm &peer, int remote_leader, int tag) const
{
    MPI_Comm comm = MPI_COMM_NULL;
    FERRUM_CXX_CALL(MPI_Intercomm_create(handle_, leader, peer, remote_leader, tag, &comm));
    return Intercomm(comm);
}

inline Cartcomm Intracomm::Create_cart(int dimensions, const int lengths[], const bool periods[], bool reorder) const
{
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> flags(1);
    for (int i = 0; i < dimensions; i++)
        flags.push_back(periods[i]);
    FERRUM_CXX_CALL(MPI_Cart_create(handle_, dimensions, lengths, &flags[dimensions > 0], reorder, &comm));
    return Cartcomm(comm);
}

inline Graphcomm Intracomm::Create_graph(int nodes, const int index[], const int edges[], bool reorder) const
{
    MPI_Comm comm = MPI_COMM_NULL;
    FERRUM_CXX_CALL(MPI_Graph_create(handle_, nodes, index, edges, reorder, &comm));
    return Graphcomm(comm);
}

inline Distgraphcomm Intracomm::Dist_graph_create(int nodes, const int sources[], const int degrees[],
                                                  const int destinations[], const int weights[], const Info &info,
                                                  bool reorder) const
{
    MPI_Comm comm = MPI_COMM_NULL;
    FERRUM_CXX_CALL(
        MPI_Dist_graph_create(handle_, nodes, sources, degrees, destinations, weights, info, reorder, &comm));
    return Distgraphcomm(comm);
}

inline Distgraphcomm Intracomm::Dist_graph_create(int nodes, const int sources[], const int degrees[],
                                                  const int destinations[], const Info &info, bool reorder) const
{
    return Dist_graph_create(nodes, sources, degrees, destinations, MPI_UNWEIGHTED, info, reorder);
}

inline Distgraphcomm Intracomm::Dist_graph_create_adjacent(int in, const int sources[], const int source_weights[],
                                                           int out, const int destinations[],
                                                           const int destination_weights[], const Info &info,
                                                           bool reorder) const
{
    MPI_Comm comm = MPI_COMM_NULL;
    FERRUM_CXX_CALL(MPI_Dist_graph_create_adjacent(handle_, in, sources, source_weights, out, destinations,
                                                   destination_weights, info, reorder, &comm));
    return Distgraphcomm(comm);
}

inline Distgraphcomm Intracomm::Dist_graph_create_adjacent(int in, const int sources[], int out,
                                                           const int destinations[], const Info &info,
                                                           bool reorder) const
{
    return Dist_graph_create_adjacent(in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED, info, reorder);
}

} /* namespace MPI */
