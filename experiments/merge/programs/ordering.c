/* Sorts keys of all ranks by sampling, in rounds of other numbers and other disorder. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 40, MOST = 64 };

static unsigned long state;

static long next_key(void) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (long)(state >> 40);
}

static void sort(long *keys, long count) {
    while (count > 12) {
        long pivot = keys[count / 2], low = 0, high = count - 1;
        while (low <= high) {
            while (keys[low] < pivot) low++;
            while (keys[high] > pivot) high--;
            if (low <= high) {
                long key = keys[low];
                keys[low++] = keys[high];
                keys[high--] = key;
            }
        }
        sort(keys + low, count - low);
        count = high + 1;
    }
    for (long i = 1; i < count; i++)
        for (long at = i; at > 0 && keys[at - 1] > keys[at]; at--) {
            long key = keys[at];
            keys[at] = keys[at - 1];
            keys[at - 1] = key;
        }
}

static long spread(const long *keys, long count, int size, int *first) {
    long range = (1l << 24) / size;
    for (int to = 0; to <= size; to++) first[to] = 0;
    for (long i = 0; i < count; i++) first[keys[i] / (range + 1) + 1]++;
    for (int to = 0; to < size; to++) first[to + 1] += first[to];
    return first[size];
}

static long round_of(int round, long scale, int rank, int size) {
    long count = scale * (1 + (round * 3 + rank) % 7), total = 0, all;
    long *keys = malloc(count * sizeof *keys), *own;
    int first[MOST + 1], sizes[MOST], theirs[MOST], begins[MOST + 1] = {0};
    for (long i = 0; i < count; i++)
        keys[i] = round % 4 == 3 ? i * (1l << 24) / count : next_key();
    MPI_Barrier(MPI_COMM_WORLD);
    sort(keys, count);
    MPI_Barrier(MPI_COMM_WORLD);
    spread(keys, count, size, first);
    for (int to = 0; to < size; to++) sizes[to] = first[to + 1] - first[to];
    MPI_Alltoall(sizes, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++) begins[from + 1] = begins[from] + theirs[from];
    own = malloc((begins[size] + 1) * sizeof *own);
    MPI_Alltoallv(keys, sizes, first, MPI_LONG, own, theirs, begins, MPI_LONG, MPI_COMM_WORLD);
    sort(own, begins[size]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < begins[size]; i++) total += own[i] ^ i;
    MPI_Allreduce(&total, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    free(keys);
    free(own);
    return all;
}

int main(int argc, char **argv) {
    long scale = argc > 1 ? atol(argv[1]) : 500, all = 0;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
    state = 42 + rank;
    for (int round = 0; round < ROUNDS; round++) all ^= round_of(round, scale, rank, size);
    MPI_Finalize();
    return all == 1;
}
