// otf2_shared.cpp -- see otf2_shared.hpp.
#include "otf2_shared.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

namespace burstline::otf2 {

namespace {

constexpr int all_bits = 0xff;  // what is allocated is filled with its complement

std::uint64_t address_space() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (file != nullptr) {
        if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return std::uint64_t{pages} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(int what, std::uint64_t value) {
    rlimit now{};
    if (getrlimit(what, &now) != 0) return;
    now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
    setrlimit(what, &now);
}

/// A child must neither outlive its parent, nor speak, nor leave a core, nor run the
/// handlers that were set for another program.
void settle(const Limits& limits, std::uint64_t used) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGXCPU}) {
        std::signal(number, SIG_DFL);
    }
    // An interrupt from the terminal goes to both: the child ends, the parent hears of it.
    struct sigaction now{};
    sigaction(SIGINT, nullptr, &now);
    if (now.sa_handler != SIG_IGN) std::signal(SIGINT, SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
    // A file that ends early leaves its buffer as it was: nothing, not old bytes of ours.
    mallopt(M_PERTURB, all_bits);
    limit(RLIMIT_CORE, 0);
    if (limits.seconds > 0) limit(RLIMIT_CPU, limits.seconds);
    if (limits.bytes > 0 && used > 0) limit(RLIMIT_AS, used + limits.bytes);
}

std::mutex guard;  // of what follows
std::set<pid_t> running;
bool stopped_all = false;

/// A child that can be stopped while this lives; -1 if none was made, or all are stopped.
class Child {
  public:
    Child() {
        const std::scoped_lock lock(guard);
        pid_ = stopped_all ? -1 : fork();
        if (pid_ > 0) running.insert(pid_);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { forget(); }

    pid_t pid() const { return pid_; }

    /// Wait for its end and leave it as it is: until it is forgotten, nobody else has its number.
    void wait(const std::function<bool()>& is_over) const {
        siginfo_t ended{};
        bool over = false;
        while (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) < 0) {
            if (errno != EINTR) return;
            over = over || (is_over && is_over());
            if (over) kill(pid_, SIGKILL);
        }
    }

    void forget() {
        const std::scoped_lock lock(guard);
        running.erase(pid_);
    }

  private:
    pid_t pid_;
};

}  // namespace

void stop_children(bool stopped) {
    const std::scoped_lock lock(guard);
    stopped_all = stopped;
    if (!stopped) return;
    for (const auto pid : running) kill(pid, SIGKILL);
}

Shared::Shared(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
}

Shared::Shared(Shared&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

Shared::~Shared() {
    if (data_ != nullptr) munmap(data_, bytes_);
}

int run_in_child(const std::function<void()>& work, const Limits& limits,
                 const std::function<bool()>& is_over) {
    const auto used = address_space();
    const Shared memory(sizeof(int));
    auto& is_done = *static_cast<volatile int*>(memory.data());
    Child process;
    const pid_t child = process.pid();
    if (child < 0) return -1;
    if (child == 0) {
        settle(limits, used);
        try {
            work();
        } catch (...) {
            _exit(1);
        }
        is_done = 1;
        _exit(0);
    }
    process.wait(is_over);
    process.forget();
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR) continue;
        return is_done != 0 ? 0 : SIGABRT;  // someone else has waited for it
    }
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    return WEXITSTATUS(status) == 0 ? 0 : SIGABRT;
}

}  // namespace burstline::otf2
