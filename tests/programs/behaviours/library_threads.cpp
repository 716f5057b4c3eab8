// library_threads.cpp WHAT - parts of the C library that start threads or look at malloc.
#include <aio.h>
#include <fcntl.h>
#include <malloc.h>
#include <mcheck.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> ticks{0};

void on_timer(sigval) {
    char* text = static_cast<char*>(std::malloc(100));
    std::snprintf(text, 100, "%d", ticks.load());
    std::free(text);
    ticks.fetch_add(1);
}

void timer_threads() {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_timer;
    timer_t timer;
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
    itimerspec every{{0, 2000000}, {0, 2000000}};
    ::timer_settime(timer, 0, &every, nullptr);
    while (ticks.load() < 50) ::usleep(1000);
    ::timer_delete(timer);
    std::printf("ticks\n");
}

void asynchronous_io() {
    FILE* file = std::tmpfile();
    const int fd = ::fileno(file);
    char text[20][100];
    aiocb blocks[20]{};
    aiocb* list[20];
    for (int i = 0; i < 20; ++i) {
        std::memset(text[i], 'a' + i, sizeof text[i]);
        blocks[i].aio_fildes = fd;
        blocks[i].aio_buf = text[i];
        blocks[i].aio_nbytes = sizeof text[i];
        blocks[i].aio_offset = 100 * i;
        blocks[i].aio_lio_opcode = LIO_WRITE;
        list[i] = &blocks[i];
    }
    sigevent event{};
    event.sigev_notify = SIGEV_NONE;
    std::printf("%d\n", ::lio_listio(LIO_WAIT, list, 20, &event));
    long sum = 0;
    for (auto& each : blocks) sum += ::aio_return(&each);
    std::printf("%ld\n", sum);
    std::fclose(file);
}

void names_asynchronously() {
    gaicb requests[3]{};
    gaicb* list[3];
    const char* names[] = {"127.0.0.1", "localhost", "::1"};
    for (int i = 0; i < 3; ++i) {
        requests[i].ar_name = names[i];
        list[i] = &requests[i];
    }
    std::printf("%d\n", ::getaddrinfo_a(GAI_WAIT, list, 3, nullptr));
    for (auto& each : requests) {
        std::printf("%d %d\n", ::gai_error(&each), each.ar_result != nullptr);
        if (each.ar_result != nullptr) ::freeaddrinfo(each.ar_result);
    }
}

void on_message(sigval) {
    std::free(std::malloc(77));
    ticks.fetch_add(1);
}

void message_queue() {
    ::mq_unlink("/allocscope_behaviour");
    mq_attr attributes{};
    attributes.mq_maxmsg = 4;
    attributes.mq_msgsize = 64;
    const mqd_t queue =
        ::mq_open("/allocscope_behaviour", O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (queue == static_cast<mqd_t>(-1)) {
        std::printf("none\n");
        return;
    }
    for (int i = 0; i < 20; ++i) {
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD;
        event.sigev_notify_function = on_message;
        ::mq_notify(queue, &event);
        ::mq_send(queue, "text", 4, 0);
        while (ticks.load() <= i) ::usleep(500);
        char text[64];
        ::mq_receive(queue, text, sizeof text, nullptr);
    }
    ::mq_close(queue);
    ::mq_unlink("/allocscope_behaviour");
    std::printf("%d\n", ticks.load());
}

void malloc_looks() {
    void* kept[50];
    for (int i = 0; i < 50; ++i) kept[i] = std::malloc(100 * i + 1);
    char* text = nullptr;
    std::size_t length = 0;
    FILE* file = ::open_memstream(&text, &length);
    std::printf("%d\n", ::malloc_info(0, file));
    std::fclose(file);
    std::printf("%d\n", std::strstr(text, "</malloc>") != nullptr);
    std::free(text);
    std::printf("%d\n", ::mallinfo2().uordblks > 100000);
    std::printf("%d\n", ::malloc_trim(0) >= 0);
    std::printf("%d %d\n", ::mallopt(M_ARENA_MAX, 1), ::mallopt(M_MMAP_THRESHOLD, 100000));
    for (void* each : kept) std::free(each);
    ::mtrace();
    std::free(std::malloc(5));
    ::muntrace();
    std::printf("%d\n", ::mcheck(nullptr));
    std::printf("%d\n", ::mprobe(std::malloc(10)));
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return 2;
    const char* what = arguments[1];
    if (std::strcmp(what, "timer") == 0)
        timer_threads();
    else if (std::strcmp(what, "files") == 0)
        asynchronous_io();
    else if (std::strcmp(what, "names") == 0)
        names_asynchronously();
    else if (std::strcmp(what, "messages") == 0)
        message_queue();
    else if (std::strcmp(what, "malloc") == 0)
        malloc_looks();
    else
        return 2;
}
