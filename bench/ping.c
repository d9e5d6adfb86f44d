/*
 * Two processes that hand a byte to and fro over two pipes until they are ended: some 10,000
 * context switches a second where they share a processor, in bursts of 5 ms with a pause between.
 */
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
    /* Two switches a round. */
    const double rounds_a_second = 5000;
    const struct timespec pause = {0, 5000000};
    int there[2], back[2];
    char byte = 0;
    double from;
    long rounds = 0;
    if (pipe(there) || pipe(back))
        return 1;
    if (fork() == 0) {
        close(there[1]);
        close(back[0]);
        while (read(there[0], &byte, 1) == 1)
            if (write(back[1], &byte, 1) != 1)
                return 1;
        return 0;
    }
    close(there[0]);
    close(back[1]);
    for (from = now();; nanosleep(&pause, NULL))
        for (double due = (now() - from) * rounds_a_second; rounds < due; rounds++)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
                return 1;
}
