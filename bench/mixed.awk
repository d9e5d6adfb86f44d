# What a loop leaves that runs three tools in turn, with the date before each round: 55 MB.
#
#   awk -v rounds=18000 -f bench/mixed.awk >mixed.txt
BEGIN {
    if (!rounds) rounds = 18000
    srand(7)
    for (n = 0; n < rounds; n++) {
        print strftime("%a %b %e %H:%M:%S UTC %Y", 1764000000 + 20 * n, 1)
        seconds = 0.01 + rand() / 1000
        printf "%d bytes (52 MB, 50 MiB) copied, %.7f s, %.1f GB/s\n", 52428800, seconds, 0.0524288 / seconds
        print "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----"
        print " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st"
        for (i = 0; i < 2; i++)
            printf "%2d  0      0 %d  78516 4055284    0    0 %5d %5d %4d %4d 44  9 46  1  0\n", \
                rand() * 9, 20400000 + rand() * 99999, rand() * 99999, rand() * 99999, rand() * 9999, rand() * 9999
        print "Linux 6.1.0 (host1) \t11/27/2026 \t_x86_64_\t(2 CPU)\n"
        for (i = 0; i < 2; i++) {
            print "avg-cpu:  %user   %nice %system %iowait  %steal   %idle"
            printf "          40.49    3.11    8.99    0.92    0.02   46.47\n\n"
            print "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util"
            for (d = 0; d < 8; d++)
                printf "sd%c         %9.2f %9.2f     0.00   0.00 %7.2f    24.05 %7.2f %9.2f     3.67   5.96    0.06    23.92    2.66 %6.2f\n", \
                    97 + d, rand() * 9999, rand() * 99999, rand() * 9, rand() * 999, rand() * 9999, rand() * 100
            print ""
        }
    }
}
