/* Processor time of system calls, in nanoseconds a call. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

#define MEASURE(name, times, call)                                                                \
    do {                                                                                          \
        double from = now();                                                                      \
        for (int i = 0; i < (times); i++)                                                         \
            (void)(call);                                                                         \
        printf("%s\t%.0f\n", name, (now() - from) / (times));                                     \
    } while (0)

int main(int count, char **argument)
{
    char byte = 0;
    int pair[2], file;
    if (count != 2 || (file = open(argument[1], O_RDWR | O_CREAT, 0600)) < 0)
        return 2;
    if (write(file, &byte, 1) != 1 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
        return 1;
    MEASURE("getppid", 1000000, syscall(SYS_getppid));
    MEASURE("read_socket", 500000, read(pair[0], &byte, 1));
    MEASURE("pread", 500000, pread(file, &byte, 1, 0));
    MEASURE("access", 100000, access("/dev/shm/sonde-bench-none", 0));
    MEASURE("open_close", 100000, close(open(argument[1], O_RDONLY)));
    return 0;
}
