// What programs do with processes, signals, stacks and time, one habit at a time. Each prints what
// it found, the same in every run, and ends with a status of its own.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>

#include <cerrno>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace {

volatile double sink;
double seconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

__attribute__((noinline)) void compute(double s) {
    double sum = 0;
    const double until = seconds(CLOCK_THREAD_CPUTIME_ID) + s;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        for (int i = 1; i < 2000; ++i) sum = sum * 0.999 + 1.0 / i;
    sink = sum;
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int forks() {
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
        compute(0.004);
        const pid_t child = fork();
        if (child == 0) {
            compute(0.01);
            const pid_t grandchild = fork();
            if (grandchild == 0) _exit(k);
            _exit(status_of(grandchild) + 10);
        }
        sum += status_of(child);
    }
    const pid_t child = vfork();
    if (child == 0) _exit(3);
    std::printf("children ended with %d and %d\n", sum, status_of(child));
    return 5;
}

int execs() {
    int sum = 0;
    for (int k = 0; k < 5; ++k) {
        compute(0.005);
        const pid_t child = fork();
        if (child == 0) {
            compute(0.003);
            execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exit 4",
                  nullptr);
            _exit(99);
        }
        sum += status_of(child);
        pid_t spawned = 0;
        const char *words[] = {"sh", "-c", "exit 2", nullptr};
        posix_spawn(&spawned, "/bin/sh", nullptr, nullptr, const_cast<char **>(words), environ);
        sum += status_of(spawned);
        sum += WEXITSTATUS(system("exit 1"));
    }
    std::printf("programs ended with %d\n", sum);
    return 6;
}

// Another program in the place of this one, with samples on their way.
int replaced() {
    std::printf("replaced\n");
    std::fflush(stdout);
    compute(0.05);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr); // what is pending goes along
    compute(0.05);
    execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exit 7", nullptr);
    return 99;
}

volatile sig_atomic_t came[65];
void on_any(int number) { came[number] = came[number] + 1; }

// A handler for every signal that can have one, each raised and sent by a timer of its own.
int signals() {
    int handled = 0, wrong = 0, before = 0;
    for (int number = 1; number <= SIGRTMAX; ++number) {
        struct sigaction action = {}, old = {};
        action.sa_handler = on_any;
        if (sigaction(number, &action, &old) != 0) continue;
        ++handled;
        if (number >= SIGRTMIN && old.sa_handler != SIG_DFL) ++before;
    }
    compute(0.1);
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) wrong += came[number];
    for (int number = 1; number <= SIGRTMAX; ++number) {
        struct sigaction old = {};
        if (sigaction(number, nullptr, &old) != 0 || old.sa_handler != on_any) continue;
        const int had = came[number];
        raise(number);
        if (came[number] != had + 1) ++wrong;
    }
    compute(0.1);
    int timers = 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
        sigevent event = {};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = number;
        timer_t timer;
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) continue;
        const int had = came[number];
        const itimerspec soon = {{0, 0}, {0, 1000000}};
        timer_settime(timer, 0, &soon, nullptr);
        for (int k = 0; k < 1000 && came[number] == had; ++k) compute(0.001);
        timers += came[number] == had + 1;
        timer_delete(timer);
    }
    // All back, as some programs do before they start others.
    for (int number = 1; number <= SIGRTMAX; ++number) std::signal(number, SIG_DFL);
    compute(0.1);
    std::printf("%d handled, %d wrong, %d before, %d of %d timers\n", handled, wrong, before,
                timers, SIGRTMAX - SIGRTMIN + 1);
    return wrong + before == 0 ? 8 : 1;
}

// All signals blocked, and waited for one after the other.
int waits() {
    sigset_t all, one;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    int order = 0;
    for (int k = 0; k < 10; ++k) {
        compute(0.02);
        raise(SIGRTMIN + k % 4);
        int number = 0;
        if (sigwait(&all, &number) == 0) order = order * 10 + number - SIGRTMIN;
    }
    compute(0.02);
    const timespec some = {0, 20000000};
    const int found = sigtimedwait(&all, nullptr, &some);
    const bool late = found < 0 && errno == EAGAIN;
    sigemptyset(&one);
    sigprocmask(SIG_SETMASK, &one, nullptr);
    std::printf("signals in order %d, none left %d\n", order, late);
    return 9;
}

// Sleeps, polls and reads that nobody interrupts.
int sleeps() {
    int interrupted = 0, pipes[2];
    if (pipe(pipes) != 0) return 99;
    for (int k = 0; k < 300; ++k) {
        const timespec some = {0, 200000};
        compute(0.0007);
        interrupted += nanosleep(&some, nullptr) != 0;
        compute(0.0003);
        pollfd one = {pipes[0], POLLIN, 0};
        interrupted += poll(&one, 1, 0) < 0;
        timeval time = {0, 100};
        interrupted += select(0, nullptr, nullptr, nullptr, &time) < 0;
        compute(0.0002);
        interrupted += usleep(100) != 0;
    }
    std::printf("%d of 1200 interrupted\n", interrupted);
    return 10;
}

volatile int *alarms; // shared with children
void on_alarm(int) { *alarms = *alarms + 1; }

// Wait until the parent sleeps, which it does in its read alone, and alarms came to it there: a
// read that begins late on a busy machine is interrupted, too.
void await_alarms(pid_t parent) {
    const std::string path = "/proc/" + std::to_string(parent) + "/stat";
    int before = -1;
    for (int k = 0; k < 2000 && (before < 0 || *alarms < before + 3); ++k) {
        const timespec some = {0, 2000000};
        nanosleep(&some, nullptr);
        char text[256] = "";
        const int file = open(path.c_str(), O_RDONLY);
        if (read(file, text, sizeof text - 1) < 0) return;
        close(file);
        const char *state = std::strrchr(text, ')');
        if (before < 0 && state != nullptr && state[2] == 'S') before = *alarms;
    }
}

// The same with the program's own timer, whose handler has SA_RESTART, or has not.
int restarts() {
    int pipes[2], results[2] = {0, 0};
    void *shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pipe(pipes) != 0 || shared == MAP_FAILED) return 99;
    alarms = static_cast<volatile int *>(shared);
    for (int restart = 0; restart < 2; ++restart) {
        struct sigaction action = {};
        action.sa_handler = on_alarm;
        action.sa_flags = restart ? SA_RESTART : 0;
        sigaction(SIGALRM, &action, nullptr);
        for (int k = 0; k < 10; ++k) {
            compute(0.003);
            const pid_t child = fork();
            if (child == 0) {
                await_alarms(getppid());
                _exit(write(pipes[1], "x", 1) == 1 ? 0 : 1);
            }
            const itimerval often = {{0, 10000}, {0, 10000}}, never = {};
            setitimer(ITIMER_REAL, &often, nullptr);
            char letter;
            bool interrupted = false;
            while (read(pipes[0], &letter, 1) != 1) {
                if (errno != EINTR) return 99;
                interrupted = true;
            }
            setitimer(ITIMER_REAL, &never, nullptr);
            results[restart] += interrupted;
            if (status_of(child) != 0) return 99;
        }
    }
    std::printf("%d of 10 interrupted, %d with SA_RESTART\n", results[0], results[1]);
    return 11;
}

// Timers of all kinds that count the program's own time.
int timers() {
    int kinds = 0;
    const int number[] = {SIGPROF, SIGVTALRM, SIGALRM};
    const __itimer_which_t which[] = {ITIMER_PROF, ITIMER_VIRTUAL, ITIMER_REAL};
    for (int k = 0; k < 3; ++k) {
        std::signal(number[k], on_any);
        const itimerval soon = {{0, 5000}, {0, 5000}};
        setitimer(which[k], &soon, nullptr);
        const int had = came[number[k]];
        for (int j = 0; j < 1000 && came[number[k]] < had + 3; ++j) compute(0.002);
        kinds += came[number[k]] >= had + 3;
        const itimerval never = {};
        setitimer(which[k], &never, nullptr);
    }
    std::printf("%d kinds of timers\n", kinds);
    return 12;
}

int aborts() {
    std::printf("aborts\n");
    std::fflush(stdout);
    compute(0.03);
    std::abort();
}

int mpi_aborts() {
    std::printf("calls MPI_Abort\n");
    std::fflush(stdout);
    compute(0.03);
    return MPI_Abort(MPI_COMM_WORLD, 13);
}

struct Counted {
    int *count;
    ~Counted() { ++*count; }
};

__attribute__((noinline)) int deep(int depth, int *count) {
    Counted here{count};
    if (depth == 0) {
        compute(0.0002);
        throw std::runtime_error("deep");
    }
    return deep(depth - 1, count) + 1;
}

int exceptions() {
    int caught = 0, destroyed = 0;
    for (int k = 0; k < 400; ++k) {
        try {
            deep(30 + k % 20, &destroyed);
        } catch (const std::runtime_error &error) {
            caught += std::strcmp(error.what(), "deep") == 0;
        }
    }
    std::printf("%d caught, %d destroyed\n", caught, destroyed);
    return 14;
}

ucontext_t back, there[4];
int turns[4];

void turn(int which) {
    for (int k = 0; k < 100; ++k) {
        compute(0.0003);
        ++turns[which];
        swapcontext(&there[which], &back);
    }
}

struct Generator {
    struct promise_type {
        int value = 0;
        Generator get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

Generator numbers(int count) {
    for (int k = 0; k < count; ++k) {
        compute(0.0003);
        co_yield k;
    }
}

int coroutines() {
    std::vector<std::vector<char>> stacks(4, std::vector<char>(64 * 1024));
    for (int k = 0; k < 4; ++k) {
        getcontext(&there[k]);
        there[k].uc_stack.ss_sp = stacks[k].data();
        there[k].uc_stack.ss_size = stacks[k].size();
        there[k].uc_link = &back;
        makecontext(&there[k], reinterpret_cast<void (*)()>(turn), 1, k);
    }
    for (int k = 0; k < 400; ++k) swapcontext(&back, &there[k % 4]);
    int sum = 0;
    Generator some = numbers(200);
    for (some.handle.resume(); !some.handle.done(); some.handle.resume())
        sum += some.handle.promise().value;
    some.handle.destroy();
    std::printf("turns %d %d %d %d, sum %d\n", turns[0], turns[1], turns[2], turns[3], sum);
    return 15;
}

sigjmp_buf place;
void on_jump(int) { siglongjmp(place, 1); }

// Out of a handler by a jump, on a stack of its own.
int jumps() {
    std::vector<char> stack(64 * 1024);
    stack_t own = {};
    own.ss_sp = stack.data();
    own.ss_size = stack.size();
    sigaltstack(&own, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_jump;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID; // a signal to the process may be any thread's
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = gettid();
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    volatile int jumped = 0;
    while (jumped < 50) {
        if (sigsetjmp(place, 1) == 0) {
            const itimerspec soon = {{0, 0}, {0, 1500000}};
            timer_settime(timer, 0, &soon, nullptr);
            for (;;) compute(0.001);
        }
        jumped = jumped + 1;
    }
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
    std::printf("%d jumps\n", jumped);
    return 16;
}

void *thread_work(void *) {
    compute(0.004);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    compute(0.004);
    return nullptr;
}

// Threads that come and go, one of which is cancelled.
int threads() {
    int joined = 0, cancelled = 0;
    for (int k = 0; k < 20; ++k) {
        pthread_t some[3];
        for (pthread_t &one : some) pthread_create(&one, nullptr, thread_work, nullptr);
        pthread_t endless;
        pthread_create(&endless, nullptr, [](void *) -> void * {
            int rank;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            for (;;) {
                compute(0.001);
                pthread_testcancel();
            }
        }, nullptr);
        for (pthread_t one : some) joined += pthread_join(one, nullptr) == 0;
        void *result = nullptr;
        pthread_cancel(endless);
        pthread_join(endless, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    std::printf("%d joined, %d cancelled\n", joined, cancelled);
    return 17;
}

// Calls enough for a signature to cut.
int steps() {
    for (int k = 0; k < 200; ++k) {
        compute(0.0005);
        MPI_Barrier(MPI_COMM_WORLD);
        if (k % 50 == 0) std::printf("step %d\n", k), std::fflush(stdout);
    }
    return 0;
}

struct Habit {
    const char *name;
    int (*run)();
};
const Habit habits[] = {
    {"fork", forks},           {"exec", execs},           {"replaced", replaced},
    {"signals", signals},      {"sigwait", waits},        {"sleep", sleeps},
    {"restart", restarts},     {"timers", timers},        {"abort", aborts},
    {"mpi_abort", mpi_aborts}, {"exceptions", exceptions}, {"coroutines", coroutines},
    {"jumps", jumps},          {"threads", threads},      {"steps", steps},
};

} // namespace

int main(int count, char **words) {
    int level = 0;
    const bool several = count > 1 && std::strcmp(words[1], "threads") == 0;
    MPI_Init_thread(&count, &words, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    for (const Habit &habit : habits) {
        if (count < 2 || std::strcmp(habit.name, words[1]) != 0) continue;
        compute(0.01);
        MPI_Barrier(MPI_COMM_WORLD);
        const int status = habit.run();
        std::fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return status;
    }
    return 99;
}
