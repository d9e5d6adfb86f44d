//! Texts with what examples lack.

/// Names at the end of a row and numbers for people, devices that a report leaves
/// out, times and headers that stand alone, a remap, dates in rows and before them, names before lines.
pub(super) const MORE: [(&str, &str); 14] = [
    (
        "iostat-linux",
        "$ iostat -hz 5\nLinux 6.8.0-31-generic (box) \t03/09/2026 \t_x86_64_\t(2 CPU)\n\n\
         avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20          1.2%    0.0%    2.5%    0.0%    0.0%   96.3%\n\n\
         \x20     tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n\
         \x20   10.20        25.3M       512.0k      25.3G       1.2G sda\n\
         \x20    1.20         5.3M        12.0k       5.3G       0.2G sda1\n\
         \x20    2.20         6.3M        22.0k       6.3G       0.3G sda12\n\n\
         avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20          3.2%    0.0%    4.5%    0.0%    0.0%   92.3%\n\n\
         \x20     tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n\
         \x20   11.20        26.3M       513.0k      25.4G       1.3G sda\n\
         \x20    3.20         7.3M        23.0k       6.4G       0.4G sda12\n",
    ),
    (
        "iostat-linux",
        "$ iostat -dxtzy 5\nLinux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         03/19/2026 10:00:05 AM\n\
         Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util\n\
         sda              2.65    102.40    2.80    131.00     0.36    0.42    0.05   0.41\n\
         sdb              1.65    202.40    1.80    231.00     0.46    0.52    0.15   0.51\n\n\
         03/19/2026 10:00:10 PM\n\
         Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util\n\
         sda              3.65    103.40    3.80    133.00     0.33    0.43    0.35  12.41\n\n",
    ),
    (
        "sar",
        "Linux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         10:00:00 AM       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util DEV\n\
         10:10:00 AM     12.25      8.5k     16.5M      4.1k      0.25      1.25     12.5% sda\n\
         10:10:00 AM      2.25      7.5k     15.5M      3.1k      0.15      1.35      2.5% sda1\n\
         10:20:00 AM     22.25      6.5k     26.5M      4.2k      0.35      1.45     22.5% sda\n\
         10:20:00 AM     12.25      5.5k     25.5M      3.2k      0.45      1.55     12.5% sda1\n",
    ),
    (
        "sar",
        "SunOS box 5.10 Generic_141445-09 i86pc    03/19/2026\n\n\
         10:00:00    %usr    %sys    %wio   %idle\n\
         \x20        device        %busy   avque   r+w/s  blks/s  avwait  avserv\n\n\
         10:10:00       1       2       0      97\n\
         \x20        sd0              10     0.3      12     104     0.5    12.5\n\
         \x20        sd1              20     0.4      22     204     0.6    13.5\n\n\
         10:20:00      11      12      10      67\n\
         \x20        sd0              30     0.5      32     304     0.7    14.5\n\
         \x20        sd1              40     0.6      42     404     0.8    15.5\n",
    ),
    (
        "pcp",
        "Time,\"kernel.all.load-1 minute\",\"disk.dev.read-sda\"\n\
         2026-03-19 10:00:00,0.125,1234.25\n2026-03-19 10:00:10,0.25,1235.75\n",
    ),
    (
        "blkparse",
        "  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    1        2     0.000001000   697  A   W 223490 + 128 <- (8,1) 223427\n\
         \x20 8,0    1        5     0.000017090   697  D   W 223490 + 128 [kjournald]\n\
         \x20 8,0    0        1     0.000317090     0  C   W 223490 + 128 [0]\n",
    ),
    (
        "arcstat",
        "    time  read  hits  miss  hit%  arcsz     c\n\
         03/14/26 14:44:32  1.2K  1.2K     0   100    59G   60G\n\
         03/14/26 14:44:37   377   375     2    99    59G   60G\n\
         03/14/26 14:44:42   387   385     2    99    59G   60G\n",
    ),
    (
        "arcstat",
        "2026-03-14T14:44:32Z     time  read  hits  miss  hit%  arcsz     c\n\
         2026-03-14T14:44:32Z 14:44:32  1.2K  1.2K     0   100    59G   60G\n\
         2026-03-14T14:44:37Z 14:44:37   377   375     2    99    59G   60G\n\
         2026-03-14T14:44:42Z 14:44:42   387   385     2    99    59G   60G\n",
    ),
    (
        "nicstat",
        "2026-03-14T14:44:32Z     Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         2026-03-14T14:44:32Z 14:44:32  e1000g0    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         2026-03-14T14:44:37Z 14:44:37  e1000g0    1.50    0.25    3.00    1.00   512.0   256.0  0.01   0.00\n\
         2026-03-14T14:44:42Z 14:44:42  e1000g0    2.50    1.25    4.00    2.00   640.0   640.0  0.02   0.00\n",
    ),
    (
        "nicstat",
        "$ nicstat -z 5\n    Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:32  e1000g0    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         14:44:32  e1000g1    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:37  e1000g1    1.50    0.25    3.00    1.00   512.0   256.0  0.01   0.00\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:47  e1000g0    2.50    1.25    4.00    2.00   640.0   640.0  0.02   0.00\n",
    ),
    (
        "vmstat-solaris",
        "node1:  kthr      memory            page            disk          faults      cpu\n\
         node1:  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 --   in   sy   cs us sy id\n\
         node1:  0 0 0 11456120 4120528 1 41 19 1 3 0 2 0 4 0 0   48  112  130  4 14 82\n\
         node1:  0 0 0 11456121 4120529 11 42 18 10 30 0 0 0 14 0 0   58  122  140  5 15 80\n\
         node1:  0 0 0 11456122 4120530 12 43 17 10 30 0 0 0 15 0 0   68  132  150  6 16 78\n",
    ),
    (
        "vmstat-solaris",
        "2026-03-14T14:44:32Z  kthr      memory            page            disk          faults      cpu\n\
         2026-03-14T14:44:32Z  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 --   in   sy   cs us sy id\n\
         2026-03-14T14:44:32Z  0 0 0 11456120 4120528 1 41 19 1 3 0 2 0 4 0 0   48  112  130  4 14 82\n\
         2026-03-14T14:44:37Z  0 0 0 11456121 4120529 11 42 18 10 30 0 0 0 14 0 0   58  122  140  5 15 80\n\
         2026-03-14T14:44:42Z  0 0 0 11456122 4120530 12 43 17 10 30 0 0 0 15 0 0   68  132  150  6 16 78\n",
    ),
    (
        "blkparse",
        "  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    1        2     0.000001000   697  D   W 223490 + 8 [kjournald]\n\
         \x20 8,0    0        1     0.000317090     0  C   W 223490 + 8 [0]\n\
         \x20 8,0    1        3     1.200000000   698  Q   R 123490 + 16 [dd]\n\
         \x20 8,0    1        4     1.200001000   698  D   R 123490 + 16 [dd]\n\
         \x20 8,0    0        2     1.200317090     0  C   R 123490 + 16 [0]\n",
    ),
    (
        "pidstat",
        "Linux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         10:00:00 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:05 AM     0       712      1.25      0.40  postgres\n\
         10:00:05 AM  1000      2297      3.25      0.50  java\n\n\
         10:00:05 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:10 AM     0       712      2.25      0.40  postgres\n\
         10:00:10 AM  1000      3297      4.25      0.50  java-server\n\n\
         10:00:10 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:15 AM     0       712      2.25      0.40  postgres\n",
    ),
];
