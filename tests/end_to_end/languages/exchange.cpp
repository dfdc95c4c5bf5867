// exchange.cpp -- What test_record_languages.py expects, in C++.
#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace {

struct World {
    World(int* argc, char*** argv) { MPI_Init(argc, argv); }
    ~World() { MPI_Finalize(); }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
};

template <typename T> struct Type;
template <> struct Type<int> {
    static MPI_Datatype of() { return MPI_INT; }
};
template <> struct Type<double> {
    static MPI_Datatype of() { return MPI_DOUBLE; }
};

template <typename T> class Channel {
  public:
    Channel(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}
    void send(const std::vector<T>& data, int to) const {
        MPI_Send(data.data(), static_cast<int>(data.size()), Type<T>::of(), to, tag_, comm_);
    }
    void receive(std::vector<T>& data, int from) const {
        MPI_Recv(data.data(), static_cast<int>(data.size()), Type<T>::of(), from, tag_, comm_,
                 MPI_STATUS_IGNORE);
    }
    std::array<MPI_Request, 2> exchange(const std::vector<T>& out, int to, std::vector<T>& in,
                                        int from) const {
        std::array<MPI_Request, 2> requests;
        const int count = static_cast<int>(out.size());
        MPI_Irecv(in.data(), count, Type<T>::of(), from, tag_, comm_, &requests[0]);
        MPI_Isend(out.data(), count, Type<T>::of(), to, tag_, comm_, &requests[1]);
        return requests;
    }

  private:
    MPI_Comm comm_;
    int tag_;
};

} // namespace

int main(int argc, char** argv) {
    const World world(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int turn = 1; turn <= 4; ++turn) {
        std::vector<double> out(turn), in(turn);
        auto requests =
            Channel<double>(MPI_COMM_WORLD, 10 + turn).exchange(out, right, in, left);
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    }
    std::vector<int> words(16);
    if (rank == 0) {
        const std::function<void(int)> send = [](int to) {
            Channel<int>(MPI_COMM_WORLD, 5).send(std::vector<int>(to), to);
        };
        for (int to = 1; to < size; ++to) send(to);
    } else {
        Channel<int>(MPI_COMM_WORLD, 5).receive(words, MPI_ANY_SOURCE);
    }
    MPI_Sendrecv(words.data(), 2, MPI_INT, left, 7, words.data() + 4, 2, MPI_INT, right, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    std::vector<double> out(4), in(4);
    const auto free = [](MPI_Comm* comm) {
        MPI_Comm_free(comm);
        delete comm;
    };
    {
        const std::unique_ptr<MPI_Comm, decltype(free)> reversed(new MPI_Comm, free);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed.get());
        std::vector<double> three(3);
        if (rank == size - 1) Channel<double>(*reversed, 8).send(three, size - 1);
        if (rank == 0) Channel<double>(*reversed, MPI_ANY_TAG).receive(three, MPI_ANY_SOURCE);
        MPI_Allreduce(out.data(), in.data(), 3, MPI_DOUBLE, MPI_SUM, *reversed);
    }
    MPI_Bcast(out.data(), 4, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Gather(words.data(), 2, MPI_INT, words.data() + 4, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, out.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
