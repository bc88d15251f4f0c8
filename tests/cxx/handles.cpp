/* The classes of handles: communicators, messages and requests, datatypes, operations, groups, info objects, windows,
 * files, attributes and generalized requests, in the forms of C++. */
#include "check.h"

static int copies, deletes, state, requests_freed;

static int copy_comm(const MPI::Comm &comm, int, void *extra, void *in, void *out, bool &flag)
{
    check(comm == MPI::COMM_WORLD && extra == &state && dynamic_cast<const MPI::Intracomm *>(&comm) != 0);
    copies++;
    *static_cast<void **>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

static int delete_comm(MPI::Comm &, int keyval, void *value, void *extra)
{
    check(keyval != MPI::KEYVAL_INVALID && value == &copies && extra == &state);
    deletes++;
    return MPI::SUCCESS;
}

static int copy_type(const MPI::Datatype &type, int, void *extra, const void *in, void *out, bool &flag)
{
    check(type == MPI::INT && extra == &state);
    *static_cast<const void **>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

static int delete_type(MPI::Datatype &, int, void *, void *)
{
    deletes++;
    return MPI::SUCCESS;
}

static int delete_win(MPI::Win &win, int, void *, void *)
{
    check(win != MPI::WIN_NULL);
    deletes++;
    return MPI::SUCCESS;
}

static void greatest(const void *in, void *inout, int count, const MPI::Datatype &type)
{
    check(type == MPI::INT);
    for (int i = 0; i < count; i++)
        if (static_cast<const int *>(in)[i] > static_cast<int *>(inout)[i])
            static_cast<int *>(inout)[i] = static_cast<const int *>(in)[i];
}

static void smallest(const void *in, void *inout, int count, const MPI::Datatype &)
{
    for (int i = 0; i < count; i++)
        if (static_cast<const int *>(in)[i] < static_cast<int *>(inout)[i])
            static_cast<int *>(inout)[i] = static_cast<const int *>(in)[i];
}

static int query(void *extra, MPI::Status &status)
{
    check(extra == &state);
    status.Set_source(7);
    status.Set_tag(9);
    status.Set_cancelled(false);
    status.Set_elements(MPI::INT, 3);
    return MPI::SUCCESS;
}

static int release(void *extra)
{
    requests_freed += extra == &state;
    return MPI::SUCCESS;
}

static int cancel(void *, bool)
{
    return MPI::SUCCESS;
}

static void messages(int rank, int size)
{
    int out = rank, in[2] = {-1, -1}, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI::Status status, statuses[2];
    MPI::Request requests[2];
    requests[0] = MPI::COMM_WORLD.Isend(&out, 1, MPI::INT, next, 3);
    MPI::COMM_WORLD.Probe(MPI::ANY_SOURCE, MPI::ANY_TAG, status);
    check(status.Get_source() == previous && status.Get_tag() == 3 && status.Get_count(MPI::INT) == 1);
    MPI::COMM_WORLD.Recv(in, 2, MPI::INT, previous, 3, status);
    check(status.Get_elements(MPI::INT) == 1 && !status.Is_cancelled() && in[0] == previous);
    requests[0].Wait();
    check(requests[0] == MPI::REQUEST_NULL);
    requests[0] = MPI::COMM_WORLD.Irecv(&in[0], 1, MPI::INT, previous, 4);
    requests[1] = MPI::COMM_WORLD.Irecv(&in[1], 1, MPI::INT, previous, 5);
    MPI::COMM_WORLD.Ssend(&out, 0, MPI::INT, MPI::PROC_NULL, 0);
    MPI::COMM_WORLD.Send(&next, 1, MPI::INT, next, 4);
    MPI::COMM_WORLD.Send(&out, 1, MPI::INT, next, 5);
    MPI::Request::Waitall(2, requests, statuses);
    check(MPI::Request::Testall(2, requests) && requests[1] == MPI::REQUEST_NULL);
    check(in[0] == rank && in[1] == previous && statuses[1].Get_tag() == 5 && statuses[0].Get_source() == previous);
    MPI::Prequest persistent = MPI::COMM_WORLD.Recv_init(in, 1, MPI::INT, previous, 6);
    MPI::Prequest sending = MPI::COMM_WORLD.Send_init(&out, 1, MPI::INT, next, 6);
    for (out = 10; out < 13; out++) {
        persistent.Start();
        sending.Start();
        while (!persistent.Test(status))
            ;
        sending.Wait();
        check(in[0] == out);
    }
    persistent.Free();
    sending.Free();
    check(persistent == MPI::REQUEST_NULL);
    MPI::COMM_WORLD.Sendrecv(&rank, 1, MPI::INT, next, 7, in, 1, MPI::INT, previous, 7, status);
    check(in[0] == previous);
    MPI::Grequest general = MPI::Grequest::Start(query, release, cancel, &state);
    check(!general.Test());
    general.Complete();
    general.Wait(status);
    check(status.Get_source() == 7 && status.Get_tag() == 9 && status.Get_count(MPI::INT) == 3 && requests_freed == 1);
}

static void communicators(int rank, int size)
{
    MPI::Intracomm all = MPI::COMM_WORLD.Dup(), half = all.Split(rank % 2, rank), none = MPI::COMM_NULL;
    check(all != MPI::COMM_WORLD && MPI::Comm::Compare(all, MPI::COMM_WORLD) == MPI::CONGRUENT);
    check(none == MPI::COMM_NULL && all != MPI::COMM_NULL && !all.Is_inter());
    check(half.Get_size() == (size + 1 - rank % 2) / 2 && half.Get_rank() == rank / 2);
    const int lengths[1] = {size};
    const bool periods[1] = {true};
    int coordinates[1] = {-1}, source = -1, destination = -1;
    MPI::Cartcomm ring = all.Create_cart(1, lengths, periods, false);
    check(ring.Get_topology() == MPI::CART && ring.Get_dim() == 1);
    ring.Get_coords(rank, 1, coordinates);
    ring.Shift(0, 1, source, destination);
    check(ring.Get_cart_rank(coordinates) == rank && destination == (rank + 1) % size);
    MPI::Comm &clone = ring.Clone();
    check(dynamic_cast<MPI::Cartcomm *>(&clone) != 0 && clone.Get_topology() == MPI::CART && clone != ring);
    clone.Free();
    delete &clone;
    ring.Free();
    MPI::Group group = all.Get_group(), first;
    const int zero = 0;
    first = group.Incl(1, &zero);
    check(group.Get_size() == size && group.Get_rank() == rank && first.Get_size() == 1);
    check(MPI::Group::Compare(group, first) == (size == 1 ? MPI::IDENT : MPI::UNEQUAL));
    MPI::Group both = MPI::Group::Union(group, first), rest = MPI::Group::Difference(group, first);
    check(both.Get_size() == size && rest.Get_size() == size - 1);
    MPI::Intracomm part = all.Create(first);
    check((part == MPI::COMM_NULL) == (rank != 0));
    if (rank == 0)
        part.Free();
    if (size == 2) {
        MPI::Intercomm between = MPI::COMM_SELF.Create_intercomm(0, all, 1 - rank, 5);
        int got = -1;
        between.Sendrecv(&rank, 1, MPI::INT, 0, 1, &got, 1, MPI::INT, 0, 1);
        check(got == 1 - rank && between.Get_remote_size() == 1 && between.Is_inter());
        MPI::Intracomm merged = between.Merge(rank == 1);
        check(merged.Get_size() == 2 && merged.Get_rank() == rank);
        merged.Free();
        between.Disconnect();
        check(between == MPI::COMM_NULL);
    }
    group.Free();
    first.Free();
    both.Free();
    if (size > 1)
        rest.Free();
    half.Free();
    all.Free();
}

static void collectives(int rank, int size)
{
    int sum = -1, value = rank == 0 ? 42 : 0, all[64], most = -1;
    MPI::COMM_WORLD.Barrier();
    MPI::COMM_WORLD.Bcast(&value, 1, MPI::INT, 0);
    check(value == 42);
    MPI::COMM_WORLD.Reduce(&rank, &sum, 1, MPI::INT, MPI::SUM, 0);
    check(rank != 0 || sum == size * (size - 1) / 2);
    MPI::COMM_WORLD.Allgather(&rank, 1, MPI::INT, all, 1, MPI::INT);
    check(all[size - 1] == size - 1);
    MPI::COMM_WORLD.Alltoall(MPI::IN_PLACE, 1, MPI::INT, all, 1, MPI::INT);
    check(all[0] == rank && all[size - 1] == rank);
    MPI::Op ops[2];
    ops[0].Init(greatest, true);
    ops[1].Init(smallest, true);
    check(ops[0].Is_commutative() && ops[0] != ops[1] && !(ops[0] == MPI::OP_NULL));
    MPI::COMM_WORLD.Allreduce(&rank, &most, 1, MPI::INT, ops[0]);
    check(most == size - 1);
    MPI::COMM_WORLD.Allreduce(&rank, &most, 1, MPI::INT, ops[1]);
    check(most == 0);
    ops[0].Free();
    ops[1].Free();
    check(ops[0] == MPI::OP_NULL);
    bool yes = rank == 0, any = false;
    MPI::COMM_WORLD.Allreduce(&yes, &any, 1, MPI::BOOL, MPI::LOR);
    check(any && MPI::BOOL.Get_size() == static_cast<int>(sizeof(bool)));
}

static void attributes()
{
    void *value = 0;
    int of_comms = MPI::Comm::Create_keyval(copy_comm, delete_comm, &state);
    int shared = MPI::Comm::Create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, 0);
    int kept = MPI::Comm::Create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &state);
    MPI::COMM_WORLD.Set_attr(of_comms, &copies);
    MPI::COMM_WORLD.Set_attr(shared, &copies);
    MPI::COMM_WORLD.Set_attr(kept, &copies);
    MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
    check(copies == 1 && copy.Get_attr(of_comms, &value) && value == &copies);
    check(copy.Get_attr(shared, &value) && value == &copies && !copy.Get_attr(kept, &value));
    copy.Free();
    check(deletes == 1);
    MPI::COMM_WORLD.Delete_attr(of_comms);
    MPI::COMM_WORLD.Delete_attr(kept);
    MPI::COMM_WORLD.Delete_attr(shared);
    check(deletes == 3);
    MPI::Comm::Free_keyval(of_comms);
    MPI::Comm::Free_keyval(shared);
    MPI::Comm::Free_keyval(kept);
    check(of_comms == MPI::KEYVAL_INVALID);
    int of_types = MPI::Datatype::Create_keyval(copy_type, delete_type, &state);
    MPI::INT.Set_attr(of_types, &state);
    MPI::Datatype type = MPI::INT.Dup();
    check(type.Get_attr(of_types, &value) && value == &state);
    type.Free();
    MPI::INT.Delete_attr(of_types);
    MPI::Datatype::Free_keyval(of_types);
    check(deletes == 5);
}

static void objects(int rank)
{
    int lengths[2] = {1, 2}, memory[4] = {0, 0, 0, 0}, length = 0, *found = 0;
    MPI::Aint places[2] = {0, 8}, lower = -1, extent = -1;
    MPI::Datatype types[2], made;
    types[0] = MPI::DOUBLE;
    types[1] = MPI::INT;
    made = MPI::Datatype::Create_struct(2, lengths, places, types);
    made.Commit();
    made.Get_extent(lower, extent);
    check(made.Get_size() == 16 && lower == 0 && extent == 16);
    made.Free();
    check(made == MPI::DATATYPE_NULL);
    made = MPI::INT.Create_vector(3, 1, 2);
    check(made.Get_size() == 12);
    made.Free();
    char text[MPI::MAX_INFO_VAL + 1];
    MPI::Info info = MPI::Info::Create(), copy;
    info.Set("key", "value");
    copy = info.Dup();
    check(copy.Get("key", MPI::MAX_INFO_VAL, text) && strcmp(text, "value") == 0 && copy.Get_nkeys() == 1);
    check(copy.Get_valuelen("key", length) && length == 5 && !copy.Get_valuelen("other", length));
    copy.Delete("key");
    check(copy.Get_nkeys() == 0);
    copy.Free();
    info.Free();
    MPI::Win win = MPI::Win::Create(memory, sizeof memory, sizeof(int), MPI::INFO_NULL, MPI::COMM_WORLD);
    int keyval = MPI::Win::Create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &state), before = deletes;
    win.Set_attr(keyval, &state);
    check(win.Get_attr(MPI::WIN_DISP_UNIT, &found) && *found == static_cast<int>(sizeof(int)));
    win.Fence(0);
    win.Accumulate(lengths, 1, MPI::INT, 0, 1, 1, MPI::INT, MPI::SUM);
    win.Fence(MPI::MODE_NOSUCCEED);
    check(rank != 0 || memory[1] == MPI::COMM_WORLD.Get_size());
    win.Free();
    check(deletes == before + 1);
    MPI::Win::Free_keyval(keyval);
    char name[64];
    snprintf(name, sizeof name, "cxx-handles-%d-%ld", rank, static_cast<long>(MPI::Wtime() * 1e6));
    MPI::File file = MPI::File::Open(MPI::COMM_SELF, name,
                                     MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    MPI::Status status;
    int back[2] = {0, 0};
    file.Write_at(0, lengths, 2, MPI::INT);
    file.Read_at(0, back, 2, MPI::INT, status);
    check(status.Get_count(MPI::INT) == 2 && back[1] == 2 && file.Get_size() == 8);
    file.Seek(4, MPI::SEEK_SET);
    file.Read(back, 1, MPI::INT);
    check(back[0] == 2 && file.Get_position() == 8 && (file.Get_amode() & MPI::MODE_RDWR) != 0);
    file.Close();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    messages(rank, size);
    communicators(rank, size);
    collectives(rank, size);
    attributes();
    objects(rank);
    return finish();
}
